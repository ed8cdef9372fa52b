"""What the running source finds when it imports: NumPy, math, Numba, SciPy's linear algebra."""

from __future__ import annotations
import __future__

import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from blrgen.prove.symbolic import arrays, linear
from blrgen.prove.symbolic.arrays import FUNCTIONS, SymArray, array, asarray
from blrgen.prove.symbolic.linear import NC, Dim, Factor
from blrgen.prove.symbolic.number import (
    FLOAT,
    CannotRun,
    FloatType,
    Sym,
    Truth,
    exact,
    expr_of,
    rational,
)


class Absorb:
    """A name without meaning for the values: types, hints, loggers."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return Absorb(f"{self._name}.{name}")

    def __getitem__(self, _: Any) -> Absorb:
        return self

    def __call__(self, *args: Any, **__: Any) -> Any:
        return args[0] if len(args) == 1 and callable(args[0]) else self

    def __or__(self, _: Any) -> Absorb:
        return self

    __ror__ = __or__

    def __mro_entries__(self, _: Any) -> tuple[type, ...]:
        return ()


class Module:
    """A stand-in module: the names it has, and a refusal for every other."""

    def __init__(self, name: str, names: dict[str, Any], default: Callable[[str], Any] | None = None) -> None:
        self.__dict__.update(names)
        self.__dict__["_name"], self.__dict__["_default"] = name, default

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if self._default is not None:
            return self._default(name)
        raise CannotRun(f"{self._name}.{name} has no symbolic form")


class _Cast(type):
    """Types that are casts: float32(x) is x, and isinstance sees expressions as floats."""

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, (Sym, float, np.floating)) or (cls._whole and isinstance(x, int))

    def __call__(cls, x: Any = 0, *_: Any, **__: Any) -> Any:
        if isinstance(x, str):
            return Sym(rational(float(x))) if x in ("inf", "-inf") else Sym(sp.Rational(x))
        if isinstance(x, np.ndarray) and x.size == 1 and cls._scalar:
            return x.reshape(-1)[0]
        if isinstance(x, np.ndarray | NC) and cls._scalar:
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        return asarray(x) if isinstance(x, np.ndarray | list | tuple) else exact(x) if not hasattr(x, "nc") else x


class Float(metaclass=_Cast):
    """float, in the running source."""

    _scalar, _whole = True, False


class NumpyFloat(metaclass=_Cast):
    """np.float64 and np.float32."""

    _scalar, _whole = False, False
    itemsize: ClassVar[int] = 8


FloatType.type = staticmethod(lambda x=0: NumpyFloat(x))


def integer(x: Any = 0, *_: Any) -> Any:
    """int(x): of an integer symbol or a number."""
    if isinstance(x, Sym):
        if x.e.is_integer:
            return int(x.e) if x.e.is_Integer else x
        if x.e.is_Rational:
            return int(x.e)
        raise CannotRun(f"int({x})")
    return int(x)


class _Whole(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, int | np.integer) or (isinstance(x, Sym) and bool(x.e.is_integer))

    def __call__(cls, x: Any = 0, *rest: Any) -> Any:
        return integer(x, *rest)


class Int(metaclass=_Whole):
    """int, in the running source."""


def length(x: Any) -> Any:
    return Dim() if isinstance(x, NC) else len(x)


def counted(*args: Any) -> range:
    if any(isinstance(a, Dim) for a in args):
        raise CannotRun("a loop over the entries of a matrix of any size")
    return range(*[a.__index__() for a in args])


def _scalar_function(name: str) -> Callable[..., Any]:
    def apply(*args: Any) -> Any:
        for a in args:
            if isinstance(a, NC) or (isinstance(a, np.ndarray) and a.size != 1):
                raise TypeError("only length-1 arrays can be converted to Python scalars")
        return FUNCTIONS[name](*[a.reshape(-1)[0] if isinstance(a, np.ndarray) else a for a in args])

    return apply


def largest(*args: Any, **_: Any) -> Any:
    return _fold("maximum", args)


def smallest(*args: Any, **_: Any) -> Any:
    return _fold("minimum", args)


def _fold(name: str, args: tuple[Any, ...]) -> Any:
    items = list(args[0]) if len(args) == 1 else list(args)
    if all(isinstance(a, int) and not isinstance(a, Dim) for a in items):
        return (max if name == "maximum" else min)(items)
    if any(isinstance(a, np.ndarray) and a.size > 1 for a in items):
        raise CannotRun("the truth value of an array")
    return functools.reduce(FUNCTIONS[name], items)


def absolute(x: Any) -> Any:
    return FUNCTIONS["absolute"](x)


def _copyto(a: Any, b: Any, **_: Any) -> None:
    a[...] = b


def _numpy_default(name: str) -> Any:
    if name in _SHAPES:
        return _shape_function(getattr(np, name))
    raise CannotRun(f"numpy.{name} has no symbolic form")


_SHAPES = frozenset(
    "arange atleast_1d atleast_2d broadcast_arrays broadcast_to concatenate cumsum cumprod diag diagonal"
    " einsum expand_dims flip hstack moveaxis ravel repeat reshape roll split squeeze stack swapaxes"
    " tile transpose tril triu vstack prod shape ndim size ndindex broadcast_shapes kron inner tensordot"
    " result_type can_cast triu_indices tril_indices"
    .split()
)  # fmt: skip


def _shape_function(f: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*args: Any, **kwargs: Any) -> Any:
        if any(isinstance(a, NC) for a in args):
            if f is np.transpose:
                return args[0].T
            if f in (np.shape, np.ndim, np.size):
                return getattr(args[0], f.__name__)
            if f in (np.ravel,):
                return args[0].ravel()
            raise CannotRun(f"numpy.{f.__name__} of a matrix of any size")
        out = kwargs.pop("out", None)
        kwargs.pop("dtype", None)
        plain = [a.view(np.ndarray) if isinstance(a, SymArray) else a for a in args]
        plain = [
            [x.view(np.ndarray) if isinstance(x, SymArray) else x for x in a] if isinstance(a, list | tuple) else a
            for a in plain
        ]
        result = f(*plain, **kwargs)
        if isinstance(result, np.ndarray) and result.view(np.ndarray).dtype == object:
            result = result.view(SymArray)
        if out is not None:
            out[...] = result
            return out
        return result

    return apply


def _diag_indices(*_: Any) -> Any:
    return linear.Diagonal()


def _diag_indices_of(n: Any, *_: Any) -> Any:
    return linear.Diagonal() if isinstance(n, Dim) else np.diag_indices(int(n))


def _ascontiguous(x: Any, *_: Any, **__: Any) -> Any:
    return x if isinstance(x, NC) else asarray(x)


def _array(x: Any, *args: Any, **kwargs: Any) -> Any:
    return x.copy() if isinstance(x, NC) else array(x, *args, **kwargs)


def _errstate(*_: Any, **__: Any) -> Any:
    import contextlib

    return contextlib.nullcontext()


def _same(*a: Any, **_: Any) -> Any:
    return a[0]


def _unsupported_count(*_: Any, **__: Any) -> Any:
    raise CannotRun("a count that depends on the data")


_LINALG = Module("numpy.linalg", {
    "solve": linear.solve, "inv": linear.inverse, "cholesky": linear.cholesky, "norm": linear.norm,
    "slogdet": linear.slogdet, "LinAlgError": np.linalg.LinAlgError,
})  # fmt: skip

NUMPY = Module("numpy", {
    **FUNCTIONS, "where": arrays.where, "clip": arrays.clip, "sum": arrays.total, "mean": arrays.mean,
    "any": arrays.any_of, "all": arrays.all_of, "array": _array, "asarray": _ascontiguous,
    "ascontiguousarray": _ascontiguous, "require": _ascontiguous, "copy": lambda x, **_: x.copy(),
    "asanyarray": _ascontiguous, "copyto": _copyto,
    "zeros": lambda n, *_, **__: linear.filled(n, 0), "ones": lambda n, *_, **__: linear.filled(n, 1),
    "empty": lambda n, *_, **__: linear.filled(n, 0), "full": lambda n, v, *_, **__: linear.filled(n, v),
    "zeros_like": lambda x, *_, **__: linear.like(x, 0), "ones_like": lambda x, *_, **__: linear.like(x, 1),
    "empty_like": lambda x, *_, **__: linear.like(x, 0), "full_like": lambda x, v, *_, **__: linear.like(x, v),
    "eye": linear.eye, "identity": linear.eye, "outer": linear.outer, "dot": linear.matmul,
    "matmul": linear.matmul, "vdot": linear.matmul, "trace": linear.traced, "linalg": _LINALG,
    "fill_diagonal": linear.fill_diagonal, "diag_indices": _diag_indices_of,
    "diag_indices_from": lambda a: _diag_indices() if isinstance(a, NC) else np.diag_indices(len(a)),
    "float64": NumpyFloat, "float32": NumpyFloat, "floating": NumpyFloat, "number": NumpyFloat,
    "double": NumpyFloat, "int64": Int, "int32": Int, "integer": Int, "intp": Int, "uint64": Int,
    "bool_": bool, "object_": object, "generic": Absorb("numpy.generic"),
    "ndarray": np.ndarray, "newaxis": None, "dtype": lambda *_: FLOAT,
    "pi": Sym(sp.pi), "e": Sym(sp.E), "inf": Sym(sp.oo), "isscalar": lambda x: isinstance(x, Sym | int),
    "errstate": _errstate, "seterr": lambda **_: {}, "typing": Absorb("numpy.typing"),
    "shares_memory": np.shares_memory, "may_share_memory": np.may_share_memory,
    "max": lambda x, *_, **__: asarray(x).max(), "min": lambda x, *_, **__: asarray(x).min(),
    "random": Absorb("numpy.random"), "atleast_1d": lambda x: x if getattr(x, "ndim", 0) else asarray(x).reshape(1),
    "issubdtype": lambda *_: True, "finfo": lambda *_: Absorb("finfo"), "count_nonzero": _unsupported_count,
}, _numpy_default)  # fmt: skip

MATH = Module("math", {
    name: _scalar_function(name)
    for name in ("sqrt", "exp", "log", "log1p", "expm1", "tanh", "sinh", "cosh", "fabs", "copysign",
                 "sin", "cos", "log2", "log10", "isfinite", "isnan", "isinf", "hypot", "cbrt")
} | {
    "pow": lambda a, b: exact(a) ** exact(b), "pi": Sym(sp.pi), "e": Sym(sp.E), "inf": Sym(sp.oo),
    "atanh": _scalar_function("arctanh"), "prod": lambda x: functools.reduce(lambda a, b: a * b, x, exact(1)),
    "fsum": lambda x: functools.reduce(lambda a, b: a + b, x, exact(0)),
    "fma": lambda a, b, c: a * b + c,
    "erf": lambda x: Sym(sp.erf(expr_of(x))), "lgamma": lambda x: Sym(sp.loggamma(expr_of(x))),
    "gamma": lambda x: Sym(sp.gamma(expr_of(x))),
})  # fmt: skip


def _decorator(*args: Any, **_: Any) -> Any:
    """njit, with or without arguments."""
    if len(args) == 1 and callable(args[0]) and not isinstance(args[0], Absorb):
        return args[0]
    return lambda f: f


def _vectorize(*args: Any, **kwargs: Any) -> Any:
    def wrap(f: Callable[..., Any]) -> Callable[..., Any]:
        def apply(*xs: Any) -> Any:
            plain = [x.view(np.ndarray) if isinstance(x, SymArray) else x for x in xs]
            result = np.frompyfunc(f, len(plain), 1)(*plain)
            return array(result) if isinstance(result, np.ndarray) else result

        return apply

    return wrap(args[0]) if len(args) == 1 and callable(args[0]) and not kwargs else wrap


def _unsupported(name: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise CannotRun(f"{name} has no symbolic form")

    return refuse


NUMBA = Module("numba", {
    "njit": _decorator, "jit": _decorator, "generated_jit": _unsupported("numba.generated_jit"),
    "vectorize": _vectorize, "guvectorize": _unsupported("numba.guvectorize"),
    "prange": counted, "get_num_threads": lambda: 1, "set_num_threads": lambda n: None,
    "literal_unroll": _same,
}, lambda name: Absorb(f"numba.{name}"))  # fmt: skip

_POTRS = lambda c, b, *_, **__: (linear.solve(c, b), 0)  # noqa: E731
_LAPACK = {
    "posv": lambda a, b, *_, **__: (Factor(a), linear.solve(a, b), 0),
    "potrf": lambda a, *_, **__: (Factor(a), 0), "potrs": _POTRS,
    "gesv": lambda a, b, *_, **__: (a, None, linear.solve(a, b), 0),
    "sysv": lambda a, b, *_, **__: (a, None, linear.solve(a, b), 0),
}  # fmt: skip
LAPACK = Module("scipy.linalg.lapack", {
    **{f"{kind}{name}": f for kind in "sd" for name, f in _LAPACK.items()},
    "get_lapack_funcs": lambda names, *_, **__: [_LAPACK[n] for n in names]
    if not isinstance(names, str) else _LAPACK[names],
})  # fmt: skip
SCIPY_LINALG = Module("scipy.linalg", {
    "solve": linear.solve, "inv": linear.inverse, "norm": linear.norm, "lapack": LAPACK,
    "cho_factor": lambda a, *_, lower=False, **__: (Factor(a), lower),
    "cho_solve": lambda c, b, **_: linear.solve(c[0], b),
    "cholesky": lambda a, lower=False, **_: linear.cholesky(a, lower=lower, numpy=False),
    "solve_triangular": linear.triangular, "LinAlgError": np.linalg.LinAlgError,
    "get_lapack_funcs": LAPACK.get_lapack_funcs,
})  # fmt: skip
SCIPY_SPECIAL = Module("scipy.special", {
    "expit": arrays.elementwise(lambda x: Sym(1 / (1 + sp.exp(-expr_of(x))))),
    "logit": arrays.elementwise(lambda x: Sym(sp.log(expr_of(x) / (1 - expr_of(x))))),
    "log1p": FUNCTIONS["log1p"], "expm1": FUNCTIONS["expm1"],
})  # fmt: skip
SCIPY = Module("scipy", {"linalg": SCIPY_LINALG, "special": SCIPY_SPECIAL})


def _pick(module: Any, names: str) -> dict[str, Any]:
    return {n: getattr(module, n) for n in names.split()}


MODULES: dict[str, Any] = {
    "numpy": NUMPY, "numpy.linalg": _LINALG, "numpy.typing": Absorb("numpy.typing"), "math": MATH,
    "numba": NUMBA, "numba.types": Absorb("numba.types"), "numba.extending": Absorb("numba.extending"),
    "numba.core": Absorb("numba.core"), "scipy": SCIPY, "scipy.linalg": SCIPY_LINALG,
    "scipy.linalg.lapack": LAPACK, "scipy.special": SCIPY_SPECIAL,
    "typing": Module("typing", {
        "TYPE_CHECKING": False, "cast": lambda _, x: x, "overload": lambda f: f, "final": lambda f: f,
        "NamedTuple": __import__("typing").NamedTuple,
    }, lambda name: Absorb(f"typing.{name}")),
    "typing_extensions": Absorb("typing_extensions"), "collections.abc": Absorb("collections.abc"),
    "collections": Module("collections", {"abc": Absorb("collections.abc"),
                                          **_pick(__import__("collections"), "namedtuple OrderedDict deque")}),
    "dataclasses": Module("dataclasses", _pick(dataclasses, "dataclass field replace")),
    "functools": Module("functools", _pick(functools, "partial reduce wraps") | {"lru_cache": _decorator, "cache": lambda f: f}),
    "itertools": Module("itertools", _pick(itertools, "chain product repeat count")),
    "operator": Module("operator", _pick(operator, "add sub mul neg")),
    "fractions": Module("fractions", {"Fraction": Fraction}),
    "__future__": Module("__future__", {"annotations": __future__.annotations}),
    "warnings": Absorb("warnings"), "logging": Absorb("logging"), "copy": Module("copy", {"copy": lambda x: x.copy()}),
}  # fmt: skip


def importer(name: str, _g: Any = None, _l: Any = None, names: Any = (), level: int = 0) -> Any:
    """The __import__ of the running source."""
    if level or name not in MODULES:
        raise CannotRun(f"the import of {name or 'a neighbouring module'}")
    if names:
        return MODULES[name]
    root = name.split(".")[0]
    return MODULES.get(root, MODULES[name])


SAFE_BUILTINS: dict[str, Any] = {
    **_pick(__import__("builtins"),
        "all any bool bytes callable dict divmod enumerate filter frozenset id isinstance issubclass iter"
        " list map next object property repr reversed set slice sorted staticmethod classmethod str sum super"
        " tuple type zip ArithmeticError AssertionError AttributeError Exception FloatingPointError IndexError"
        " KeyError LookupError NotImplementedError OverflowError RuntimeError StopIteration TypeError"
        " ValueError ZeroDivisionError True False None NotImplemented Ellipsis __build_class__"),
    "abs": absolute, "float": Float, "int": Int, "len": length, "max": largest, "min": smallest,
    "print": lambda *_, **__: None, "range": counted, "pow": lambda a, b: exact(a) ** exact(b),
    "__import__": importer, "__name__": "step", "hasattr": lambda x, n: _attribute(hasattr, x, n),
    "getattr": lambda x, n, *d: _attribute(getattr, x, n, *d),
    "setattr": lambda x, n, v: _attribute(setattr, x, n, v),
}  # fmt: skip


def _attribute(f: Callable[..., Any], x: Any, name: str, *rest: Any) -> Any:
    if name.startswith("__"):
        raise CannotRun(f"the attribute {name}")
    return f(x, name, *rest)


__all__ = ["MODULES", "SAFE_BUILTINS", "Truth"]
