"""Whether two expressions are equal on their domains, by the strongest means that decides it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import sympy as sp
from mpmath import mp

from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.spelling import in_few
from blrgen.decide import modular
from blrgen.decide.budget import UNITS, TooLarge
from blrgen.decide.domain import names_in_bounds, range_at, range_of
from blrgen.decide.fractions import Unsupported
from blrgen.decide.functions import Larger, Smaller, outward
from blrgen.decide.proof import Proof
from blrgen.decide.rational import identical
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
DIGITS, MORE_DIGITS, MOST_DIGITS = 50, 170, 2000
TOLERANCE = mpmath.mpf(10) ** -30
SETTLED, ROUNDS = mpmath.mpf(10) ** -3, 3  # how still a difference stands, in how many looks
POINTS = 5
SIGN_POINTS = 16  # where roots or cases may hide a sign
CASES = (sp.Abs, sp.sign, sp.Max, sp.Min, sp.Piecewise, Larger, Smaller)
REMEMBERED = 2000
_DONE: dict[Any, Proof] = {}  # what was decided before: equal is a pure function
MORE_POINTS = 40  # where no proof was found


def equal(
    left: Expr,
    right: Expr,
    domains: Mapping[Expr, str],
    *,
    claim: str = "",
    units: float = UNITS,
) -> Proof:
    """Prove or refute left = right for all values in the domains.

    First a few points at fifty digits, then the normal form, then random points of a
    finite field, and if none of these decides, more points: which is no proof.
    """
    left, right = sp.sympify(left), sp.sympify(right)
    claim = claim or f"{short(left)} = {short(right)}"
    key = (left, right, tuple(sorted((str(s), d) for s, d in domains.items())), units)
    if key not in _DONE:
        if len(_DONE) > REMEMBERED:
            _DONE.clear()
        _DONE[key] = _equal(left, right, domains, claim, units)
    return replace(_DONE[key], claim=claim)


def _equal(left: Expr, right: Expr, domains: Mapping[Expr, str], claim: str, units: float) -> Proof:
    if not left.is_commutative or not right.is_commutative or _has_matrices(left - right):
        from blrgen.decide.matrices import equal_matrices

        return equal_matrices(left, right, domains, claim=claim)
    if left == right:
        return Proof("identity", claim, "both sides are the same expression")
    left, right = in_few(left, right)
    numbers = has_nodes(left - right)
    if numbers and _identical(left, right, domains, units):
        return Proof("identity", claim, "the difference is zero in rational normal form")
    seed = seed_of(left, right)
    points = (
        SIGN_POINTS if left.has(*CASES) or right.has(*CASES) or _roots(left - right) else POINTS
    )
    points = 1 if numbers else points
    refuted = refute(left, right, domains, Random(seed), points, claim)
    if refuted:
        return refuted
    try:
        if identical(outward(left), outward(right), domains, units):
            return Proof("identity", claim, "the difference is zero in rational normal form")
        why = "the normal form did not reach zero"
    except TooLarge:
        why = "the normal form grew too large"
    except (Unsupported, NotImplementedError) as error:
        why = f"no normal form: {error}"
    try:
        bound = modular.agree(left, right, domains, seed)
    except modular.NoModel as error:
        why, bound = f"{why}; no finite-field model of {error}", ""
    if bound:
        return Proof(
            "random-exact", claim, f"{why}; equal at random points of a prime field", bound=bound
        )
    more = 1 if numbers else MORE_POINTS
    refuted = refute(left, right, domains, Random(seed + 1), more, claim)
    return refuted or Proof(
        "numeric", claim, f"{why}; equal to 30 digits at {more + points} points: no proof"
    )


def _identical(left: Expr, right: Expr, domains: Mapping[Expr, str], units: float) -> bool:
    """The normal form alone: what has no known closed form takes long to evaluate."""
    try:
        return identical(left, right, domains, units)
    except (TooLarge, Unsupported, NotImplementedError):
        return False


def _roots(e: Expr) -> bool:
    return any(p.exp.is_Rational and not p.exp.is_Integer for p in e.atoms(sp.Pow))


def _has_matrices(e: Expr) -> bool:
    return any(not s.is_commutative for s in e.free_symbols)


def seed_of(*expressions: Expr) -> int:
    """A seed that depends on the expressions only, the same in every process."""
    return zlib.crc32(" ".join(map(str, expressions)).encode())


def short(e: Expr, width: int = 60) -> str:
    """An expression as text, cut to a width."""
    text = str(e)
    return text if len(text) <= width else text[: width - 1] + "…"


def sample(
    symbols: list[Expr], domains: Mapping[Expr, str], random: Random
) -> dict[Expr, Fraction]:
    """A rational point inside the domains; bounds may use the other symbols."""
    bound = {s: names_in_bounds(s, domains) & {x.name for x in symbols} for s in symbols}
    point = {s: range_of(s, domains).sample(random) for s in symbols}
    done = {s.name for s in symbols if not bound[s]}
    left = [s for s in symbols if bound[s]]
    for _ in range(len(left)):
        ready = [s for s in left if bound[s] <= done and s.name not in done]
        for s in ready:
            point[s] = range_at(s, domains, point).sample(random)
        done |= {s.name for s in ready}
    return point


def symbols_of(*expressions: Expr) -> list[Expr]:
    """The symbols of several expressions, by name."""
    return sorted(set().union(*(e.free_symbols for e in expressions)), key=lambda s: s.name)


def refute(
    left: Expr, right: Expr, domains: Mapping[Expr, str], random: Random, points: int, claim: str
) -> Proof | None:
    """A point at which both sides clearly differ, if one of several is."""
    symbols = symbols_of(left, right)
    for _ in range(points):
        point = sample(symbols, domains, random)
        found = differs(left, right, point)
        if found:
            return Proof(
                "refuted", claim, "the two sides differ at a point",
                point=tuple((s.name, str(v)) for s, v in point.items()),
                left=found[0], right=found[1],
            )  # fmt: skip
    return None


def differs(left: Expr, right: Expr, point: Mapping[Expr, Fraction]) -> tuple[str, str] | None:
    """Both values as text when they differ beyond doubt at this point.

    A difference counts when more than three times the digits leave it as it is:
    cancellation only looks like a difference at one precision.  Where the digits change
    it, still more of them decide; where they never settle it, nothing is claimed.
    """
    before = gap(left, right, point, DIGITS)
    digits = MORE_DIGITS
    for _ in range(ROUNDS):
        if before is None or before[2] <= TOLERANCE * before[3]:
            return None
        # a tiny value next to 0 may be all that cancellation left: digits beyond its size
        small = max(0, -int(mpmath.log10(before[3])))
        now = gap(left, right, point, digits + 2 * min(small, MOST_DIGITS))
        if now is None or now[2] <= TOLERANCE * now[3]:
            return None
        if abs(now[2] - before[2]) <= SETTLED * now[2]:
            return apart(now[0], now[1])
        before, digits = now, 3 * digits
    return None


def apart(a: Any, b: Any) -> tuple[str, str]:
    """Two values as text, with as many digits as it takes to see the difference."""
    for digits in (17, 25, 33, DIGITS):
        texts = mpmath.nstr(a, digits), mpmath.nstr(b, digits)
        if texts[0] != texts[1]:
            break
    return texts


def gap(
    left: Expr, right: Expr, point: Mapping[Expr, Fraction], digits: int
) -> tuple[Any, Any, Any, Any] | None:
    """(left, right, |left − right|, max size) at a point; None where either is undefined.

    A point at which both sides leave the reals is outside the domain of what is compared:
    code gives NaN on either side there, and no counterexample is taken from it.
    """
    with mp.workdps(digits):
        values = {s: mpmath.mpf(v.numerator) / v.denominator for s, v in point.items()}
        memo: dict[Expr, Any] = {}
        try:
            a, b = evaluate(left, values, memo), evaluate(right, values, memo)
        except Undefined:
            return None
        if isinstance(a, mpmath.mpc) and isinstance(b, mpmath.mpc):
            return None
        return a, b, abs(a - b), max(abs(a), abs(b))
