"""The conjugate prior of a family as a likelihood, and Bayes' rule with it.

    p(λ | χ, ν) ∝ exp(⟨χ, λ⟩ − ν A(λ))  dλ
    χ ← χ + Σ T(x_i),   ν ← ν + n                                  the posterior
    p(x | χ, ν) = h(x) exp(B(χ + T(x), ν + 1) − B(χ, ν)),   B = log ∫ exp(⟨χ, λ⟩ − νA) dλ

In other coordinates y the density is the same measure, so it carries |∂λ/∂y|.  The prior
is a family itself, with statistics (λ, −A(λ)); which one of the families that blrgen
ships is found in `recognise`, by matching exponents.

For an open natural domain that holds every λ with finite A, the prior is proper exactly
when ν > 0 and χ/ν is inside the convex hull of the values of T (Diaconis and Ylvisaker).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.algebra.partial import partial
from blrgen.geometry.divergence import unused
from blrgen.geometry.readable import exponentials, open_log, readable, shifted, spread

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry
    from blrgen.geometry.recognise import Recognised

Expr = Any
PROPER = (
    "ν > 0 and χ/ν inside the convex hull of the values of T "
    "(when the natural domain is open and holds every λ with finite A)"
)


@dataclass(frozen=True, eq=False)
class Conjugate:
    """The prior, its update, its name where it has one, and the predictive density."""

    geometry: Geometry

    @cached_property
    def chi(self) -> tuple[Expr, ...]:
        """χ, one of the rank of each natural parameter: prior sums of statistics."""
        from blrgen.algebra.directions import direction_symbol

        several = len(self.geometry.natural) > 1
        return tuple(
            direction_symbol(x, unused(f"chi{i if several else ''}", self._taken))
            for i, x in enumerate(self.geometry.natural, 1)
        )

    @cached_property
    def nu(self) -> Expr:
        """ν: the number of observations that the prior counts for."""
        return sp.Symbol(unused("nu", self._taken), real=True)

    @property
    def _taken(self) -> set[str]:
        family = self.geometry.family
        named = (*family.natural, *family.working, *family.fixed)
        return {p.name for p in named} | {x.name for x in variables_of(family)}

    @cached_property
    def log_prior(self) -> Expr:
        """log p(λ | χ, ν) up to a constant, for dλ."""
        g = self.geometry
        pairing = [g.ring.inner(c, x) for c, x in zip(self.chi, g.natural, strict=True)]
        return sp.Add(*pairing) - self.nu * g.log_partition

    @cached_property
    def log_jacobian(self) -> Expr | None:
        """log|∂λ/∂ψ|; None where the chart is not triangular in blocks."""
        g = self.geometry
        if not g.family.working:
            return sp.S.Zero
        images = [g.natural_of_working[x] for x in g.natural]
        if getattr(g.ring, "components", False):
            return None
        if not g.ring.elementwise:
            from blrgen.geometry.recognise_matrix import block_determinant

            return block_determinant(images, g.working)
        return log_determinant(images, g.working, g.divergence.point)

    @cached_property
    def log_prior_in_working(self) -> Expr | None:
        """log p(ψ | χ, ν) up to a constant, for dψ: with the chart's Jacobian."""
        g = self.geometry
        if self.log_jacobian is None:
            return None
        if not g.family.working:
            return sp.Add(*[t for t in sp.Add.make_args(self.log_prior) if t.has(*g.natural)])
        if not g.ring.elementwise:
            moved = g.ring.tidy(g.to_working(self.log_prior) + self.log_jacobian)
            return sp.Add(*[t for t in sp.Add.make_args(moved) if t.has(*g.working)])
        at = g.divergence.point
        moved = spread(exponentials(self.log_prior).xreplace(g.natural_of_working), at)
        whole = spread(moved, at) + self.log_jacobian
        moving = [t for t in sp.Add.make_args(sp.expand(whole)) if t.has(*g.working)]
        return readable(sp.Add(*moving))

    @cached_property
    def recognised(self) -> Recognised | None:
        """The family this prior is, where it is one that blrgen ships."""
        from blrgen.geometry.recognise import recognise

        return recognise(self)

    @cached_property
    def log_predictive(self) -> Expr | None:
        """log p(x | χ, ν) of one more observation, where B is known: from the family found."""
        found = self.recognised
        if found is None or found.log_normaliser is None:
            return None
        g = self.geometry
        after = {c: c + t for c, t in zip(self.chi, g.family.statistics, strict=True)}
        after[self.nu] = self.nu + 1
        b = found.log_normaliser
        from blrgen.geometry.integrate import log_base

        change = b.xreplace(after) - b
        return shifted(readable(log_base(g.family) + shifted(change)))

    @property
    def propriety(self) -> str:
        """When the prior is a density, in words."""
        return PROPER


def variables_of(family: Any) -> tuple[Expr, ...]:
    """The random variables of a declaration: one, or several of a joint one."""
    several = getattr(family, "variables", None)
    return tuple(several) if several else (family.variable,)


def log_determinant(
    images: list[Expr], names: tuple[Expr, ...], point: Mapping[Expr, Expr]
) -> Expr:
    """log|det ∂images/∂names| on a connected domain that holds the point."""
    matrix = sp.Matrix([[partial(e, x) for x in names] for e in images])
    d = matrix.det(method="berkowitz") if len(names) > 1 else matrix[0, 0]
    return open_log(sp.factor(d), point)
