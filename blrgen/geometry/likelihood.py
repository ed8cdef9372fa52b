"""Maximum likelihood is a moment match: the mean parameters are the means of the statistics.

With t = (1/n) Σ T(x_i) the sample's mean,

    (1/n) log p(x₁ … x_n | λ) = ⟨λ, t⟩ − A(λ) + (1/n) Σ log h(x_i)

has gradient t − μ(λ) and Hessian −F(λ): it is concave, and μ(λ) = t at its maximum.  The
covariance of that λ is F⁻¹/n for large n, that of the working parameters F_ψ⁻¹/n.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from blrgen.geometry.readable import readable

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


@dataclass(frozen=True, eq=False)
class Likelihood:
    """What the mean of the statistics over a sample says of the parameters."""

    geometry: Geometry

    @cached_property
    def statistics(self) -> tuple[Expr, ...]:
        """The symbols t_bar, or t1_bar, t2_bar, …: means of the statistics over the sample."""
        from blrgen.algebra.directions import direction_symbol
        from blrgen.geometry.divergence import unused

        g = self.geometry
        family = g.family
        taken = {p.name for p in (*family.natural, *family.working, *family.fixed)}
        several = len(g.natural) > 1
        return tuple(
            direction_symbol(x, unused(f"t{i if several else ''}_bar", taken))
            for i, x in enumerate(g.natural, 1)
        )

    @cached_property
    def natural(self) -> tuple[Expr, ...] | None:
        """λ where μ(λ) = t; None without a closed inverse (then by Newton's method)."""
        from blrgen.geometry.inverse import mean_symbols

        g = self.geometry
        if g.inverse_mean is None:
            return None
        image = dict(zip(mean_symbols(g), self.statistics, strict=True))
        return tuple(self._short(e.xreplace(image)) for e in g.inverse_mean)

    @cached_property
    def working(self) -> tuple[Expr, ...] | None:
        """The working parameters there, or None."""
        g = self.geometry
        if self.natural is None:
            return None
        image = dict(zip(g.natural, self.natural, strict=True))
        back = [g.working_of_natural[w].xreplace(image) for w in g.working]
        return tuple(self._short(e) for e in back)

    @cached_property
    def equations(self) -> tuple[tuple[Expr, Expr], ...]:
        """(μ_i(ψ), t_i): what the estimate solves, in working parameters where there are any."""
        return tuple(zip(self.geometry.mean_in_working, self.statistics, strict=True))

    def _short(self, e: Expr) -> Expr:
        return readable(e) if self.geometry.ring.elementwise else self.geometry.ring.tidy(e)
