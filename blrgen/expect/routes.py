"""∇_μ E_q[ℓ], by the route the family allows.

* enumeration: finite support, E_q[ℓ] = Σ_k q(θ_k) ℓ(θ_k);
* moments: a concrete loss whose expectation has a closed form (`moments`);
* identities: ∂_ψ E_q[ℓ] from differential identities found on the density, those of a
  quadratic exponent (`identities`) or of first order (`operators`), then to the mean
  parameters by the chain rule, never inverting μ → λ;
* score: E_q[ℓ(θ) (T(θ) − μ)] mapped by F⁻¹, which always holds;
* implicit: E_q[ℓ′ ∂θ/∂λ] with ∂θ/∂λ = −∂_λF/q, when asked for.

Different parameters of one family may go different ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from blrgen.core import Probe
from blrgen.expect.base_measure import LogBase, log_base_of
from blrgen.expect.by_component import identities
from blrgen.expect.enumeration import enumerated
from blrgen.expect.expectation import Expectation, NoRoute
from blrgen.expect.identities import NoIdentity, find_identity
from blrgen.expect.metric import long_metric, solve_metric
from blrgen.expect.moments import Split, split
from blrgen.expect.probes import Subject, fresh, implicit_probe
from blrgen.expect.slopes import assembled, closed_gradient, operators_of
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import exponent_of

Expr = Any


def expectation_of(
    geometry: Geometry, loss: Expr = None, route: str = "", *, current: bool = False
) -> Expectation:
    """The gradient of the expected loss, by the first route that applies (or the one named).

    With `current` the prior is q itself as it stands, whose log h cancels that of the entropy.
    """
    if geometry.family.factors:
        from blrgen.expect.product import product_expectation

        if route:
            raise NoRoute("each factor of a product takes its own route")
        return product_expectation(geometry, current, loss)  # type: ignore[arg-type]
    base = log_base_of(geometry)
    if current:
        if base.case == "open":
            words = "; with the prior q as it stands it cancels and is not needed"
            base = replace(
                base, case="cancels", because=base.because.split(", so log h")[0] + words
            )
        return replace(_routed(geometry, base, loss, route), current=True)
    return _routed(geometry, base, loss, route)


def _routed(geometry: Geometry, base: LogBase, loss: Expr, route: str) -> Expectation:
    if route:
        return _ROUTES[route](geometry, base, loss)
    kind = geometry.family.support.kind
    if kind == "one-hot" or (kind == "finite" and not geometry.ring.components):
        return enumerated(geometry, base, loss)
    try:
        return _by_bonnet_and_price(geometry, base, loss)
    except NoIdentity as e:
        return _by_what_there_is(geometry, base, loss, _why_none(geometry, str(e)))


def _why_none(geometry: Geometry, reason: str) -> str:
    """Why the score stands in: no quadratic exponent, and no first-order identity either."""
    if geometry.integral.quadratic is not None:
        return reason
    if not geometry.family.elementwise:
        return "log q is not quadratic in the variable"
    return "log q is not quadratic, and no p with ∂q = −(p q)′ was found on it"


def _by_bonnet_and_price(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    ring, family = geometry.ring, geometry.family
    if ring.components:
        return _by_components(geometry, base)
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
        base=base,
    )


def _by_components(geometry: Geometry, base: LogBase) -> Expectation:
    probes, slopes, found, orders = identities(geometry)
    return Expectation(
        "identities",
        "∂q is a combination of the components' derivatives of q, so integration by parts "
        "moves them to ℓ",
        probes,
        geometry.solve_dual(slopes, geometry.mean_in_working, geometry.working),
        tuple(slopes),
        found,
        orders,
        base=base,
    )


def _by_what_there_is(
    geometry: Geometry, base: LogBase, loss: Expr, reason: str, *, operators: bool = True
) -> Expectation:
    """Closed moments for what has them; then first-order identities, then the score."""
    parts = split(loss, geometry) if loss is not None else None
    if parts is not None and parts.rest == 0 and base.case != "open":
        return _moments(geometry, base, parts)
    if geometry.ring.components:
        operators = False
    found = operators_of(geometry, base) if operators else ((), ())
    return assembled(geometry, base, parts, found[0], found[1], reason)


def _moments(geometry: Geometry, base: LogBase, parts: Split) -> Expectation:
    why = (
        "the loss is in the span of the statistics, ℓ = ⟨c, T⟩ + constant: ∇_μ𝔼_q[ℓ] = c exactly"
        if parts.closed == 0
        else "𝔼_q[ℓ] has a closed form, so ∇_μ𝔼_q[ℓ] = F⁻¹∇_λ of it"
    )
    gradient = tuple(geometry.to_working(x) for x in closed_gradient(geometry, parts))
    return Expectation("moments", why, (), gradient, (), split=parts, base=base)


def _by_moments(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    if loss is None:
        raise NoRoute("the loss is abstract: closed moments need a formula, --loss")
    parts = split(loss, geometry)
    if parts.rest != 0:
        raise NoRoute(f"the expectation of {parts.rest} was not found in closed form")
    if base.case == "open":
        raise NoRoute(
            "𝔼_q[log h] was not found in closed form, so an expectation is left in any case"
        )
    return _moments(geometry, base, parts)


def _by_score(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    found = _by_what_there_is(geometry, base, None, "asked for", operators=False)
    return replace(found, because="asked for: the score function identity holds for every family")


def _by_identities(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    try:
        return _by_bonnet_and_price(geometry, base, loss)
    except NoIdentity:
        pass
    found, coordinates = operators_of(geometry, base)
    if not found:
        raise NoRoute("no first-order identity was found on the density")
    return assembled(geometry, base, None, found, coordinates, "")


def _by_implicit(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    """∂_{λ_i} E_q[ℓ] = E_q[ℓ′ ∂x/∂λ_i], ∂x/∂λ_i = −∂_i F/q."""
    family = geometry.family
    if family.support.kind != "interval" or not family.elementwise:
        raise NoRoute("only draws of a real variable with a density can be differentiated through")
    subject = Subject(None, base.case == "open")
    names = fresh(family, "g", len(geometry.natural))
    probes = tuple(implicit_probe(geometry, name, i, subject) for i, name in enumerate(names))
    slopes, metric = [p.symbol for p in probes], long_metric(geometry)
    if metric:
        solved, metric = solve_metric(geometry, metric, slopes)
    else:
        solved = geometry.solve_dual(slopes, geometry.mean, geometry.natural)
    gradient = tuple(geometry.to_working(x) for x in solved)
    return Expectation(
        "implicit",
        "implicit reparameterisation, ∂x/∂λ = −(∂F/∂λ)/q along a draw; ∇_λ = F∇_μ, solved for ∇_μ",
        probes, gradient, (), base=base,
        metric=tuple((s, x.xreplace(geometry.natural_of_working)) for s, x in metric.items()),
    )  # fmt: skip


_ROUTES: dict[str, Callable[[Geometry, LogBase, Expr], Expectation]] = {
    "moments": _by_moments,
    "enumeration": enumerated,
    "identities": _by_identities,
    "implicit": _by_implicit,
    "score": _by_score,
}
