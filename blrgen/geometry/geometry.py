"""The geometry of a family: A, μ = ∇A, F = ∇²A, entropy, charts.

𝓗 = A − ⟨λ, μ⟩ − E_q[log h],     ∇_μ 𝓗 = −λ − ∇_μ E_q[log h].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient
from blrgen.algebra.directions import direction_symbol, directional
from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.partial import NoDerivative, partial
from blrgen.algebra.ring import Matrix, Ring, ring_of
from blrgen.algebra.solve import solve_linear
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.absorbed import affine_in_statistics, pairing
from blrgen.geometry.charts import charts
from blrgen.geometry.derived import Derived
from blrgen.geometry.expected import expected, from_source
from blrgen.geometry.integrate import Integral, log_base, log_integral
from blrgen.geometry.numbers.nodes import mean_node
from blrgen.geometry.verify import check_normalisable, verify_log_partition

Expr = Any
_LARGE = 400  # operations beyond which a solution is left with its common denominator


@dataclass(frozen=True, eq=False)
class Geometry(Derived):
    """Derived once from a declaration; everything is a function of the natural parameters."""

    family: Family
    ring: Ring
    integral: Integral
    mean: tuple[Expr, ...]
    natural_of_working: dict[Expr, Expr]
    working_of_natural: dict[Expr, Expr]
    evidence: dict[str, str] = field(default_factory=dict)

    @property
    def natural(self) -> tuple[Expr, ...]:
        return tuple(p.symbol for p in self.family.natural)

    @property
    def working(self) -> tuple[Expr, ...]:
        """The working parameters; the natural ones when none are declared."""
        return tuple(p.symbol for p in self.family.working) or self.natural

    @property
    def log_partition(self) -> Expr:
        return self.integral.log_partition

    def to_working(self, x: Expr) -> Expr:
        """x(λ) as a function of the working parameters."""
        return self.ring.tidy(x.xreplace(self.natural_of_working))

    @cached_property
    def mean_in_working(self) -> tuple[Expr, ...]:
        return tuple(self.to_working(m) for m in self.mean)

    @cached_property
    def fisher(self) -> tuple[tuple[Expr, ...], ...]:
        """F = ∂μ/∂λ for scalar parameters; for matrices see `metric`."""
        size = range(len(self.natural))
        return tuple(tuple(self._covariance(i, j) for j in size) for i in size)

    def _covariance(self, i: int, j: int) -> Expr:
        """∂μ_i/∂λ_j = ∂μ_j/∂λ_i, the one with fewer numbers by quadrature.

        Where it has no known closed form, E[T_i T_j] − μ_i μ_j.
        """
        if i > j:
            return self._covariance(j, i)
        if has_nodes(self.mean[i]) and not has_nodes(self.mean[j]):
            i, j = j, i
        try:
            return partial(self.mean[i], self.natural[j])
        except NoDerivative:
            t = self.family.statistics
            return mean_node(self.family, t[i] * t[j]) - self.mean[i] * self.mean[j]

    @cached_property
    def expected_log_base(self) -> Expr:
        """E_q[log h] as a function of λ."""
        return expected_log_base(self.family, self.integral, self.mean, self.ring)

    @cached_property
    def absorbed_base(self) -> tuple[Expr, tuple[Expr, ...]] | None:
        """(c, (c_i)) where log h = c + Σ⟨c_i, T_i⟩; None where it is not, or is constant."""
        log_h = log_base(self.family)
        plain = self.family.components is None and not self.family.factors
        if not plain or log_h == 0 or not log_h.has(*self.family.variables):
            return None
        return affine_in_statistics(self.family, log_h)

    @cached_property
    def entropy(self) -> Expr:
        pairing = [self.ring.inner(x, m) for x, m in zip(self.natural, self.mean, strict=True)]
        return self.ring.tidy(self.log_partition - sp.Add(*pairing) - self.expected_log_base)

    @cached_property
    def entropy_gradient(self) -> tuple[Expr, ...]:
        """∇_μ𝓗, in natural coordinates: −λ − F⁻¹∇_λ E_q[log h], or −λ − c where log h is affine."""
        absorbed = self.absorbed_base
        if absorbed is not None:
            return tuple(
                self.ring.tidy(-x - c) for x, c in zip(self.natural, absorbed[1], strict=True)
            )
        extra = self.mean_gradient_of(self.expected_log_base)
        return tuple(-x - e for x, e in zip(self.natural, extra, strict=True))

    def mean_gradient_of(self, f: Expr) -> tuple[Expr, ...]:
        """∇_μ f = F⁻¹ ∇_λ f for a scalar function of λ."""
        if not f.free_symbols & set(self.natural):
            return tuple(sp.S.Zero for _ in self.natural)
        slopes = [gradient(f, x) for x in self.natural]
        return self.solve_dual(slopes, self.mean, self.natural)

    def solve_dual(
        self, slopes: list[Expr], mean: tuple[Expr, ...], coordinates: tuple[Expr, ...]
    ) -> tuple[Expr, ...]:
        """∇_μ f from ∇_x f in coordinates x: slope_x = ∇_x Σ⟨Y_i, μ_i(x)⟩ solved for Y."""
        unknowns = [direction_symbol(x, f"Y{i + 1}") for i, x in enumerate(self.natural)]
        pairing = sp.Add(*[self.ring.inner(y, m) for y, m in zip(unknowns, mean, strict=True)])
        equations = [
            gradient(pairing, x) - slope for x, slope in zip(coordinates, slopes, strict=True)
        ]
        found = solve_linear(equations, unknowns)
        return tuple(
            self.ring.tidy(found[y]) if sp.count_ops(found[y]) <= _LARGE else found[y]
            for y in unknowns
        )

    @cached_property
    def inverse_mean(self) -> tuple[Expr, ...] | None:
        """λ as a function of mu, or mu1, mu2, …; None where there is no known closed form."""
        from blrgen.geometry.inverse import inverse_mean

        return inverse_mean(self)

    def metric(self, x: Expr, left: Expr, right: Expr) -> Expr:
        """g_x(left, right): the Fisher metric's block of the working parameter x.

        ⟨dλ, dμ⟩ with only x moving, by `left` in λ and by `right` in μ.
        """
        terms = []
        for lam, mu in zip(self.natural, self.mean_in_working, strict=True):
            d_lam = directional(self.natural_of_working[lam], x, left)
            d_mu = directional(mu, x, right)
            terms.append(self.ring.inner(d_lam, d_mu))
        return self.ring.tidy(sp.Add(*terms))

    def mixed_metric(self, x: Expr, y: Expr) -> Expr:
        """The Fisher metric's entry between two different working parameters."""
        left, right = direction_symbol(x, "X"), direction_symbol(y, "Y")
        terms = [
            self.ring.inner(
                directional(self.natural_of_working[lam], x, left), directional(mu, y, right)
            )
            for lam, mu in zip(self.natural, self.mean_in_working, strict=True)
        ]
        return self.ring.tidy(sp.Add(*terms))


def verified_integral(family: Family, ring: Ring) -> tuple[Integral, str]:
    """The log-partition and its evidence; a density that diverges or a wrong A is refused."""
    integral = log_integral(family, ring)
    if ring.components:
        from blrgen.geometry.verify_components import verify_components

        return integral, verify_components(family, integral)
    if integral.quadratic is not None:
        check_normalisable(family, integral.quadratic[2], ring)
    if integral.conditions and (isinstance(ring, Matrix) or family.joint):
        from blrgen.geometry.at_sizes import check_conditions

        check_conditions(family, integral.conditions)
    return integral, verify_log_partition(family, integral, ring)


def geometry_of(family: Family) -> Geometry:
    """Derive the geometry; a given closed form is verified first."""
    if family.factors:
        from blrgen.geometry.product import product_geometry

        return product_geometry(family)
    ring = ring_of(family)
    integral, level = verified_integral(family, ring)
    evidence = {
        "log_partition": level,
        "mean": "derived: ∇A",
        "fisher": "derived: ∇²A",
        "entropy": "derived: A − ⟨λ, μ⟩ − E_q[log h]",
        "entropy_gradient": "derived: −λ − ∇_μ E_q[log h]",
    }
    if family.working:
        evidence["natural_of_working"] = "identity: solved in both directions, round trip checked"
    mean = tuple(_mean_of(family, integral.log_partition, i, ring)
                 for i in range(len(family.natural)))  # fmt: skip
    forward, backward = charts(family, ring)
    return Geometry(family, ring, integral, mean, forward, backward, evidence)


@lru_cache(maxsize=64)
def kept_geometry(family: Family) -> Geometry:
    """The geometry, found once for all of a model's blocks that are of this family."""
    return geometry_of(family)


def _mean_of(family: Family, log_partition: Expr, i: int, ring: Ring) -> Expr:
    """∂A/∂λ_i, with sinh/cosh written as tanh, which does not overflow.

    Where A has no derivative in closed form (a Bessel function in its order) E_q[T_i] stands.
    """
    try:
        slope = gradient(log_partition, family.natural[i].symbol)
    except NoDerivative:
        return mean_node(family, family.statistics[i])
    return ring.tidy(slope.replace(sp.sinh, lambda a: sp.tanh(a) * sp.cosh(a)))


def expected_log_base(
    family: Family, integral: Integral, mean: tuple[Expr, ...], ring: Ring
) -> Expr:
    """E_q[log h]: zero for constant h, moments of a quadratic under a Gaussian, a finite sum."""
    log_h = log_base(family)
    if log_h == 0 or not log_h.has(*family.variables):
        return sp.sympify(log_h)
    if ring.components:
        from blrgen.geometry.integrate.component_moments import expected as by_components

        return by_components(family, log_h, mean, ring)
    if isinstance(ring, Matrix) or family.joint or family.support.kind == "finite":
        absorbed = affine_in_statistics(family, log_h)
        if absorbed is not None:
            return ring.tidy(pairing(*absorbed, mean, family, ring))
    if family.support.kind == "finite":
        from blrgen.geometry.integrate import exponent_of

        weight = exponent_of(family, ring) - integral.log_partition
        terms = [(log_h * sp.exp(weight)).subs(family.variable, p) for p in family.support.points]
        return sp.Add(*terms)
    if integral.quadratic is not None and _is_quadratic(log_h, family.variable, ring):
        return gaussian_moment(log_h, family.variable, integral.quadratic, ring)
    if ring.elementwise and family.joint:
        return mean_node(family, log_h)
    if ring.elementwise:
        return expected(family, log_h, integral, mean, ring)
    found = from_source(family, log_h, ring)
    if found is None:
        raise _no_moment(family)
    return found


def gaussian_moment(f: Expr, theta: Expr, quadratic: tuple[Expr, Expr, Expr], ring: Ring) -> Expr:
    """E[c + ⟨b,θ⟩ + ½⟨θ,Qθ⟩] = c + ⟨b,M⟩ + ½⟨M,QM⟩ + ½tr(QV), M = P⁻¹b₀, V = P⁻¹."""
    from blrgen.algebra.calculus import jacobian

    _, b0, precision = quadratic
    slope = ring.tidy(gradient(f, theta))
    q = ring.tidy(jacobian(slope, theta))
    if q.has(theta):
        raise UserError(f"E_q of {f} is not found by second moments", why="it is not quadratic")
    mean = ring.tidy(precision**-1 * b0)

    def free(x: Expr) -> Expr:
        return x.subs(theta, 0) if ring.elementwise else _free_part(x, theta)

    spread = ring.inner(q, precision**-1)  # both are symmetric
    return ring.tidy(
        free(sp.expand(f))
        + ring.inner(free(slope), mean)
        + ring.inner(mean, q * mean) / 2
        + spread / 2
    )


def _is_quadratic(f: Expr, theta: Expr, ring: Ring) -> bool:
    """Whether the moments of a Gaussian give E[f]; of matrices nothing else is tried."""
    return not ring.elementwise or (f.is_polynomial(theta) and sp.degree(f, theta) <= 2)


def _free_part(x: Expr, theta: Expr) -> Expr:
    return sp.Add(*[a for a in sp.Add.make_args(x) if not a.has(theta)])


def _no_moment(family: Family) -> UserError:
    return UserError(
        f"E_q[log h] of {family.name!r} was not found in closed form",
        where=family.path,
        why="the base measure depends on the variable, so the rule needs ∇_μ E_q[log h]",
        how="absorb part of the base measure into the statistics, where that is possible",
    )
