"""Object arrays of expressions, and NumPy's elementwise functions on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold
from typing import Any

import numpy as np
import sympy as sp

from blrgen.decide.field import Mod
from blrgen.decide.functions import Larger, Smaller
from blrgen.validate.symbolic.number import FLOAT, CannotRun, Sym, Truth, exact, expr_of

Expr = Any


class SymArray(np.ndarray):
    """An object array that answers as an array of floats does."""

    @property
    def dtype(self) -> Any:
        return FLOAT

    def astype(self, *_: Any, **__: Any) -> Any:
        return self.copy()

    def dump(self, *_: Any, **__: Any) -> Any:
        raise CannotRun("writing a file")

    tofile = dumps = tobytes = dump

    def view(self, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], type) and issubclass(args[0], np.ndarray):
            return super().view(*args, **kwargs)
        return super().view()

    def sum(self, axis: Any = None, **_: Any) -> Any:  # type: ignore[override]
        return total(self, axis)

    def mean(self, axis: Any = None, **_: Any) -> Any:  # type: ignore[override]
        return mean(self, axis)

    def clip(self, low: Any = None, high: Any = None, out: Any = None, **_: Any) -> Any:  # type: ignore[override]
        return clip(self, low, high, out=out)

    def max(self, *_: Any, **__: Any) -> Any:
        return fold(lambda a, b: FUNCTIONS["maximum"](a, b), list(self.reshape(-1)))

    def min(self, *_: Any, **__: Any) -> Any:
        return fold(lambda a, b: FUNCTIONS["minimum"](a, b), list(self.reshape(-1)))

    def any(self, *_: Any, **__: Any) -> Any:
        return any_of(self)

    def all(self, *_: Any, **__: Any) -> Any:
        return all_of(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        function = FUNCTIONS.get(ufunc.__name__)
        if method == "__call__" and function is not None:
            out = kwargs.pop("out", None)
            out = out[0] if isinstance(out, tuple) else out
            kwargs = {k: v for k, v in kwargs.items() if k == "where"}
            return function(*inputs, out=out, **kwargs)
        plain = [np.asarray(x) if isinstance(x, SymArray) else x for x in inputs]
        plain = [x.view(np.ndarray) if isinstance(x, SymArray) else x for x in plain]
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(o.view(np.ndarray) if isinstance(o, SymArray) else o for o in out)
        result = getattr(ufunc, method)(*plain, **kwargs)
        if out is not None:
            return out[0]
        return array(result) if isinstance(result, np.ndarray) else result

    def __setitem__(self, key: Any, value: Any) -> None:
        if _is_mask(key):
            value = where(key, value, self)
            key = ...
        super().__setitem__(key, value)

    def __getitem__(self, key: Any) -> Any:
        if _is_mask(key):
            raise CannotRun("the number of elements selected depends on the data")
        return super().__getitem__(key)

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.reshape(-1)[0])
        raise CannotRun("the truth value of an array")


def _is_mask(key: Any) -> bool:
    return (
        isinstance(key, np.ndarray)
        and key.view(np.ndarray).dtype == object
        and any(isinstance(x, Truth) for x in key.view(np.ndarray).reshape(-1))
    )


def array(x: Any, *_: Any, copy: bool = True, ndmin: int = 0, **__: Any) -> Any:
    """np.array for arrays of expressions; numbers inside are exact."""
    raw = np.array(x.view(np.ndarray) if isinstance(x, SymArray) else x, dtype=object, ndmin=ndmin)
    if raw.size and not isinstance(x, SymArray):
        raw = np.array([_element(v) for v in raw.reshape(-1)] + [None], dtype=object)[:-1].reshape(
            raw.shape
        )
    return raw.view(SymArray)


def asarray(x: Any, *_: Any, **__: Any) -> Any:
    """np.asarray."""
    if isinstance(x, SymArray):
        return x
    return array(x)


def _element(v: Any) -> Any:
    return v if isinstance(v, Sym | Mod | Truth) else exact(v)


def elementwise(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of elements as a ufunc with `out=`."""

    def apply(*args: Any, out: Any = None, where: Any = True, dtype: Any = None, **_: Any) -> Any:
        if where is not True:
            raise CannotRun("where= of a NumPy function")
        if any(hasattr(a, "nc") for a in args):
            from blrgen.validate.symbolic.linear import call

            return call(f, args, out)
        if len(args) > f.__code__.co_argcount:
            *args, out = args  # type: ignore[assignment]
        plain = [a.view(np.ndarray) if isinstance(a, SymArray) else a for a in args]
        if not any(isinstance(a, np.ndarray | list | tuple) for a in plain):
            result: Any = f(*map(_element, plain))
        else:
            boxed = [
                np.asarray(a, dtype=object) if not isinstance(a, np.ndarray) else a for a in plain
            ]
            result = np.frompyfunc(lambda *v: f(*map(_element, v)), len(boxed), 1)(*boxed)
            result = array(result)
        if out is None:
            return result
        out = out[0] if isinstance(out, tuple) else out
        out[...] = result
        return out

    return apply


def _of(function: Callable[..., Expr]) -> Callable[..., Any]:
    """An elementwise function given by a SymPy expression."""

    def one(x: Any) -> Any:
        return Sym(function(_symbolic(x)))

    def two(x: Any, y: Any) -> Any:
        return Sym(function(_symbolic(x), _symbolic(y)))

    return elementwise(two if function.__code__.co_argcount == 2 else one)


def _symbolic(x: Any) -> Expr:
    if isinstance(x, Mod):
        raise CannotRun("a function of a number modulo a prime")
    return expr_of(x)


def _compare(relation: Any) -> Callable[..., Any]:
    return elementwise(lambda x, y: Truth(relation(_symbolic(x), _symbolic(y))))


def _truth(x: Any) -> Any:
    return x.c if isinstance(x, Truth) else (sp.true if bool(x) else sp.false)


HALF = sp.Rational(1, 2)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": elementwise(lambda x: x ** exact(0.5)),
    "exp": _of(lambda x: sp.exp(x)),
    "log": _of(lambda x: sp.log(x)),
    "log1p": _of(lambda x: sp.log(1 + x)),
    "expm1": _of(lambda x: sp.exp(x) - 1),
    "log2": _of(lambda x: sp.log(x) / sp.log(2)),
    "log10": _of(lambda x: sp.log(x) / sp.log(10)),
    "exp2": _of(lambda x: 2**x),
    "cbrt": _of(lambda x: sp.sign(x) * sp.Abs(x) ** sp.Rational(1, 3)),
    "tanh": _of(lambda x: sp.tanh(x)),
    "sinh": _of(lambda x: sp.sinh(x)),
    "cosh": _of(lambda x: sp.cosh(x)),
    "arctanh": _of(lambda x: sp.log((1 + x) / (1 - x)) / 2),
    "sin": _of(lambda x: sp.sin(x)),
    "cos": _of(lambda x: sp.cos(x)),
    "sign": _of(lambda x: sp.sign(x)),
    "floor": _of(lambda x: sp.floor(x)),
    "absolute": _of(lambda x: sp.Abs(x)),
    "fabs": _of(lambda x: sp.Abs(x)),
    "square": elementwise(lambda x: x * x),
    "reciprocal": elementwise(lambda x: Sym(sp.S.One) / x),
    "negative": elementwise(lambda x: -x),
    "positive": elementwise(lambda x: x),
    "conjugate": elementwise(lambda x: x),
    "add": elementwise(lambda x, y: x + y),
    "subtract": elementwise(lambda x, y: x - y),
    "multiply": elementwise(lambda x, y: x * y),
    "divide": elementwise(lambda x, y: x / exact(y)),
    "true_divide": elementwise(lambda x, y: x / exact(y)),
    "power": elementwise(lambda x, y: x ** exact(y)),
    "float_power": elementwise(lambda x, y: x ** exact(y)),
    "maximum": _of(lambda x, y: Larger(x, y)),
    "minimum": _of(lambda x, y: Smaller(x, y)),
    "fmax": _of(lambda x, y: Larger(x, y)),
    "fmin": _of(lambda x, y: Smaller(x, y)),
    "logaddexp": _of(lambda x, y: sp.log(sp.exp(x) + sp.exp(y))),
    "hypot": _of(lambda x, y: sp.sqrt(x**2 + y**2)),
    "copysign": _of(lambda x, y: sp.Abs(x) * sp.Piecewise((1, y >= 0), (-1, True))),
    "heaviside": _of(lambda x, y: sp.Piecewise((0, x < 0), (y, sp.Eq(x, 0)), (1, True))),
    "greater": _compare(sp.Gt),
    "greater_equal": _compare(sp.Ge),
    "less": _compare(sp.Lt),
    "less_equal": _compare(sp.Le),
    "equal": _compare(sp.Eq),
    "not_equal": _compare(sp.Ne),
    "logical_and": elementwise(lambda x, y: Truth(sp.And(_truth(x), _truth(y)))),
    "logical_or": elementwise(lambda x, y: Truth(sp.Or(_truth(x), _truth(y)))),
    "logical_not": elementwise(lambda x: Truth(sp.Not(_truth(x)))),
    "invert": elementwise(lambda x: Truth(sp.Not(_truth(x)))),
    "bitwise_and": elementwise(lambda x, y: Truth(sp.And(_truth(x), _truth(y)))),
    "bitwise_or": elementwise(lambda x, y: Truth(sp.Or(_truth(x), _truth(y)))),
    "isfinite": elementwise(lambda x: Truth(sp.true)),
    "isnan": elementwise(lambda x: Truth(sp.false)),
    "isinf": elementwise(lambda x: Truth(sp.false)),
    "signbit": _of(lambda x: sp.Piecewise((1, x < 0), (0, True))),
}
FUNCTIONS["abs"] = FUNCTIONS["absolute"]
FUNCTIONS["logaddexp"].reduce = lambda x: Sym(  # type: ignore[attr-defined]
    sp.log(sp.Add(*[sp.exp(_symbolic(v)) for v in asarray(x).reshape(-1)]))
)


def _select(c: Any, a: Any, b: Any) -> Any:
    condition = _truth(c)
    if condition in (sp.true, sp.false):
        return a if condition == sp.true else b
    return Sym(sp.Piecewise((_symbolic(a), condition), (_symbolic(b), True)))


_where = elementwise(lambda c, a, b: _select(c, a, b))


def where(c: Any, *branches: Any) -> Any:
    """np.where with two branches."""
    if len(branches) != 2:
        raise CannotRun("the indices where a condition holds depend on the data")
    return _where(c, *branches)


def clip(x: Any, a_min: Any = None, a_max: Any = None, out: Any = None, **bounds: Any) -> Any:
    """min(max(x, low), high), as NumPy does it; a bound that is infinite or None is absent."""
    low, high = bounds.get("min", a_min), bounds.get("max", a_max)
    if low is not None and not _infinite(low):
        x = FUNCTIONS["maximum"](x, low)
    if high is not None and not _infinite(high):
        x = FUNCTIONS["minimum"](x, high)
    if out is None:
        return x
    out[...] = x
    return out


def _infinite(x: Any) -> bool:
    return isinstance(x, Sym) and x.e in (sp.oo, -sp.oo)


def total(x: Any, axis: Any = None, **_: Any) -> Any:
    """np.sum."""
    if hasattr(x, "nc"):
        return x.sum()
    raw = asarray(x).view(np.ndarray)
    if axis is None:
        return fold(lambda a, b: a + b, list(raw.reshape(-1)), exact(0))
    result = np.add.reduce(raw, axis=axis)
    return array(result) if isinstance(result, np.ndarray) else result


def mean(x: Any, axis: Any = None, **_: Any) -> Any:
    """np.mean."""
    if hasattr(x, "nc"):
        return x.sum() / x.size
    raw = asarray(x).view(np.ndarray)
    count = raw.size if axis is None else raw.shape[axis]
    return total(x, axis) / exact(count)


def any_of(x: Any, *_: Any, **__: Any) -> Any:
    """np.any, as a condition."""
    return _logical(x, sp.Or)


def all_of(x: Any, *_: Any, **__: Any) -> Any:
    """np.all, as a condition."""
    return _logical(x, sp.And)


def _logical(x: Any, operation: Any) -> Any:
    items: Sequence[Any] = list(np.asarray(x, dtype=object).view(np.ndarray).reshape(-1))
    return Truth(
        operation(
            *[_truth(v) if isinstance(v, Truth | bool) else sp.Ne(_symbolic(v), 0) for v in items]
        )
    )
