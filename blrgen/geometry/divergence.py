"""Divergences between two members of a family, all of them read off from A.

    KL(q‖q′)  = ⟨λ − λ′, μ⟩ − A(λ) + A(λ′)                    the Bregman divergence of A
              = A*(μ) − A*(μ′) − ⟨λ′, μ − μ′⟩                 of its conjugate A* = ⟨λ, μ⟩ − A
    H(q, q′)  = A(λ′) − ⟨λ′, μ⟩ − E_q[log h]                  cross-entropy
    D_α(q‖q′) = (A(αλ + (1−α)λ′) − αA(λ) − (1−α)A(λ′))/(α − 1)     Rényi
    BC        = exp(A(½λ + ½λ′) − ½A(λ) − ½A(λ′)),   Hellinger² = 1 − BC

because log q − log q′ = ⟨λ − λ′, T⟩ − A(λ) + A(λ′) is linear in T (the base measure
cancels), and ∫ q^α q′^(1−α) is the same integral as the one that defines A.  The second
member has the same names with a prime: NAME_0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.algebra.partial import NoDerivative
from blrgen.algebra.ring import gradient
from blrgen.core import Domain
from blrgen.decide.proof import Proof, weakest
from blrgen.geometry.readable import opened, rational, readable, weighted

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


@dataclass(frozen=True)
class Condition:
    """What must hold for a closed form to be one: each expression lies in its domain."""

    members: tuple[tuple[Expr, Domain], ...]
    because: str


@dataclass(frozen=True, eq=False)
class Divergence:
    """KL, its relatives and their proofs, for members λ and λ′ (ψ and ψ′) of one family."""

    geometry: Geometry
    prime: dict[Expr, Expr] = field(default_factory=dict)  # λ → λ′, ψ → ψ′, μ → μ′
    alpha: Expr = None

    # in natural coordinates

    @cached_property
    def kl(self) -> Expr:
        """KL(q‖q′) as the Bregman divergence of A."""
        return self._short(self._bregman())

    @cached_property
    def reverse_kl(self) -> Expr:
        """KL(q′‖q): the two members exchanged."""
        return self._short(self.exchanged(self._bregman()))

    @cached_property
    def cross_entropy(self) -> Expr:
        """H(q, q′) = −E_q[log q′]."""
        return self._short(self._cross())

    def _cross(self) -> Expr:
        g = self.geometry
        other = self._primed(g.log_partition) - self._paired([self.prime[x] for x in g.natural])
        return other - g.expected_log_base

    @cached_property
    def renyi(self) -> Expr:
        """D_α(q‖q′), for α where the mixed parameter lies in the natural domain."""
        return self._divided(self._mixed(self.alpha))

    @cached_property
    def bhattacharyya(self) -> Expr:
        """−log ∫ √(q q′): always finite, the natural domain being convex."""
        return self._short(-self._mixed(sp.Rational(1, 2)))

    @cached_property
    def renyi_condition(self) -> Condition:
        """αλ + (1−α)λ′ in the natural domain: always so for 0 < α < 1."""
        g, a = self.geometry, self.alpha
        mixed = {x: a * x + (1 - a) * self.prime[x] for x in g.natural}
        members = []
        for p in g.family.natural:
            d = p.domain
            if d.kind == "vector" or (d.kind == "interval" and _whole_line(d)):
                continue
            ends = {n: _at(getattr(d, n), mixed) for n in ("lower", "upper")}
            members.append((mixed[p.symbol], Domain(d.kind, ends["lower"], ends["upper"], d.size,
                            d.text, d.lower_open, d.upper_open)))  # fmt: skip
        because = "αλ + (1−α)λ′ lies in the natural domain; for 0 < α < 1 it does, by convexity"
        return Condition(tuple(members), because)

    # in working coordinates

    @cached_property
    def kl_in_working(self) -> Expr:
        """KL(q‖q′) with both members in working parameters."""
        return self._opened(self.in_working(self._bregman()))

    @cached_property
    def cross_entropy_in_working(self) -> Expr:
        """H(q, q′) in working parameters."""
        return self._opened(self.in_working(self._cross()))

    @cached_property
    def renyi_in_working(self) -> Expr:
        """D_α(q‖q′) in working parameters."""
        return self._divided(self.in_working(self._mixed(self.alpha)), self._opened)

    @cached_property
    def renyi_sum(self) -> Expr:
        """(α − 1)D_α(q‖q′), a sum of terms; in working parameters where there are any."""
        e = self.in_working(self._mixed(self.alpha))
        if not self.geometry.ring.elementwise:
            return self.geometry.ring.tidy(e)
        return weighted(self._opened(e), self.alpha)

    # in mean coordinates

    @cached_property
    def dual_potential(self) -> Expr | None:
        """A*(μ) = ⟨λ(μ), μ⟩ − A(λ(μ)), where λ(μ) has a closed form."""
        from blrgen.geometry.inverse import mean_symbols

        g = self.geometry
        if g.inverse_mean is None:
            return None
        symbols = mean_symbols(g)
        image = dict(zip(g.natural, g.inverse_mean, strict=True))
        pairing = [g.ring.inner(image[x], m) for x, m in zip(g.natural, symbols, strict=True)]
        return self._short(sp.Add(*pairing) - g.log_partition.xreplace(image))

    @cached_property
    def kl_in_mean(self) -> Expr | None:
        """A*(μ) − A*(μ′) − ⟨λ(μ′), μ − μ′⟩."""
        from blrgen.geometry.inverse import mean_symbols

        g, potential = self.geometry, self.dual_potential
        if potential is None:
            return None
        symbols = mean_symbols(g)
        slopes = [self._primed(x) for x in g.inverse_mean or ()]
        steps = [m - self.prime[m] for m in symbols]
        pairing = [g.ring.inner(s, d) for s, d in zip(slopes, steps, strict=True)]
        return self._short(potential - self._primed(potential) - sp.Add(*pairing))

    # how it is known

    @cached_property
    def proofs(self) -> tuple[Proof, ...]:
        """The identities behind the page, each proved as far as it goes."""
        return tuple(self._proofs())

    @property
    def level(self) -> str:
        """The weakest level among the proofs."""
        return weakest(p.level for p in self.proofs)

    def _proofs(self) -> Iterable[Proof]:
        from blrgen.decide.equal import equal
        from blrgen.geometry.integrate import exponent_of

        g, d = self.geometry, self.domains
        log_q = exponent_of(g.family, g.ring) - g.log_partition
        linear = self._paired(self._steps(), g.family.statistics)
        free = self._primed(g.log_partition) - g.log_partition
        yield equal(log_q - self._primed(log_q), linear + free, d,
                    claim="log q − log q′ = ⟨λ − λ′, T⟩ − A(λ) + A(λ′)")  # fmt: skip
        kl = self._paired(self._steps()) + free
        yield equal(self._cross() - g.entropy, kl, d, claim="KL = H(q, q′) − 𝓗(q)")
        star = self._paired(g.natural) - g.log_partition
        steps = [m - self._primed(m) for m in g.mean]
        other = [self.prime[x] for x in g.natural]
        dual = star - self._primed(star) - self._paired(other, steps)
        yield equal(dual, kl, d, claim="KL = A*(μ) − A*(μ′) − ⟨λ′, μ − μ′⟩")
        if g.ring.elementwise:
            yield from self._slopes(kl)
            yield from self._limit(kl)
        if g.family.working:
            yield equal(self.in_working(kl), self.kl_in_working, d,
                        claim="KL in working parameters")  # fmt: skip
        else:
            yield equal(kl, self.kl, d, claim="KL in natural parameters")

    def _slopes(self, kl: Expr) -> Iterable[Proof]:
        """∇_λ′ KL = μ′ − μ, where A has derivatives in closed form."""
        from blrgen.decide.equal import equal

        g = self.geometry
        for k, (x, m) in enumerate(zip(g.natural, g.mean, strict=True), 1):
            try:
                slope = gradient(kl, self.prime[x])
            except NoDerivative:
                continue
            yield equal(slope, self._primed(m) - m, self.domains,
                        claim=f"∂KL/∂λ′{k} = μ′{k} − μ{k}")  # fmt: skip

    def _limit(self, kl: Expr) -> Iterable[Proof]:
        """D_α → KL: the derivative of (α − 1)D_α at α = 1."""
        from blrgen.decide.equal import equal

        try:
            slope = gradient(self._mixed(self.alpha), self.alpha)
        except NoDerivative:
            return
        at_one = slope.subs(self.alpha, 1)
        yield equal(at_one, kl, self.domains, claim="D_α → KL as α → 1")

    @cached_property
    def domains(self) -> dict[Expr, str]:
        """Every name of both members, with its domain's text, for proofs and samples."""
        family = self.geometry.family
        known = {p.symbol: p.domain.text.split("^")[0]
                 for p in (*family.natural, *family.working, *family.fixed)
                 if p.domain.kind == "interval"}  # fmt: skip
        names = {x.name: y.name for x, y in self.prime.items()}

        def primed(text: str) -> str:  # bounds of the second member are its own
            return re.sub(r"[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), text)

        known |= {self.prime[x]: primed(text) for x, text in known.items() if x in self.prime}
        if family.support.kind == "interval":
            known[family.variable] = family.support.text.split("^")[0]
        return known

    # numbers

    def at(
        self, e: Expr, point: Mapping[str, Any], other: Mapping[str, Any], digits: int = 16
    ) -> tuple[Any, Any]:
        """(value, error) of one of these at two members given by name.

        Where λ is close to λ′ nearly everything cancels; digits are added until what is
        left stands still.  The constants and alpha are in `point`.
        """
        import mpmath

        from blrgen.value.digits import evaluate_at

        names = {x.name: x for x in self.prime}
        values = {names[n]: v for n, v in point.items() if n in names}
        values |= {self.prime[names[n]]: v for n, v in other.items() if n in names}
        rest = (self.alpha, *(p.symbol for p in self.geometry.family.fixed))
        values |= {x: point[x.name] for x in rest if x.name in point}
        exact = {
            x: sp.Rational(*v.as_integer_ratio()) if isinstance(v, float) else v
            for x, v in values.items()
        }
        if all(exact.get(x, 0) == exact.get(y, 0) for x, y in self.prime.items()):
            e = sp.expand(e.xreplace({y: x for x, y in self.prime.items()}))
            if e == 0:
                return mpmath.mpf(0), mpmath.mpf(0)
        return evaluate_at(e, exact, digits)

    # the pieces

    def exchanged(self, e: Expr) -> Expr:
        """The two members exchanged."""
        both = {**self.prime, **{b: a for a, b in self.prime.items()}}
        return e.xreplace(both)

    def in_working(self, e: Expr) -> Expr:
        """λ and λ′ replaced by their charts."""
        chart = self.geometry.natural_of_working
        both = {**chart, **{self.prime[x]: self._primed(f) for x, f in chart.items()}}
        return e.xreplace(both)

    def _bregman(self) -> Expr:
        g = self.geometry
        moving = _moving_part(g.log_partition, g.natural)
        return self._paired(self._steps()) - moving + self._primed(moving)

    def _mixed(self, a: Expr) -> Expr:
        """A(aλ + (1−a)λ′) − aA(λ) − (1−a)A(λ′), without what cancels."""
        g = self.geometry
        moving = _moving_part(g.log_partition, g.natural)
        mixed = {x: a * x + (1 - a) * self.prime[x] for x in g.natural}
        between = moving.xreplace(mixed)
        return between - a * moving - (1 - a) * self._primed(moving)

    def _divided(self, e: Expr, short: Callable[[Expr], Expr] | None = None) -> Expr:
        """e/(α − 1); the rational part is divided by itself, where it may cancel."""
        a = self.alpha
        if not self.geometry.ring.elementwise:
            return self.geometry.ring.tidy(e) / (a - 1)
        terms = sp.Add.make_args((short or self._short)(e))
        plain = sp.Add(*[t for t in terms if rational(t)])
        rest = sp.Add(*[t for t in terms if not rational(t)])
        return weighted(sp.factor(plain / (a - 1)) + rest / (a - 1), a)

    def _steps(self) -> list[Expr]:
        return [x - self.prime[x] for x in self.geometry.natural]

    def _paired(self, left: Iterable[Expr], right: Iterable[Expr] | None = None) -> Expr:
        """Σ ⟨left_i, right_i⟩; against the mean where nothing is said."""
        g = self.geometry
        other = g.mean if right is None else right
        return sp.Add(*[g.ring.inner(a, b) for a, b in zip(left, other, strict=True)])

    def _primed(self, e: Expr) -> Expr:
        return e.xreplace(self.prime)

    def _opened(self, e: Expr) -> Expr:
        """As `_short`, with the logarithms and exponentials that charts bring in opened up."""
        chart = self.geometry.natural_of_working.values()
        if not self.geometry.ring.elementwise or not any(x.atoms(sp.Function) for x in chart):
            return self._short(e)
        return opened(e, self.point)

    @cached_property
    def point(self) -> dict[Expr, Expr]:
        """A point inside the domains of all names of both members."""
        from blrgen.geometry.verify import interior_points

        g = self.geometry
        at = interior_points(g.family, 1)[0]
        at |= {w: g.working_of_natural[w].xreplace(at) for w in g.working if w not in at}
        return at | {other: at[x] for x, other in self.prime.items() if x in at}

    def _short(self, e: Expr) -> Expr:
        ring = self.geometry.ring
        return readable(e) if ring.elementwise else ring.tidy(e)


def divergence_of(geometry: Geometry) -> Divergence:
    """The divergences of a family, with names for the second member and for α."""
    from blrgen.geometry.inverse import mean_symbols

    family, ring = geometry.family, geometry.ring
    taken = {p.name for p in (*family.natural, *family.working, *family.fixed)}
    taken |= {str(family.variable)}
    prime: dict[Expr, Expr] = {}
    for x in dict.fromkeys((*geometry.natural, *geometry.working, *mean_symbols(geometry))):
        name = unused(f"{x.name}_0", taken)
        taken.add(name)
        prime[x] = ring.symbol_like(x, name)
    order = next((n for n in ("alpha", "rho", "omega") if n not in taken), "order")
    return Divergence(geometry, prime, sp.Symbol(unused(order, taken), real=True))


def unused(name: str, taken: Iterable[str]) -> str:
    """The name, lengthened until nothing else has it."""
    taken = set(taken)
    while name in taken:
        name += "_0"
    return name


def _moving_part(e: Expr, names: tuple[Expr, ...]) -> Expr:
    """The terms that depend on the parameters: a constant cancels in every difference."""
    return sp.Add(*[t for t in sp.Add.make_args(e) if t.has(*names)])


def _whole_line(d: Domain) -> bool:
    return d.lower in (None, -sp.oo) and d.upper in (None, sp.oo)


def _at(bound: Expr, mixed: dict[Expr, Expr]) -> Expr:
    return bound if bound is None else sp.sympify(bound).xreplace(mixed)
