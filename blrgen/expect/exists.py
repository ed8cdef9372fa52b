"""Whether E_q[f] is finite: the density against f at every end of the support, and at poles.

Near an end at infinity x = ±eᵘ, near a finite one and near a pole x = e ± e⁻ᵘ; with
L(u) = log|q f| + log|dx/du| the integral there is ∫ e^L du, and infinite where e^L, summed over
u, 2u, 4u, …, grows: where M = L + log u goes up, and goes on, log|f| growing no more slowly than
−log q.  That is looked at in numbers, at members all over the domains and near their ends.  There
are three answers: infinite somewhere, falling wherever it was looked at, not told.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.near_ends import corners
from blrgen.geometry.points import many_points
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
Point = dict[Expr, Expr]
_FAR = tuple(2**k for k in range(12))  # digits of the distance to an infinite end
_NEAR = tuple(2**k for k in range(3, 12))  # of that to a finite one
_BESIDE = 256  # of that to an end that is not 0, which takes as many digits of arithmetic
_RISE = mpmath.mpf("0.2")  # of M while u doubles, from which on it is told to go up
_MEMBERS = 24  # all over the domains, and as many near their ends
_SMALL, _FEW = 60, 4  # parts of an expression for which there are so many members; for others
_LARGEST = 300  # parts of one that is looked at
_DATA = 4  # values of the data


@dataclass(frozen=True)
class Line:
    """A real variable, log q up to a constant, and the members that it has."""

    variable: Expr
    log_q: Expr
    ends: tuple[Expr, Expr]
    members: tuple[Point, ...]
    whole: bool = False  # it takes whole numbers: no poles between them
    name: str = ""  # how people read the variable, where it is not the family's own


class NoExpectation(UserError):
    """An expectation that is infinite for some members of the family."""


@dataclass(frozen=True)
class Infinite:
    """Where ∫ q|f| is infinite."""

    point: Point  # the member, and values of the data
    at: Expr  # the end of the support, or the pole
    everywhere: bool = False  # at all members that were looked at


def line_of(family: Family, log_q: Expr) -> Line | None:
    """The line of a scalar family; None of another one."""
    support = family.support
    known = support.kind in ("interval", "integers", "vector")
    if not family.elementwise or family.joint or not known:
        return None
    ends = (-sp.oo if support.lower is None else sp.sympify(support.lower),
            sp.oo if support.upper is None else sp.sympify(support.upper))  # fmt: skip
    members = _members(family)
    return Line(family.variable, log_q, ends, members, support.kind == "integers")


def normal_line(x: Expr, name: str = "") -> Line:
    """Of a number that is normal with any mean and variance: an inner product, say."""
    mean, variance = sp.Symbol("mean", real=True), sp.Symbol("variance", positive=True)
    members = tuple(
        {mean: sp.S.One, variance: sp.Rational(v)} for v in ("1", "1/50", "60", "100000")
    )
    return Line(x, -((x - mean) ** 2) / (2 * variance), (-sp.oo, sp.oo), members, name=name)


def _members(family: Family) -> tuple[Point, ...]:
    """Members all over the domains, the plainest first, then some near the domains' ends."""
    parameters = (*family.fixed, *family.natural)
    usual = many_points(parameters)[:_MEMBERS]
    near = (p for p in corners(parameters, (8,), (3,)) if len(p) == len(parameters))
    return (*usual, *itertools.islice(near, _MEMBERS))


@dataclass(frozen=True)
class Finding:
    """What was seen: at all values of the data, at some of them, or nowhere; or not told."""

    infinite: Infinite | None = None
    always: bool = False  # infinite somewhere for all values of the data that were tried
    told: bool = True  # elsewhere it falls


def look(f: Expr, line: Line) -> Finding:
    """Whether E[f] is infinite for some member."""
    size = sum(1 for _ in zip(range(_LARGEST), sp.preorder_traversal(f), strict=False))
    if size == _LARGEST:
        return Finding(told=False)
    if size > _SMALL:
        line = replace(line, members=line.members[:_FEW])
    some: Infinite | None = None
    every = told = True
    for data in _data_of(f, line):
        found, clear = _at_members(f.xreplace(data), data, line)
        told = told and clear
        every = every and found is not None
        some = some or found
    return Finding(some, every and some is not None, told)


def _data_of(f: Expr, line: Line) -> list[Point]:
    """Values of the other names in f: of both signs, none of them special."""
    known = {line.variable, *line.members[0]} if line.members else {line.variable}
    names = sorted(f.free_symbols - known, key=str)
    if not names:
        return [{}]
    random = Random(5)

    def value(x: Expr, k: int) -> Expr:
        size = sp.Rational(random.randint(1, 30), random.choice((3, 7, 11)))
        return size if x.is_nonnegative or k % 2 == 0 else -size

    return [{x: value(x, k + i * (k // 2)) for i, x in enumerate(names)} for k in range(_DATA)]


def _at_members(f: Expr, data: Point, line: Line) -> tuple[Infinite | None, bool]:
    """The first member at which ∫ q|f| is infinite, and whether it was told at all others."""
    count, told = 0, True
    found: Infinite | None = None
    places = _poles(f, line)
    for k, member in enumerate(line.members):
        at, clear = _where(f, line, member, places)
        told = told and (clear or k >= _MEMBERS)  # at extreme members the ends are too far away
        count += at is not None
        if found is None and at is not None:
            found = Infinite({**member, **data}, at)
    everywhere = count == len(line.members)
    return (replace(found, everywhere=everywhere) if found is not None else None), told


def _where(f: Expr, line: Line, member: Point, poles: tuple[Expr, ...]) -> tuple[Expr | None, bool]:
    """The end or the pole at which the integral is infinite for one member, if it is told."""
    low, high = (sp.sympify(e).subs(member) for e in line.ends)
    inside = [p for p in poles if low < p < high]
    told = True
    for end, side in ((low, 1), (high, -1), *((p, s) for p in inside for s in (1, -1))):
        if line.whole and end.is_finite:
            continue  # a whole number like others: nothing comes near it
        said = _said(_rows(f, line, member, end, side))
        if said == "rises":
            return end, True
        told = told and said == "falls"
    return None, told


def _rows(
    f: Expr, line: Line, member: Point, end: Expr, side: int
) -> list[tuple[Any, Any]]:  # fmt: skip
    """(log of the mass of q near a point, log|f| there) as the end comes near."""
    near = bool(end.is_finite)
    rows: list[tuple[Any, Any]] = []
    for digits in (d for d in _NEAR if end == 0 or d <= _BESIDE) if near else _FAR:
        with mpmath.workdps(digits + 30 if near and end != 0 else 40):
            step = mpmath.mpf(10) ** (-digits if near else digits)
            try:
                at = {k: evaluate(sp.sympify(v), {}) for k, v in member.items()}
                at[line.variable] = evaluate(end, {}) + side * step if near else -side * step
                mass = evaluate(line.log_q, at) + mpmath.log(step)
                rows.append((mass + mpmath.log(digits), log_size(f, at)))
            except Undefined:
                break
    return rows


def _said(rows: list[tuple[Any, Any]]) -> str:
    """rises: M goes up twice, log|f| no more slowly than q falls; falls: M goes down twice."""
    if rows and mpmath.isinf(rows[-1][1]):
        return "falls"  # f is 0 as far as digits say
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(rows)][-2:]
    if len(steps) < 2:
        return ""
    (fall, growth), (last_fall, last_growth) = steps
    up, last_up = fall + growth, last_fall + last_growth
    if up < -_RISE and last_up < -_RISE:
        return "falls"
    goes_on = last_fall < 0 and last_growth * fall <= growth * last_fall * mpmath.mpf("0.99")
    return "rises" if up > _RISE and last_up > _RISE and goes_on else ""


def log_size(f: Expr, at: dict[Expr, Any]) -> Any:
    """log|f| at a point, also where |f| is beyond what numbers can say; −∞ where f is 0."""
    if f.is_Mul:
        return mpmath.fsum(log_size(a, at) for a in f.args)
    if f.is_Pow and f.exp.is_number:
        size = log_size(f.base, at)
        if mpmath.isinf(size) and f.exp.is_negative:
            raise Undefined("a pole")
        return evaluate(f.exp, {}) * size
    if isinstance(f, sp.exp):
        return _real(evaluate(f.args[0], at))
    if isinstance(f, sp.cosh | sp.sinh):
        size = abs(_real(evaluate(f.args[0], at)))
        if size > 100:
            return size - mpmath.log(2)
    if isinstance(f, sp.gamma | sp.factorial):
        above = evaluate(f.args[0], at) + (1 if isinstance(f, sp.factorial) else 0)
        if above > 10:
            return mpmath.loggamma(above)
    if isinstance(f, sp.log):
        return _log_abs(log_size(f.args[0], at))
    if f.is_Add:
        return _of_sum(f, at)
    return _log_abs(_real(evaluate(f, at)))


def _of_sum(f: Expr, at: dict[Expr, Any]) -> Any:
    """The largest term, where nothing comes near it; else the number."""
    sizes = sorted((log_size(a, at) for a in f.args), reverse=True)
    if len(sizes) > 1 and sizes[0] - sizes[1] > 60:
        return sizes[0]
    if sizes[0] > mpmath.mpf(10) ** 9:  # what may cancel in it is not told
        raise Undefined("terms of one size")
    return _log_abs(_real(evaluate(f, at)))


def _real(x: Any) -> Any:
    if isinstance(x, mpmath.mpc):
        raise Undefined("not a real number")
    return x


def _log_abs(x: Any) -> Any:
    return -mpmath.inf if x == 0 else mpmath.log(abs(x))


def _poles(f: Expr, line: Line) -> tuple[Expr, ...]:
    """Roots of polynomials that f divides by, or takes the logarithm of."""
    if line.whole:
        return ()
    x = line.variable
    bases = [p.base for p in f.atoms(sp.Pow) if p.exp.is_negative and p.base.has(x)]
    found: set[Expr] = set()
    for base in bases:
        plain = base.replace(sp.Abs, lambda a: a)
        if plain.is_polynomial(x) and not plain.free_symbols - {x}:
            found |= _roots(plain, x)
    return tuple(sorted(found))


def _roots(plain: Expr, x: Expr) -> set[Expr]:
    try:
        return set(sp.Poly(plain, x).real_roots())
    except (NotImplementedError, sp.PolynomialError):
        return set()
