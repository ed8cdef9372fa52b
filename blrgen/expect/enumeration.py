"""Finite support: E_q[ℓ] = Σ_k q(θ_k) ℓ(θ_k), with one probe a point."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.core import Probe
from blrgen.expect.base_measure import LogBase
from blrgen.expect.by_component import unit_vectors
from blrgen.expect.expectation import Expectation, NoRoute
from blrgen.expect.weights import by_probabilities, mean_of_slopes
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import exponent_of

Expr = Any


def enumerated(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    """Σ_k q(θ_k) ℓ(θ_k): ∇_μ = F⁻¹ ∇_λ of it."""
    family, ring = geometry.family, geometry.ring
    if family.support.kind == "one-hot":
        probes, gradient = unit_vectors(geometry)
        because = "𝔼_q[ℓ] is a sum over the unit vectors: ∇_μ takes differences of losses"
        return Expectation("enumeration", because, probes, gradient, (), base=base)
    if ring.components:
        raise NoRoute(f"the points of {family.support.text} are too many to be listed")
    if family.support.kind != "finite":
        raise NoRoute(f"the support {family.support.text} is not a finite set of points")
    points = sorted(family.support.points)
    signs = len(points) == 2 and points[0] == -points[1]
    names = ("lminus", "lplus") if signs else tuple(f"l{k}" for k in range(len(points)))
    symbols = [sp.Symbol(n, real=True) for n in names]
    gradient, letters, because = _differences(geometry, points, symbols)
    return Expectation(
        "enumeration",
        because,
        tuple(Probe(n, x, 0, str(p)) for n, x, p in zip(names, symbols, points, strict=True)),
        gradient,
        (),
        base=base,
        metric=tuple((w, x.xreplace(geometry.natural_of_working)) for w, x in letters.items()),
    )


def _differences(
    geometry: Geometry, points: list[Expr], losses: list[Expr]
) -> tuple[tuple[Expr, ...], dict[Expr, Expr], str]:
    """∇_μ in the losses at the points, letters for what is long in it, and why it is that."""
    exponent = exponent_of(geometry.family, geometry.ring)
    levels = [exponent.subs(geometry.family.variable, p) for p in points]
    if len(points) == len(geometry.natural) + 1:
        because = (
            f"on {len(points)} points each q(θ_k) is affine in μ: ∇_μ takes differences of losses"
        )
        return _affine(geometry, points, losses), {}, because
    weighted = mean_of_slopes(geometry, points, levels, losses)
    if weighted is not None:
        return *weighted, _of_weights(len(geometry.natural) + 1)
    because = "𝔼_q[ℓ] is a finite sum over the support"
    few = len(points) < 10
    letters = by_probabilities(geometry, points, levels, losses) if few else None
    if letters is not None:
        return *letters, because
    mean_loss = sp.Add(
        *[x * sp.exp(a - geometry.log_partition) for x, a in zip(losses, levels, strict=True)]
    )
    gradient = tuple(geometry.to_working(x) for x in geometry.mean_gradient_of(mean_loss))
    return gradient, {}, because


def _of_weights(count: int) -> str:
    """What a mean of slopes is, in words."""
    return (
        "𝔼_q[ℓ] is a finite sum; F∇_μ = ∇_λ is the regression of ℓ on T, solved by the mean of "
        f"the slopes through {count} points each, with weights ∝ (det of (1, T))² ∏ q(θ_k)"
    )


def _affine(geometry: Geometry, points: list[Expr], losses: list[Expr]) -> tuple[Expr, ...]:
    """q solved from Σq = 1, Σ T(θ_k) q_k = μ: affine in μ, so ∇_μ E_q[ℓ] is constant."""
    theta = geometry.family.variable
    rows = [[t.subs(theta, p) for p in points] for t in geometry.family.statistics]
    table = sp.Matrix([[1] * len(points), *rows])
    weights = table.inv().T * sp.Matrix(losses)  # ∂/∂(1, μ) of Σ q_k ℓ_k
    return tuple(sp.expand(w) for w in list(weights)[1:])
