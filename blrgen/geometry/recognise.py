"""Which shipped family a density is, by matching exponents.

The prior's exponent E(y) = ⟨χ, λ(y)⟩ − νA(λ(y)) + log|∂λ/∂y| belongs to the family with
statistics S and base measure k when

    E(y) − log k(y) = ⟨κ, S(y)⟩ + c        for some κ, c free of y

and y has the support of that family.  Both sides are written in the same independent
functions of y; κ and c then solve linear equations.  Tried are the working, natural and
mean parameters and simple functions of them (−y, 1/y, eʸ, log y, y²); the first that fits
is the answer.  Nothing is looked up by name: a family file that is added is found too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.algebra.ring import ring_of
from blrgen.algebra.span import in_span
from blrgen.algebra.words import normal
from blrgen.core import Domain, Family, Parameter
from blrgen.decide.proof import Proof
from blrgen.errors import UserError
from blrgen.geometry.conjugate import Conjugate, log_determinant, variables_of
from blrgen.geometry.readable import exponentials, open_log, readable, spread

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


@dataclass(frozen=True)
class Coordinate:
    """y with its end points, as a function of a parameter that the reader knows, and back."""

    symbol: Expr
    shown: Expr  # y as a function of the family's own names
    back: Expr  # the name's value as a function of y
    lower: Expr
    upper: Expr


@dataclass(frozen=True, eq=False)
class Recognised:
    """The prior's family, the variable that has that law, and its parameters from χ and ν."""

    family: Family
    coordinates: tuple[Coordinate, ...]
    kappa: tuple[Expr, ...]  # its natural parameters as functions of χ, ν
    constant: Expr  # c: E − log k − ⟨κ, S⟩
    proof: Proof

    @property
    def natural(self) -> tuple[tuple[Expr, Expr], ...]:
        """(natural parameter of the found family, its value)."""
        names = (p.symbol for p in self.family.natural)
        return tuple(zip(names, self.kappa, strict=True))

    @cached_property
    def working(self) -> tuple[tuple[Expr, Expr], ...]:
        """(working parameter of the found family, its value); the natural ones without any."""
        from blrgen.geometry.charts import charts

        if not self.family.working:
            return self.natural
        _, back = charts(self.family, ring_of(self.family))
        at = dict(self.natural)
        return tuple((p.symbol, readable(back[p.symbol].xreplace(at))) for p in self.family.working)

    @cached_property
    def conditions(self) -> tuple[Expr, ...]:
        """Expressions that are positive exactly where the prior is proper."""
        at, found = dict(self.natural), []
        for p in self.family.natural:
            for bound, sign in ((p.domain.lower, 1), (p.domain.upper, -1)):
                if bound is None or p.domain.kind != "interval" or sp.sympify(bound).is_infinite:
                    continue
                gap = sign * (at[p.symbol] - sp.sympify(bound).xreplace(at))
                found.append(_without_positive_factors(sp.factor(gap)))
        return tuple(dict.fromkeys(found))

    @cached_property
    def definite(self) -> tuple[Expr, ...]:
        """Matrices that are positive definite exactly where the prior is proper."""
        at, found = dict(self.natural), []
        for p in self.family.natural:
            if p.domain.kind in ("spd", "-spd"):
                shift = sp.S.Zero if p.domain.lower is None else p.domain.lower.xreplace(at)
                sign = 1 if p.domain.kind == "spd" else -1
                found.append(normal(2 * sign * (at[p.symbol] - shift)))
        return tuple(found)

    @cached_property
    def log_normaliser(self) -> Expr | None:
        """B(χ, ν) = A_found(κ) + c, where the found family's A is a closed form."""
        from blrgen.geometry.integrate import log_integral

        try:
            integral = log_integral(self.family, ring_of(self.family))
        except UserError:
            return None
        if integral.method == "numeric":
            return None
        return integral.log_partition.xreplace(dict(self.natural)) + self.constant


def recognise(conjugate: Conjugate) -> Recognised | None:
    """The first shipped family and coordinates that fit, proved equal."""
    g = conjugate.geometry
    if not g.ring.elementwise:
        if getattr(g.ring, "components", False):
            return None
        from blrgen.geometry.recognise_matrix import recognise_matrix

        return recognise_matrix(conjugate)
    if len(g.natural) > 2:
        return None
    kinds = candidates(len(g.natural))
    if not kinds:
        return None
    for coordinates in _coordinates(g):
        for name in kinds:
            family = shipped(name)
            order = _placed(family, coordinates)
            found = order and _fit(conjugate, family, order)
            if found:
                return found
    return None


def _without_positive_factors(e: Expr) -> Expr:
    """e > 0 said with as little as possible: without factors that are positive anyway."""
    number, rest = e.as_coeff_Mul()
    kept = [f for f in sp.Mul.make_args(rest) if not f.is_positive]
    return sp.expand(sp.sign(number) * sp.Mul(*kept))


# the families to look among


@cache
def candidates(size: int, scalar: bool = True) -> tuple[str, ...]:
    """Names of shipped families over `size` variables, without known constants."""
    from blrgen.read.family import find_family, list_families

    found = []
    for name in list_families():
        table = tomllib.loads(find_family(name).read_text(encoding="utf-8"))
        variable, support = table.get("variable"), table.get("support")
        variables = variable if isinstance(variable, list) else [variable]
        supports = support if isinstance(support, list) else [support]
        plain = all(isinstance(s, str) and s[:1] in "([" and "^" not in s for s in supports)
        if (
            len(variables) == size
            and plain == scalar
            and "fixed" not in table
            and "product" not in table
        ):
            found.append(name)
    return tuple(found)


@cache
def shipped(name: str) -> Family:
    """The declaration of that name, read once."""
    from blrgen.read.family import read_family

    return read_family(name)


def _supports(family: Family) -> tuple[Any, ...]:
    several = getattr(family, "supports", None)
    return tuple(several) if several else (family.support,)


def _placed(family: Family, coordinates: tuple[Coordinate, ...]) -> tuple[Coordinate, ...] | None:
    """The coordinates in the order of the family's variables, where their ranges fit."""
    supports = _supports(family)
    if len(supports) != len(coordinates):
        return None
    for turned in (coordinates, coordinates[::-1]) if len(coordinates) > 1 else (coordinates,):
        ends = zip(supports, turned, strict=True)
        if all((s.lower, s.upper) == (c.lower, c.upper) for s, c in ends):
            return turned
    return None


# the coordinates to try

_Map = tuple[Any, Any]  # y(u) and u(y)
_MAPS: tuple[_Map, ...] = (
    (lambda u: u, lambda y: y),
    (lambda u: -u, lambda y: -y),
    (lambda u: 1 / u, lambda y: 1 / y),
    (sp.exp, sp.log),
    (lambda u: sp.exp(-u), lambda y: -sp.log(y)),
    (lambda u: u**2, sp.sqrt),
    (lambda u: u**-2, lambda y: 1 / sp.sqrt(y)),
)
_Interval = tuple[Any, Any, Any]  # a name and the ends of its range
_SIGNED = (2, 5, 6)  # the maps that need an interval on one side of 0


def _coordinates(g: Geometry) -> Iterator[tuple[Coordinate, ...]]:
    """Coordinates of the parameter space: working, natural, mean, and functions of them."""
    charts: tuple[Callable[[], list[_Interval]], ...] = (
        lambda: _intervals(g.family.working),
        lambda: _intervals(g.family.natural),
        lambda: _means(g),
    )
    for chart in charts:
        options = [list(_of_interval(*p, k)) for k, p in enumerate(chart())]
        if not options:
            continue
        for chosen in sorted(product(*options), key=lambda c: sum(rank for rank, _ in c)):
            yield tuple(c for _, c in chosen)


def _intervals(parameters: tuple[Parameter, ...]) -> list[_Interval]:
    """The parameters with the ends of their domains; none where an end is no number."""
    found = []
    for p in parameters:
        if p.domain.kind not in ("interval", "vector"):
            return []
        low = -sp.oo if p.domain.lower is None else sp.sympify(p.domain.lower)
        high = sp.oo if p.domain.upper is None else sp.sympify(p.domain.upper)
        if not (low.is_number and high.is_number):
            return []
        found.append((p.symbol, low, high))
    return found


def _means(g: Geometry) -> list[_Interval]:
    """μ = E[x] of a single statistic x: it runs over the inside of the support's hull."""
    from blrgen.geometry.inverse import mean_symbols

    support = g.family.support
    if len(g.natural) > 1 or g.family.statistics != (g.family.variable,) or not g.inverse_mean:
        return []
    ends = support.points or (support.lower, support.upper)
    low, high = min(ends, key=_order), max(ends, key=_order)
    return [(mean_symbols(g)[0], low, high)]


def _of_interval(name: Expr, low: Expr, high: Expr, k: int) -> Iterator[tuple[int, Coordinate]]:
    maps = list(enumerate(_MAPS))
    if low.is_finite and high.is_finite and (low, high) != (0, 1):
        width = high - low
        unit = (lambda u: (u - low) / width, lambda y: low + width * y)
        maps.insert(1, (len(_MAPS), unit))
    for rank, (forward, back) in maps:
        if rank in _SIGNED and not (low >= 0 or (rank == 2 and high <= 0)):
            continue
        ends = sorted((_end(forward, high, e) for e in (low, high)), key=_order)
        sign = {"positive": True} if ends[0] >= 0 else {"negative": True} if ends[1] <= 0 else {}
        y = sp.Symbol(f"y{k + 1}_", **(sign or {"real": True}))
        yield rank, Coordinate(y, forward(name), back(y), ends[0], ends[1])


def _end(forward: Any, high: Expr, e: Expr) -> Expr:
    """forward at an end of the interval, 1/0 being the infinity of the interval's sign."""
    value = forward(e)
    if value is sp.zoo:
        return sp.oo if high > 0 else -sp.oo
    return value


def _order(e: Expr) -> float:
    return float(e) if e.is_finite else (float("inf") if e > 0 else float("-inf"))


# the fit


def _fit(conjugate: Conjugate, family: Family, where: tuple[Coordinate, ...]) -> Recognised | None:
    from blrgen.decide.equal import equal

    ys = tuple(c.symbol for c in where)
    at = _inside(where, conjugate.geometry)
    own = _exponent(conjugate, where, at)
    if own is None:
        return None
    image = dict(zip(variables_of(family), ys, strict=True))
    statistics = [spread(t.xreplace(image), at) for t in family.statistics]
    base = open_log(sp.sympify(family.base_measure).xreplace(image), at)
    solved = in_span(sp.expand(own - base), statistics, ys)
    if solved is None:
        return None
    kappa, constant = tuple(readable(k) for k in solved[1]), readable(solved[0])
    if any(not (k.free_symbols & {*conjugate.chi, conjugate.nu}) for k in kappa):
        return None  # a prior that cannot move one of its parameters is not that family
    whole = sp.Add(*[k * t for k, t in zip(kappa, statistics, strict=True)]) + base + constant
    domains = {c.symbol: f"({c.lower}, {c.upper})" for c in where}
    domains |= {p.symbol: p.domain.text for p in conjugate.geometry.family.fixed}
    proof = equal(own, whole, domains, claim=f"the prior's exponent is that of {family.name}")
    if proof.level == "refuted":
        return None
    return Recognised(family, where, kappa, constant, proof)


def _exponent(
    conjugate: Conjugate, where: tuple[Coordinate, ...], at: dict[Expr, Expr]
) -> Expr | None:
    """⟨χ, λ(y)⟩ − νA(λ(y)) + log|∂λ/∂y|, spread into terms."""
    g = conjugate.geometry
    own = _inverse_of(g, where)
    images = [spread(e.xreplace(own), at) for e in _natural_of(g, where)]
    log_partition = exponentials(g.log_partition)
    moved = log_partition.xreplace(dict(zip(g.natural, images, strict=True)))
    slope = log_determinant(images, tuple(sorted((c.symbol for c in where), key=str)), at)
    if slope.has(sp.zoo, sp.nan):
        return None
    pairing = [c * e for c, e in zip(conjugate.chi, images, strict=True)]
    return sp.expand(sp.Add(*pairing) - conjugate.nu * spread(moved, at) + slope)


def _inside(where: tuple[Coordinate, ...], g: Geometry) -> dict[Expr, Expr]:
    """A point inside the ranges of the coordinates and of the known constants."""
    from blrgen.geometry.verify import inside

    point: dict[Expr, Expr] = {}
    for p in g.family.fixed:
        point[p.symbol] = inside(p.domain, sp.Rational(4, 3), point)
    for k, c in enumerate(where):
        ends = Domain("interval", c.lower, c.upper)
        point[c.symbol] = inside(ends, sp.Rational(5 + 2 * k, 7), point)
    return point


def _natural_of(g: Geometry, where: tuple[Coordinate, ...]) -> list[Expr]:
    """λ in the names that the coordinates are functions of."""
    names = set().union(*(c.shown.free_symbols for c in where))
    if names & set(g.natural):
        return list(g.natural)
    if names & set(g.working):
        return [g.natural_of_working[x] for x in g.natural]
    return [exponentials(e) for e in g.inverse_mean or ()]


def _inverse_of(g: Geometry, where: tuple[Coordinate, ...]) -> dict[Expr, Expr]:
    from blrgen.geometry.inverse import mean_symbols

    names = {*g.natural, *g.working, *mean_symbols(g)}
    return {next(iter(c.shown.free_symbols & names)): c.back for c in where}
