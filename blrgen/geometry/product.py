"""The geometry of a product: sums and blocks of what its factors have.

A = Σ A_k     μ = (μ_1, …)     F block diagonal     𝓗 = Σ 𝓗_k     ∇_μ𝓗 = (∇_{μ_k}𝓗_k)
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from blrgen.algebra.ring import Matrix, Ring, ring_of
from blrgen.core import Family
from blrgen.errors import InternalError
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.geometry.integrate import Integral

Expr = Any


@dataclass(frozen=True, eq=False)
class Product(Geometry):
    """Every quantity from the factors' own geometries; nothing is derived twice."""

    factors: tuple[Geometry, ...] = ()

    @property
    def working(self) -> tuple[Expr, ...]:
        return tuple(x for g in self.factors for x in g.working)

    def factor_of(self, x: Expr) -> Geometry:
        """The factor that a natural or working parameter belongs to."""
        return next(g for g in self.factors if x in (*g.natural, *g.working))

    @cached_property
    def mean_in_working(self) -> tuple[Expr, ...]:
        return tuple(m for g in self.factors for m in g.mean_in_working)

    @cached_property
    def fisher(self) -> tuple[tuple[Expr, ...], ...]:
        rows = []
        before, total = 0, len(self.natural)
        for g in self.factors:
            after = total - before - len(g.natural)
            for row in g.fisher:
                rows.append((*[sp.S.Zero] * before, *row, *[sp.S.Zero] * after))
            before += len(g.natural)
        return tuple(rows)

    @cached_property
    def expected_log_base(self) -> Expr:
        return sp.Add(*[g.expected_log_base for g in self.factors])

    @cached_property
    def entropy(self) -> Expr:
        return sp.Add(*[g.entropy for g in self.factors])

    @cached_property
    def entropy_gradient(self) -> tuple[Expr, ...]:
        return tuple(e for g in self.factors for e in g.entropy_gradient)

    def mean_gradient_of(self, f: Expr) -> tuple[Expr, ...]:
        """∇_μ f, factor by factor: F is block diagonal."""
        return tuple(e for g in self.factors for e in g.mean_gradient_of(f))

    @cached_property
    def inverse_mean(self) -> tuple[Expr, ...] | None:
        """Each factor's, in the product's mu1, mu2, …; None where one has no known closed form."""
        from blrgen.geometry.inverse import mean_symbols

        symbols, found = list(mean_symbols(self)), list[Expr]()
        for g in self.factors:
            own = mean_symbols(g)
            if g.inverse_mean is None:
                return None
            # the factor's names may be the product's: through dummies
            apart = {x: sp.Dummy(commutative=x.is_commutative) for x in own}
            back = dict(zip(apart.values(), symbols[len(found) :], strict=False))
            found += [e.xreplace(apart).xreplace(back) for e in g.inverse_mean]
        return tuple(found)


def product_geometry(family: Family) -> Product:
    """The factors' geometries and their sum."""
    factors = tuple(geometry_of(f) for f in family.factors)
    forward: dict[Expr, Expr] = {}
    backward: dict[Expr, Expr] = {}
    for g in factors:
        forward |= g.natural_of_working
        backward |= g.working_of_natural
    return Product(
        family, _ring(family), _integral(factors), tuple(m for g in factors for m in g.mean),
        forward, backward, _evidence(factors), factors,
    )  # fmt: skip


def _ring(family: Family) -> Ring:
    """The factors' own where it is one, else that of matrices, which has numbers too."""
    rings = [ring_of(f) for f in family.factors]
    return rings[0] if all(type(r) is type(rings[0]) for r in rings) else Matrix()


def _integral(factors: tuple[Geometry, ...]) -> Integral:
    methods = list(dict.fromkeys(g.integral.method for g in factors))
    return Integral(
        sp.Add(*[g.log_partition for g in factors]),
        "numeric" if "numeric" in methods else "product",
        "the factors are independent, so A is the sum of theirs ("
        + "; ".join(f"{g.family.title}: {g.integral.method}" for g in factors)
        + ")",
        conditions=tuple(c for g in factors for c in g.integral.conditions),
    )


def _evidence(factors: tuple[Geometry, ...]) -> dict[str, str]:
    """What the factors say, once where they agree."""
    claims = list(dict.fromkeys(c for g in factors for c in g.evidence))
    found = {}
    for claim in claims:
        said = list(dict.fromkeys(g.evidence[claim] for g in factors if claim in g.evidence))
        if not said:
            raise InternalError(f"no evidence for {claim}")
        levels = [s.split(":")[0] for s in said]
        same = all(level == levels[0] for level in levels)
        found[claim] = said[0] if len(said) == 1 else (
            f"{levels[0]}: {'; '.join(s.partition(': ')[2] or s for s in said)}"
            if same else f"{_weakest(levels)}: {'; '.join(said)}"
        )  # fmt: skip
    return found


def _weakest(levels: list[str]) -> str:
    order = ("given", "numeric", "derived", "random-exact", "identity")
    known = [x for x in order if x in levels]
    return known[0] if known else levels[0]
