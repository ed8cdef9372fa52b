"""∇_μ E_q[ℓ] for an abstract loss, by the route the family allows.

* enumeration: finite support, E_q[ℓ] = Σ_k q(θ_k) ℓ(θ_k);
* identities: ∂_ψ E_q[ℓ] from differential identities found on the density
  (`identities`), then to the mean parameters by the chain rule, never inverting μ → λ;
* score: E_q[ℓ(θ) (T(θ) − μ)] mapped by F⁻¹, when neither applies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.expect.identities import Identity, NoIdentity, find_identity
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import exponent_of

Expr = Any
_LOW = "₁₂₃₄₅₆₇₈₉"


@dataclass(frozen=True)
class Probe:
    """A number the caller supplies: the order-th derivative of ℓ at a point.

    at: "q" (its expectation under q), "m" (at the mean), "theta" (at a draw),
    or the text of a support point.
    """

    name: str
    symbol: Expr
    order: int
    at: str
    minibatch: bool = False
    meaning: str = ""  # overrides the reading made from order and place; may name {place}
    stand_in: bool = False  # no derivative of ℓ but what an approximation put in its place


@dataclass(frozen=True, eq=False)
class Expectation:
    """∇_μ E_q[ℓ], one entry per statistic, in working parameters and probes."""

    route: str
    because: str
    probes: tuple[Probe, ...]
    mean_gradient: tuple[Expr, ...]
    working_gradient: tuple[Expr, ...]
    identities: tuple[Identity, ...] = ()
    orders: tuple[tuple[Expr, int], ...] = ()  # working parameter → order of its derivative


def expectation_of(geometry: Geometry) -> Expectation:
    """The gradient of the expected loss, by the first route that applies."""
    if geometry.family.support.kind == "finite":
        return _enumerate(geometry)
    try:
        return _by_identities(geometry)
    except NoIdentity as e:
        return _by_score(geometry, str(e))


def _by_identities(geometry: Geometry) -> Expectation:
    ring, family = geometry.ring, geometry.family
    if geometry.integral.quadratic is None:
        raise NoIdentity("log q is no quadratic polynomial on the whole line")
    log_density = ring.tidy(geometry.to_working(exponent_of(family, ring) - geometry.log_partition))
    symbols = {1: ring.gradient_symbol(), 2: ring.curvature_symbol()}
    identities, slopes = [], []
    for x in geometry.working:
        identity = find_identity(log_density, x, family.variable, ring)
        identities.append(identity)
        sign = (-1) ** identity.order
        slopes.append(ring.tidy(sign * identity.left * symbols[identity.order] * identity.right))
    mean_gradient = geometry.solve_dual(slopes, geometry.mean_in_working, geometry.working)
    used = sorted({i.order for i in identities})
    return Expectation(
        "identities",
        "∂q is a combination of θ-derivatives of q, so integration by parts moves them to ℓ",
        tuple(Probe(symbols[k].name, symbols[k], k, "q") for k in used),
        mean_gradient,
        tuple(slopes),
        tuple(identities),
        tuple((i.parameter, i.order) for i in identities),
    )


def _enumerate(geometry: Geometry) -> Expectation:
    """Σ_k q(θ_k) ℓ(θ_k): ∇_μ = F⁻¹ ∇_λ of it."""
    family, ring = geometry.family, geometry.ring
    points = sorted(family.support.points)
    signs = len(points) == 2 and points[0] == -points[1]
    names = ("lminus", "lplus") if signs else tuple(f"l{k}" for k in range(len(points)))
    symbols = [sp.Symbol(n, real=True) for n in names]
    exponent = exponent_of(family, ring)
    levels = [exponent.subs(family.variable, p) for p in points]
    affine = len(points) == len(geometry.natural) + 1
    if affine:
        gradient = _affine(geometry, points, symbols)
    else:
        mean_loss = sp.Add(
            *[x * sp.exp(a - geometry.log_partition) for x, a in zip(symbols, levels, strict=True)]
        )
        gradient = tuple(geometry.to_working(x) for x in geometry.mean_gradient_of(mean_loss))
    return Expectation(
        "enumeration",
        f"on {len(points)} points each q(θ_k) is affine in μ: ∇_μ takes differences of losses"
        if affine
        else "𝔼_q[ℓ] is a finite sum over the support",
        tuple(Probe(n, x, 0, str(p)) for n, x, p in zip(names, symbols, points, strict=True)),
        gradient,
        (),
    )


def _affine(geometry: Geometry, points: list[Expr], losses: list[Expr]) -> tuple[Expr, ...]:
    """q solved from Σq = 1, Σ T(θ_k) q_k = μ: affine in μ, so ∇_μ E_q[ℓ] is constant."""
    theta = geometry.family.variable
    rows = [[t.subs(theta, p) for p in points] for t in geometry.family.statistics]
    table = sp.Matrix([[1] * len(points), *rows])
    weights = table.inv().T * sp.Matrix(losses)  # ∂/∂(1, μ) of Σ q_k ℓ_k
    return tuple(sp.expand(w) for w in list(weights)[1:])


def _by_score(geometry: Geometry, reason: str) -> Expectation:
    """∇_λ E_q[ℓ] = E_q[ℓ (T − μ)], ∇_μ = F⁻¹ of it; the inputs are E_q[ℓ (T_i − μ_i)]."""
    symbols = [
        sp.Symbol(f"r{i + 1}", real=True) if x.is_commutative
        else geometry.ring.symbol_like(x, f"r{i + 1}")
        for i, x in enumerate(geometry.natural)
    ]  # fmt: skip
    from blrgen.show.expression import unicode

    low = _LOW if len(geometry.natural) > 1 else ("",)
    gradient = geometry.solve_dual(list(symbols), geometry.mean, geometry.natural)
    probes = tuple(
        Probe(
            str(s), s, 0, "score",
            meaning=f"𝔼_q[ℓ({geometry.family.variable})·({unicode(t)} − μ{low[i]})]: "
            "the loss weighted by the score",
        )
        for i, (s, t) in enumerate(zip(symbols, geometry.family.statistics, strict=True))
    )  # fmt: skip
    return Expectation(
        "score",
        f"no differential identity ({reason}): the score function identity always holds",
        probes,
        tuple(geometry.to_working(x) for x in gradient),
        (),
    )
