"""What the running source sees of modules, types and builtins: the pieces.

A stand-in module has the names it needs and refuses every other; float and int are casts.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
import sympy as sp

from blrgen.validate.symbolic.arrays import FUNCTIONS, SymArray, array, asarray
from blrgen.validate.symbolic.linear import NC, Diagonal, Dim
from blrgen.validate.symbolic.number import (
    CannotRun,
    FloatType,
    Sym,
    exact,
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

    def __init__(
        self, name: str, names: dict[str, Any], default: Callable[[str], Any] | None = None
    ) -> None:
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

    _scalar: bool
    _whole: bool

    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, (Sym, float, np.floating)) or (cls._whole and isinstance(x, int))

    def __call__(cls, x: Any = 0, *_: Any, **__: Any) -> Any:
        if isinstance(x, str):
            return Sym(rational(float(x))) if x in ("inf", "-inf") else Sym(sp.Rational(x))
        if isinstance(x, np.ndarray) and x.size == 1 and cls._scalar:
            return x.reshape(-1)[0]
        if isinstance(x, np.ndarray | NC) and cls._scalar:
            raise TypeError("only length-1 arrays can be converted to Python scalars")
        return (
            asarray(x)
            if isinstance(x, np.ndarray | list | tuple)
            else exact(x)
            if not hasattr(x, "nc")
            else x
        )


class Float(metaclass=_Cast):
    """float, in the running source."""

    _scalar, _whole = True, False


class NumpyFloat(metaclass=_Cast):
    """np.float64 and np.float32."""

    _scalar, _whole = False, False
    itemsize: ClassVar[int] = 8


FloatType.type = staticmethod(lambda x=0: _Cast.__call__(NumpyFloat, x))


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
    """len: a Dim for what has any size."""
    return x.shape[0] if isinstance(x, NC) else len(x)


def counted(*args: Any) -> range:
    """range, over numbers only."""
    if any(isinstance(a, Dim) for a in args):
        raise CannotRun("a loop over the entries of a matrix of any size")
    return range(*[a.__index__() for a in args])


def _scalar_function(name: str) -> Callable[..., Any]:
    def apply(*args: Any) -> Any:
        for a in args:
            if isinstance(a, NC) or (isinstance(a, np.ndarray) and a.size != 1):
                raise TypeError("only length-1 arrays can be converted to Python scalars")
        return FUNCTIONS[name](
            *[a.reshape(-1)[0] if isinstance(a, np.ndarray) else a for a in args]
        )

    return apply


def largest(*args: Any, **_: Any) -> Any:
    """max."""
    return _fold("maximum", args)


def smallest(*args: Any, **_: Any) -> Any:
    """min."""
    return _fold("minimum", args)


def _fold(name: str, args: tuple[Any, ...]) -> Any:
    items = list(args[0]) if len(args) == 1 else list(args)
    if all(isinstance(a, int) and not isinstance(a, Dim) for a in items):
        return (max if name == "maximum" else min)(items)
    if any(isinstance(a, np.ndarray) and a.size > 1 for a in items):
        raise CannotRun("the truth value of an array")
    return functools.reduce(FUNCTIONS[name], items)


def absolute(x: Any) -> Any:
    """abs."""
    return FUNCTIONS["absolute"](x)


def _copyto(a: Any, b: Any, **_: Any) -> None:
    a[...] = b


def _numpy_default(name: str) -> Any:
    if name in _SHAPES:
        return _shape_function(getattr(np, name))
    raise CannotRun(f"numpy.{name} has no symbolic form")


_SHAPES = frozenset(
    [
        "arange",
        "atleast_1d",
        "atleast_2d",
        "broadcast_arrays",
        "broadcast_to",
        "concatenate",
        "cumsum",
        "cumprod",
        "diag",
        "diagonal",
        "einsum",
        "expand_dims",
        "flip",
        "hstack",
        "moveaxis",
        "ravel",
        "repeat",
        "reshape",
        "roll",
        "split",
        "squeeze",
        "stack",
        "swapaxes",
        "tile",
        "transpose",
        "tril",
        "triu",
        "vstack",
        "prod",
        "shape",
        "ndim",
        "size",
        "ndindex",
        "broadcast_shapes",
        "kron",
        "inner",
        "tensordot",
        "result_type",
        "can_cast",
        "triu_indices",
        "tril_indices",
    ]
)


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
            [x.view(np.ndarray) if isinstance(x, SymArray) else x for x in a]
            if isinstance(a, list | tuple)
            else a
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
    return Diagonal()


def _diag_indices_of(n: Any, *_: Any) -> Any:
    return Diagonal() if isinstance(n, Dim) else np.diag_indices(int(n))


def _ascontiguous(x: Any, *_: Any, **__: Any) -> Any:
    return x if isinstance(x, NC) else asarray(x)


def _array(x: Any, *args: Any, **kwargs: Any) -> Any:
    return x.copy() if isinstance(x, NC) else array(x, *args, **kwargs)


class _errstate(contextlib.ContextDecorator):
    """numpy.errstate, as a context and as a decorator; it changes nothing."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


def _same(*a: Any, **_: Any) -> Any:
    return a[0]


class _AnyArray(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, np.ndarray | NC)


class AnyArray(metaclass=_AnyArray):
    """np.ndarray in the running source: a type to ask about, without methods of its own."""


class Generator:
    """What np.random.Generator is for the running source."""


def _unsupported_count(*_: Any, **__: Any) -> Any:
    raise CannotRun("a count that depends on the data")
