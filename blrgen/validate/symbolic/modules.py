"""What the running source finds when it imports: NumPy, math, Numba, SciPy's linear algebra."""

from __future__ import annotations
import __future__

import dataclasses
import functools
import itertools
import operator
import weakref
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import sympy as sp

from blrgen.validate.symbolic import arrays, linalg
from blrgen.validate.symbolic.arrays import FUNCTIONS, SymArray, array, asarray
from blrgen.validate.symbolic.linear import NC
from blrgen.validate.symbolic.number import (
    FLOAT,
    CannotRun,
    Sym,
    exact,
    expr_of,
)
from blrgen.validate.symbolic.stand_ins import (
    Absorb,
    AnyArray,
    Float,
    Generator,
    Int,
    Module,
    NumpyFloat,
    _array,
    _ascontiguous,
    _copyto,
    _diag_indices,
    _diag_indices_of,
    _errstate,
    _numpy_default,
    _same,
    _scalar_function,
    _unsupported_count,
    absolute,
    counted,
    largest,
    length,
    smallest,
)

_LINALG = Module(
    "numpy.linalg",
    {
        "solve": linalg.solve,
        "inv": linalg.inverse,
        "cholesky": linalg.cholesky,
        "norm": linalg.norm,
        "slogdet": linalg.slogdet,
        "LinAlgError": np.linalg.LinAlgError,
    },
)

NUMPY = Module(
    "numpy",
    {
        **FUNCTIONS,
        "where": arrays.where,
        "clip": arrays.clip,
        "sum": arrays.total,
        "mean": arrays.mean,
        "any": arrays.any_of,
        "all": arrays.all_of,
        "array": _array,
        "asarray": _ascontiguous,
        "ascontiguousarray": _ascontiguous,
        "require": _ascontiguous,
        "copy": lambda x, **_: x.copy(),
        "asanyarray": _ascontiguous,
        "copyto": _copyto,
        "zeros": lambda n, *_, **__: linalg.filled(n, 0),
        "ones": lambda n, *_, **__: linalg.filled(n, 1),
        "empty": lambda n, *_, **__: linalg.unset(n),
        "full": lambda n, v, *_, **__: linalg.filled(n, v),
        "zeros_like": lambda x, *_, **__: linalg.like(x, 0),
        "ones_like": lambda x, *_, **__: linalg.like(x, 1),
        "empty_like": lambda x, *_, **__: linalg.unset(x),
        "full_like": lambda x, v, *_, **__: linalg.like(x, v),
        "eye": linalg.eye,
        "identity": linalg.eye,
        "outer": linalg.outer,
        "dot": linalg.matmul,
        "matmul": linalg.matmul,
        "vdot": linalg.matmul,
        "trace": linalg.traced,
        "linalg": _LINALG,
        "fill_diagonal": linalg.fill_diagonal,
        "diag_indices": _diag_indices_of,
        "diag_indices_from": lambda a: (
            _diag_indices() if isinstance(a, NC) else np.diag_indices(len(a))
        ),
        "float64": NumpyFloat,
        "float32": NumpyFloat,
        "floating": NumpyFloat,
        "number": NumpyFloat,
        "double": NumpyFloat,
        "int64": Int,
        "int32": Int,
        "integer": Int,
        "intp": Int,
        "uint32": Int,
        "uint64": Int,
        "bool_": bool,
        "object_": object,
        "generic": Absorb("numpy.generic"),
        "ndarray": AnyArray,
        "newaxis": None,
        "dtype": lambda *_: FLOAT,
        "pi": Sym(sp.pi),
        "e": Sym(sp.E),
        "inf": Sym(sp.oo),
        "isscalar": lambda x: isinstance(x, Sym | int),
        "errstate": _errstate,
        "seterr": lambda **_: {},
        "typing": Absorb("numpy.typing"),
        "shares_memory": np.shares_memory,
        "may_share_memory": np.may_share_memory,
        "max": lambda x, *_, **__: asarray(x).max(),
        "min": lambda x, *_, **__: asarray(x).min(),
        "random": Module(
            "numpy.random", {"Generator": Generator}, lambda n: Absorb(f"numpy.random.{n}")
        ),
        "atleast_1d": lambda x: x if getattr(x, "ndim", 0) else asarray(x).reshape(1),
        "issubdtype": lambda *_: True,
        "finfo": lambda *_: Absorb("finfo"),
        "count_nonzero": _unsupported_count,
    },
    _numpy_default,
)

MATH = Module(
    "math",
    {
        name: _scalar_function(name)
        for name in (
            "sqrt",
            "exp",
            "log",
            "log1p",
            "expm1",
            "tanh",
            "sinh",
            "cosh",
            "fabs",
            "copysign",
            "sin",
            "cos",
            "log2",
            "log10",
            "isfinite",
            "isnan",
            "isinf",
            "hypot",
            "cbrt",
        )
    }
    | {
        "pow": lambda a, b: exact(a) ** exact(b),
        "pi": Sym(sp.pi),
        "e": Sym(sp.E),
        "inf": Sym(sp.oo),
        "atanh": _scalar_function("arctanh"),
        "prod": lambda x: functools.reduce(lambda a, b: a * b, x, exact(1)),
        "fsum": lambda x: functools.reduce(lambda a, b: a + b, x, exact(0)),
        "fma": lambda a, b, c: a * b + c,
        "erf": lambda x: Sym(sp.erf(expr_of(x))),
        "lgamma": lambda x: Sym(sp.loggamma(expr_of(x))),
        "gamma": lambda x: Sym(sp.gamma(expr_of(x))),
    },
)


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


NUMBA = Module(
    "numba",
    {
        "njit": _decorator,
        "jit": _decorator,
        "generated_jit": _unsupported("numba.generated_jit"),
        "vectorize": _vectorize,
        "guvectorize": _unsupported("numba.guvectorize"),
        "prange": counted,
        "config": SimpleNamespace(NUMBA_NUM_THREADS=3),
        "get_num_threads": lambda: 1,
        "set_num_threads": lambda n: None,
        "literal_unroll": _same,
    },
    lambda name: Absorb(f"numba.{name}"),
)

_POTRS = lambda c, b, *_, **__: (linalg.solve(c, b), 0)  # noqa: E731
_LAPACK = {
    "posv": lambda a, b, *_, **__: (linalg.Factor(a), linalg.solve(a, b), 0),
    "potrf": lambda a, *_, **__: (linalg.Factor(a), 0),
    "potrs": _POTRS,
    "gesv": lambda a, b, *_, **__: (a, None, linalg.solve(a, b), 0),
    "sysv": lambda a, b, *_, **__: (a, None, linalg.solve(a, b), 0),
}
LAPACK = Module(
    "scipy.linalg.lapack",
    {
        **{f"{kind}{name}": f for kind in "sd" for name, f in _LAPACK.items()},
        "get_lapack_funcs": lambda names, *_, **__: (
            [_LAPACK[n] for n in names] if not isinstance(names, str) else _LAPACK[names]
        ),
    },
)
SCIPY_LINALG = Module(
    "scipy.linalg",
    {
        "solve": linalg.solve,
        "inv": linalg.inverse,
        "norm": linalg.norm,
        "lapack": LAPACK,
        "cho_factor": lambda a, *_, lower=False, **__: (linalg.Factor(a), lower),
        "cho_solve": lambda c, b, **_: linalg.solve(c[0], b),
        "cholesky": lambda a, lower=False, **_: linalg.cholesky(a, lower=lower, numpy=False),
        "solve_triangular": linalg.triangular,
        "LinAlgError": np.linalg.LinAlgError,
        "get_lapack_funcs": LAPACK.get_lapack_funcs,
    },
)
SCIPY_SPECIAL = Module(
    "scipy.special",
    {
        "expit": arrays.elementwise(lambda x: Sym(1 / (1 + sp.exp(-expr_of(x))))),
        "logit": arrays.elementwise(lambda x: Sym(sp.log(expr_of(x) / (1 - expr_of(x))))),
        "log1p": FUNCTIONS["log1p"],
        "expm1": FUNCTIONS["expm1"],
    },
)
SCIPY = Module("scipy", {"linalg": SCIPY_LINALG, "special": SCIPY_SPECIAL})


def _pick(module: Any, names: str) -> dict[str, Any]:
    return {n: getattr(module, n) for n in names.split()}


MODULES: dict[str, Any] = {
    "numpy": NUMPY,
    "numpy.linalg": _LINALG,
    "numpy.typing": Absorb("numpy.typing"),
    "math": MATH,
    "numba": NUMBA,
    "numba.types": Absorb("numba.types"),
    "numba.extending": Module(
        "numba.extending",
        {"overload": lambda *_, **__: lambda f: f},
        lambda name: Absorb(f"numba.extending.{name}"),
    ),
    "numba.core": Absorb("numba.core"),
    "scipy": SCIPY,
    "scipy.linalg": SCIPY_LINALG,
    "scipy.linalg.lapack": LAPACK,
    "scipy.special": SCIPY_SPECIAL,
    "typing": Module(
        "typing",
        {
            "TYPE_CHECKING": False,
            "cast": lambda _, x: x,
            "overload": lambda f: f,
            "final": lambda f: f,
            "NamedTuple": __import__("typing").NamedTuple,
        },
        lambda name: Absorb(f"typing.{name}"),
    ),
    "typing_extensions": Absorb("typing_extensions"),
    "collections.abc": Absorb("collections.abc"),
    "collections": Module(
        "collections",
        {
            "abc": Absorb("collections.abc"),
            **_pick(__import__("collections"), "namedtuple OrderedDict deque"),
        },
    ),
    "dataclasses": Module("dataclasses", _pick(dataclasses, "dataclass field replace")),
    "functools": Module(
        "functools",
        _pick(functools, "partial reduce wraps") | {"lru_cache": _decorator, "cache": lambda f: f},
    ),
    "itertools": Module("itertools", _pick(itertools, "chain pairwise product repeat count")),
    "operator": Module("operator", _pick(operator, "add sub mul neg")),
    "fractions": Module("fractions", {"Fraction": Fraction}),
    "__future__": Module("__future__", {"annotations": __future__.annotations}),
    "threading": Absorb("threading"),
    "os": Module("os", {"getpid": lambda: 1}),
    "weakref": Module("weakref", _pick(weakref, "WeakKeyDictionary")),
    "difflib": Absorb("difflib"),
    "sys": Module("sys", {"getrefcount": lambda _: 1}),
    "contextlib": Absorb("contextlib"),
    "warnings": Absorb("warnings"),
    "logging": Absorb("logging"),
    "copy": Module("copy", {"copy": lambda x: x.copy(), "deepcopy": lambda x: x.copy()}),
}


def importer(name: str, _g: Any = None, _l: Any = None, names: Any = (), level: int = 0) -> Any:
    """The __import__ of the running source."""
    if level or name not in MODULES:
        raise CannotRun(f"the import of {name or 'a neighbouring module'}")
    if names:
        return MODULES[name]
    root = name.split(".")[0]
    return MODULES.get(root, MODULES[name])


SAFE_BUILTINS: dict[str, Any] = {
    **_pick(
        __import__("builtins"),
        "all any bool bytes callable dict divmod enumerate filter frozenset id isinstance"
        " issubclass iter list map next object property repr reversed set slice sorted"
        " staticmethod classmethod str sum super tuple type zip ArithmeticError AssertionError"
        " AttributeError Exception FloatingPointError ImportError IndexError KeyError LookupError"
        " NotImplementedError OverflowError RuntimeError StopIteration TypeError ValueError"
        " ZeroDivisionError True False None NotImplemented Ellipsis __build_class__",
    ),
    "abs": absolute,
    "float": Float,
    "int": Int,
    "len": length,
    "max": largest,
    "min": smallest,
    "print": lambda *_, **__: None,
    "range": counted,
    "pow": lambda a, b: exact(a) ** exact(b),
    "__import__": importer,
    "__name__": "step",
    "hasattr": lambda x, n: _attribute(hasattr, x, n),
    "getattr": lambda x, n, *d: _attribute(getattr, x, n, *d),
    "setattr": lambda x, n, v: _attribute(setattr, x, n, v),
}


def _attribute(f: Callable[..., Any], x: Any, name: str, *rest: Any) -> Any:
    if name.startswith("__"):
        raise CannotRun(f"the attribute {name}")
    return f(x, name, *rest)


__all__ = ["MODULES", "SAFE_BUILTINS"]
