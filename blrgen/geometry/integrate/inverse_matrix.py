"""The substitution X = Y⁻¹ over SPD(d): log|X| = −log|Y|, dX = |Y|^{−(d+1)} dY."""

from __future__ import annotations

from blrgen.algebra.ranks import like, logdet, rows_of
from blrgen.geometry.integrate import wishart
from blrgen.geometry.integrate.problem import Integral, Problem


def integrate(problem: Problem) -> Integral | None:
    """The integral over Y of an exponent in X⁻¹."""
    x = problem.variable
    if problem.support.kind != "spd" or x.is_commutative or not problem.exponent.has(x**-1):
        return None
    y, d = like(x, f"inv_{x.name}"), rows_of(x)
    turned = problem.exponent.xreplace({x**-1: y}).xreplace({x: y**-1})
    volume = logdet(y, d)
    turned = problem.ring.tidy(turned.doit() - (d + 1) * volume)
    found = wishart.integrate(problem.with_(exponent=turned, variable=y, depth=problem.depth + 1))
    if found is None:
        return None
    return found.with_(
        sampler=found.sampler**-1 if found.sampler is not None else None,
        method="Wishart integral of the inverse",
        because=f"with Y = {x}⁻¹, d{x} = |Y|^(−d−1) dY; {found.because}".replace(y.name, "Y"),
    )
