"""Expressions as lists of instructions that run on arrays: of doubles, or of mpmath numbers.

Logarithms are taken in the form that does not overflow:

    log Σ c_k exp(a_k) = m + log Σ c_k exp(a_k − m),  m = max a_k
    log x! = log Γ(x + 1),  log Γ,  log B and log of binomials by log Γ
    log I_ν and log K_ν by functions of their own
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import mpmath
import numpy as np
import sympy as sp
from mpmath.libmp import mpf_exp

from blrgen.value.bessel import (
    log_besseli,
    log_besseli_doubles,
    log_besselk,
    log_besselk_doubles,
)
from blrgen.value.evaluate import FUNCTIONS, Undefined, evaluate

Expr = Any
Array = Any
_WIDE = 200.0  # an exponent beside which nothing cancels any more
_OVERFLOW = 10**15  # beyond this an exponential is 0 or ∞ for every purpose
make_mpf = mpmath.mp.make_mpf
# what mpmath raises where it finds no number
BROKEN = (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence)
_FAR = mpmath.mpf(10) ** 30  # beyond this a sine says nothing


class Tape:
    """Several expressions of the same symbols, computed together."""

    def __init__(self, outputs: Sequence[Expr], symbols: Sequence[Expr]) -> None:
        self.symbols = tuple(symbols)
        self._places = {s: i for i, s in enumerate(self.symbols)}
        self._code: list[tuple[str, Any, tuple[int, ...]]] = []
        self._known: dict[Expr, int] = {}
        self._outputs = [self._place(log_form(sp.sympify(e))) for e in outputs]

    def run(self, values: Sequence[Any], *, doubles: bool) -> list[Array]:
        """The outputs; `values` are arrays or numbers, one a symbol."""
        table = _DOUBLES if doubles else _MPMATH
        cells: list[Any] = []
        with np.errstate(all="ignore"):
            for kind, what, args in self._code:
                given = [cells[i] for i in args]
                cells.append(self._step(kind, what, given, values, table, doubles))
        return [cells[i] for i in self._outputs]

    def _step(
        self, kind: str, what: Any, given: list[Any], values: Sequence[Any],
        table: dict[str, Callable[..., Any]], doubles: bool,
    ) -> Any:  # fmt: skip
        if kind == "input":
            return values[what]
        if kind == "number":
            return float(what) if doubles else _number(what)
        if kind == "+":
            return reduce(np.add, given)  # as ufuncs: mpmath would first print an array
        if kind == "*":
            return reduce(np.multiply, given)
        if kind == "whole power":
            return given[0] ** what
        if kind == "log of exponentials":
            return _log_sum(given, table)
        if kind == "log either way":
            return _log_either(given, table)
        if kind == "call":
            return table[what](*given)
        return _each(what, self.symbols, values, doubles)

    def _place(self, e: Expr) -> int:
        found = self._known.get(e)
        if found is None:
            kind, what, args = self._instruction(e)
            places = tuple(self._place(a) for a in args)
            self._code.append((kind, what, places))
            self._known[e] = found = len(self._code) - 1
        return found

    def _instruction(self, e: Expr) -> tuple[str, Any, tuple[Expr, ...]]:
        if e in self._places:
            return "input", self._places[e], ()
        if e.is_number and (not e.args or not e.has(sp.Function)):
            return "number", e, ()
        if e.is_Add:
            return "+", None, e.args
        if e.is_Mul:
            return "*", None, e.args
        if e.is_Pow and e.exp.is_Integer:
            return "whole power", int(e.exp), (e.base,)
        if e.is_Pow:
            return "call", "pow", (e.base, e.exp)
        if isinstance(e, sp.log) and is_positive_bessel(e.args[0]):
            return "call", f"log_{type(e.args[0]).__name__}", e.args[0].args
        if isinstance(e, sp.log) and (parts := _exponentials(e.args[0])):
            if len(parts) == 4 or all(c.is_nonnegative for c in parts[::2]):
                return "log of exponentials", None, parts
            return "log either way", None, (e.args[0], *parts)
        if type(e).__name__ in _DOUBLES and type(e).__name__ in _MPMATH:
            return "call", type(e).__name__, e.args
        return "each", e, ()


def _exponentials(inside: Expr) -> tuple[Expr, ...]:
    """(c₁, a₁, c₂, a₂, …) of a sum with an exponential in it."""
    if not inside.is_Add or not inside.has(sp.exp):
        return ()
    parts: list[Expr] = []
    letters: dict[Expr, Expr] = {}
    opened = sp.expand(_lettered(inside, letters)).xreplace({v: k for k, v in letters.items()})
    for term in sp.Add.make_args(opened):
        powers = [f for f in sp.Mul.make_args(term) if isinstance(f, sp.exp)]
        rest = sp.Mul(*[f for f in sp.Mul.make_args(term) if not isinstance(f, sp.exp)])
        parts += [rest, sp.Add(*[p.args[0] for p in powers])]
    return tuple(parts)


def _lettered(e: Expr, letters: dict[Expr, Expr]) -> Expr:
    """Letters for exponentials: multiplied out, their exponents would cancel."""
    if isinstance(e, sp.exp):
        return letters.setdefault(e, sp.Dummy(positive=True))
    return e.func(*[_lettered(a, letters) for a in e.args]) if e.args else e


def log_form(e: Expr) -> Expr:
    """Logarithms of factorials and gamma functions as log Γ, of positive factors as sums."""
    if not e.args or not e.has(sp.log):
        return e
    args = [log_form(a) for a in e.args]
    if not isinstance(e, sp.log):
        return e.func(*args)
    inside = args[0]
    if isinstance(inside, sp.factorial):
        return sp.loggamma(inside.args[0] + 1)
    if isinstance(inside, sp.gamma):
        return sp.loggamma(inside.args[0])
    if isinstance(inside, sp.beta):
        a, b = inside.args
        return sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b)
    if isinstance(inside, sp.binomial):
        n, k = inside.args
        return sp.loggamma(n + 1) - sp.loggamma(k + 1) - sp.loggamma(n - k + 1)
    if isinstance(inside, sp.exp):
        return inside.args[0]
    powers = [f.as_base_exp() for f in sp.Mul.make_args(inside)]
    if len(powers) > 1 or powers[0][1] != 1:
        kept = [(b, p) for b, p in powers if is_positive_bessel(b) and p.is_real]
        if kept:
            rest = sp.Mul(*[b**p for b, p in powers if (b, p) not in kept])
            return sp.Add(*[p * sp.log(b) for b, p in kept], log_form(sp.log(rest)))
    opened = sp.expand_log(sp.log(inside))
    return opened if opened == e or not opened.is_Add else log_form(opened)


def is_positive_bessel(e: Expr) -> bool:
    """Whether e is I_ν(x) with ν ≥ 0 or K_ν(x), and x > 0."""
    if isinstance(e, sp.besseli):
        return bool(e.args[0].is_nonnegative and e.args[1].is_positive)
    return isinstance(e, sp.besselk) and bool(e.args[0].is_real and e.args[1].is_positive)


def is_exact(x: Any) -> bool:
    """Whether x is an array of mpmath numbers."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "O"


def _log_sum(given: list[Any], table: dict[str, Callable[..., Any]]) -> Any:
    if table is _MPMATH:
        return np.frompyfunc(_log_sum_at, len(given), 1)(*given)
    coefficients, exponents = given[::2], given[1::2]
    top = exponents[0]
    for a in exponents[1:]:
        top = np.where(np.less(top, a), a, top)
    # the largest exponential is 1: what is beside it is summed apart, for log1p
    others, seen = 0.0, False
    for c, a in zip(coefficients, exponents, strict=True):
        first = (a == top) & np.logical_not(seen)
        others = others + np.where(first, np.subtract(c, 1.0), c * np.exp(np.subtract(a, top)))
        seen = first | seen
    return np.add(top, np.log1p(others))


def _log_either(given: list[Any], table: dict[str, Callable[..., Any]]) -> Any:
    """log of the sum as it is written, which cancels least; by exponents where it overflows."""
    inside, parts = given[0], given[1:]
    plain = table["log"](inside)
    if table is _MPMATH:
        return plain
    top = reduce(np.maximum, parts[1::2])
    return np.where(top > _WIDE, _log_sum(parts, table), plain)


def _log_sum_at(*given: Any) -> Any:
    """m + log Σ c exp(a − m); what is far below the last digit is left out."""
    coefficients, exponents = given[::2], given[1::2]
    try:
        top = max(exponents, key=mpmath.re)
        far = -mpmath.mp.prec - 60
        total = mpmath.mpf(0)
        for c, a in zip(coefficients, exponents, strict=True):
            away = a - top
            if not away:
                total += c
            elif mpmath.re(away) > far or c > 1 << 30 or c < -(1 << 30):
                total += c * exp_of(away)
        return top + mpmath.log(total) if total != 1 else top
    except (*BROKEN, TypeError):
        return mpmath.nan


def _number(e: Expr) -> Any:
    if e.is_Rational:
        return mpmath.mpf(int(e.p)) / int(e.q)
    return evaluate(e, {})


def _each(e: Expr, symbols: tuple[Expr, ...], values: Sequence[Any], doubles: bool) -> Any:
    """What has no array form, number by number."""

    def at(*numbers: Any) -> Any:
        point = {s: mpmath.mpf(v) if doubles else v for s, v in zip(symbols, numbers, strict=True)}
        try:
            return evaluate(e, point)
        except Undefined:
            return mpmath.nan

    found = np.frompyfunc(at, len(symbols), 1)(*values)
    return np.asarray(found, dtype=float) if doubles else found


def _elementwise(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """A function of mpmath numbers on arrays; where it has no value it is nan."""

    def safe(*args: Any) -> Any:
        try:
            return function(*args)
        except BROKEN:
            return mpmath.nan

    made: Callable[..., Any] = np.frompyfunc(safe, count, 1)
    return made


def exp_of(x: Any) -> Any:
    """eˣ of an mpmath number, 0 and ∞ where it is so for every purpose."""
    if isinstance(x, mpmath.mpf) and x._mpf_[1]:
        sign, _, exponent, count = x._mpf_
        if exponent + count <= 49:  # below the overflow: no comparison of numbers is needed
            return make_mpf(mpf_exp(x._mpf_, *mpmath.mp._prec_rounding))
        return mpmath.mpf(0) if sign else mpmath.inf
    size = mpmath.re(x)
    if size > _OVERFLOW:
        return mpmath.inf
    return mpmath.mpf(0) if size < -_OVERFLOW else mpmath.exp(x)


def _wave(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: mpmath.mpf(0) if abs(x) > _FAR else function(x)


def _saturated(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: mpmath.sign(x) if abs(mpmath.re(x)) > 10**6 else function(x)


def _grown(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda x: abs(x) * mpmath.inf if abs(mpmath.re(x)) > _OVERFLOW else function(x)


def _log(x: Any) -> Any:
    return -mpmath.inf if x == 0 else mpmath.log(x)


def _loggamma(x: Any) -> Any:
    if isinstance(x, mpmath.mpf) and x <= 0 and x == mpmath.floor(x):
        return mpmath.inf
    return mpmath.loggamma(x)


def _real_pow(base: Any, power: Any) -> Any:
    if base == 0:
        return mpmath.mpf(0) if power > 0 else mpmath.inf if power < 0 else mpmath.mpf(1)
    return mpmath.power(base, power)


_ARITY = {"pow": 2, "polygamma": 2, "beta": 2, "binomial": 2, "besseli": 2, "besselk": 2,
          "log_besseli": 2, "log_besselk": 2}  # fmt: skip
_PLAIN_MPMATH: dict[str, Callable[..., Any]] = {
    **{k: v for k, v in FUNCTIONS.items() if k not in ("Max", "Min", "Larger", "Smaller", "zeta")},
    "exp": exp_of, "log": _log, "loggamma": _loggamma, "pow": _real_pow,
    "sin": _wave(mpmath.sin), "cos": _wave(mpmath.cos), "tanh": _saturated(mpmath.tanh),
    "sinh": _grown(mpmath.sinh), "cosh": _grown(mpmath.cosh), "erf": _saturated(mpmath.erf),
    "log_besseli": log_besseli, "log_besselk": log_besselk,
}  # fmt: skip
_MPMATH: dict[str, Callable[..., Any]] = {
    name: _elementwise(f, _ARITY.get(name, 1)) for name, f in _PLAIN_MPMATH.items()
}


def _double(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    """A function of doubles on arrays; where it has no value it is nan."""

    def safe(*args: Any) -> float:
        try:
            return float(function(*map(float, args)))
        except (*BROKEN, TypeError):
            return math.nan

    made = np.frompyfunc(safe, count, 1)
    return lambda *args: np.asarray(made(*args), dtype=float)


def _log_gamma(x: float) -> float:
    return math.inf if x == math.inf or (x <= 0 and x == math.floor(x)) else math.lgamma(x)


_DOUBLES: dict[str, Callable[..., Any]] = {
    "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "Abs": np.abs, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "atan": np.arctan, "tanh": np.tanh, "sinh": np.sinh, "cosh": np.cosh,
    "atanh": np.arctanh, "sign": np.sign, "floor": np.floor, "pow": np.power,
    "loggamma": _double(_log_gamma), "gamma": _double(math.gamma),
    "factorial": _double(lambda x: math.gamma(x + 1)), "erf": _double(math.erf),
    "erfc": _double(math.erfc), "digamma": _double(mpmath.fp.digamma),
    "polygamma": _double(lambda n, x: mpmath.fp.psi(int(n), x), 2),
    "beta": _double(mpmath.fp.beta, 2), "binomial": _double(mpmath.fp.binomial, 2),
    "besseli": _double(mpmath.fp.besseli, 2), "besselk": _double(mpmath.fp.besselk, 2),
    "log_besseli": log_besseli_doubles, "log_besselk": log_besselk_doubles,
}  # fmt: skip
