"""The special functions of an emitted file, run on numbers against what they mean.

What is run is the text in the file, not the template it came from: a number that was
changed there shows.  Points are spread evenly over the decades of each argument, with
the places where digits are lost easily; the reference has fifty digits and more.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from mpmath import mp

from blrgen.emit.special.helper import Helper
from blrgen.emit.special.helpers import helper
from blrgen.emit.special.numbers import held
from blrgen.emit.support import MODULES, table

POINTS = 24
_NUMPY = (
    "log", "log1p", "exp", "expm1", "sqrt", "abs", "minimum", "maximum", "where", "nan", "inf",
    "floor", "errstate", "sinh", "arcsinh", "max", "ceil", "float32", "float64",
)  # fmt: skip
_PARTS = ("_where", "_real_of", "_whole_of", "_largest_of", "_integer_of", "_float_of")
_BUILTINS = {x.__name__: x for x in (range, type, float, int, abs, bool, max)}


@dataclass(frozen=True)
class Check:
    """The largest error of one helper, in roundings of the dtype, and where it is."""

    name: str
    says: str
    error: float
    point: tuple[float, ...]
    value: float
    wanted: str
    dtype: str
    points: int
    allowed: float

    @property
    def passed(self) -> bool:
        return self.error <= self.allowed


@lru_cache(maxsize=64)
def checks(source: str) -> tuple[Check, ...]:
    """One check for each special function and dtype, in the order of the file."""
    functions = _functions(source)
    out = []
    for name, f in functions.items():
        known = helper(name)
        if known is not None and known.ranges:
            out += [check(known, f, dtype) for dtype in (np.float64, np.float32)]
    return tuple(out)


def check(known: Helper, f: Callable[..., Any], dtype: Any) -> Check:
    """The worst of all points."""
    worst = Check(known.name, known.says, 0.0, (), 0.0, "", dtype.__name__, 0, known.allowed)
    count = 0
    for point in points(known, dtype):
        with mp.workdps(60):
            wanted = exact(known, point)
            size = abs(wanted)
            if not np.finfo(dtype).tiny < size < np.finfo(dtype).max:
                continue
            with np.errstate(all="ignore"):
                value = _value(f, arguments(known, point, dtype), dtype)
            if known.scale is not None:
                size = mpmath.mpf(known.scale(*map(mpmath.mpf, point), wanted))
            error = abs(mpmath.mpf(float(value)) - wanted) / size / float(np.finfo(dtype).eps)
            error = float(error) if np.isfinite(value) else float("inf")
        if np.asarray(value).dtype != dtype:
            error = float("inf")
        count += 1
        if error > worst.error:
            shown = mpmath.nstr(wanted, 20)
            worst = replace(worst, error=error, point=point, value=float(value), wanted=shown)
    return replace(worst, points=count)


def _value(f: Callable[..., Any], given: list[Any], dtype: Any) -> Any:
    """What the function returns; a text that does not run at all returns no number."""
    try:
        return f(*given)
    except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError):
        return dtype(np.nan)


def points(known: Helper, dtype: Any) -> Iterator[tuple[float, ...]]:
    """Points over the decades, more of them in the middle ones, then the special ones."""
    largest = 300.0 if dtype is np.float64 else 14.0
    for k in range(POINTS):
        point = []
        for i, (low, high) in enumerate(known.ranges):
            share = ((k + 0.5) * (0.6180339887498949 if i else 1 / POINTS)) % 1
            reach = (max(low, -largest), min(high, largest))
            if k % 2:
                reach = (max(reach[0], -1.5), min(reach[1], 2.0))
            x = 10 ** (reach[0] + share * (reach[1] - reach[0]))
            point.append(-x if i in known.signed and k % 4 > 1 else x)
        yield placed(known, tuple(point), dtype)
    with np.errstate(over="ignore"):
        near = [placed(known, p, dtype) for p in known.near]
    yield from (p for p in near if all(np.isfinite(p)))


def placed(known: Helper, point: tuple[float, ...], dtype: Any) -> tuple[float, ...]:
    """A point of the domain, in numbers that the dtype has."""
    return tuple(float(dtype(x)) for x in (known.place(*point) if known.place else point))


def arguments(known: Helper, point: tuple[float, ...], dtype: Any) -> list[Any]:
    """The point as arguments: counts as whole numbers."""
    return [int(x) if i in known.whole else dtype(x) for i, x in enumerate(point)]


def exact(known: Helper, point: tuple[float, ...]) -> Any:
    """The value to fifty digits; more are used where they cancel."""
    key = (known.name, point)
    if key not in _EXACT:
        _EXACT[key] = _exact(known, point)
    return _EXACT[key]


_EXACT: dict[tuple[str, tuple[float, ...]], Any] = {}


def _exact(known: Helper, point: tuple[float, ...]) -> Any:
    if known.reference is not None:
        with mp.workdps(60):
            return known.reference(*map(mpmath.mpf, point))
    symbols = sp.symbols(f"x:{len(point)}", positive=True)
    expr = known.meaning(*symbols)
    from blrgen.value.evaluate import evaluate

    found: Any = None
    for digits in (60, 120, 400, 1000):
        with mp.workdps(digits):
            values = {s: mpmath.mpf(x) for s, x in zip(symbols, point, strict=True)}
            before, found = found, evaluate(expr, values, {})
        if before is not None and abs(found - before) <= abs(found) * mpmath.mpf(10) ** -30:
            break
    return found


def _functions(source: str) -> dict[str, Callable[..., Any]]:
    """The helpers defined in a source, as functions on numbers."""
    body = ast.parse(source).body
    own = [x for x in body if isinstance(x, ast.FunctionDef) and helper(x.name) is not None]
    parts = [x for x in body if isinstance(x, ast.FunctionDef) and x.name in _PARTS]
    if not own or any(_private(x) for x in (*own, *parts)):
        return {}
    names: dict[str, Any] = {
        "__builtins__": _BUILTINS,
        "np": SimpleNamespace(**{x: getattr(np, x) for x in _NUMPY}, finfo=_finfo),
        "math": SimpleNamespace(expm1=math.expm1, log=math.log),
        "njit": lambda *_, **__: lambda f: f,
        "intrinsic": lambda f: f,
        **held(source),
    }
    for x in (*own, *parts):
        x.returns = None
        for a in x.args.args:
            a.annotation = None
    made = ast.Module([*parts, *own], [])
    exec(compile(made, "<special functions>", "exec"), names)
    names |= {x: f for x, f in _CASTS.items() if _as_emitted(source, x)}
    return {x.name: names[x.name] for x in own}


def _finfo(real: Any) -> SimpleNamespace:
    return SimpleNamespace(tiny=np.finfo(real).tiny)


def _integer_of(x: Any) -> Any:
    return x.view(np.int32 if x.dtype == np.float32 else np.int64)


def _float_of(k: Any) -> Any:
    return k.view(np.float32 if k.dtype == np.int32 else np.float64)


_CASTS = {
    "_integer_of": _integer_of,
    "_float_of": _float_of,
}  # written for the compiler in a Numba file


def _as_emitted(source: str, name: str) -> bool:
    """Whether a function is in the source letter by letter as the runtime has it."""
    forms = [table(t).definitions[name].text for t in MODULES if name in table(t).definitions]
    return any(f"\n{form}\n" in f"\n{source}\n" for form in forms)


def _private(tree: ast.AST) -> bool:
    return any(isinstance(x, ast.Attribute) and x.attr.startswith("_") for x in ast.walk(tree))
