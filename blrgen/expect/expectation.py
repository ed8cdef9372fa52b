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
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient as slope_of
from blrgen.algebra.ring import Matrix
from blrgen.errors import InternalError
from blrgen.expect.base_measure import LogBase, log_base_of
from blrgen.expect.components import identities, unit_vectors
from blrgen.expect.gaps import solved_in_gaps
from blrgen.expect.identities import Identity, NoIdentity, find_identity
from blrgen.expect.metric import long_metric, solve_metric
from blrgen.expect.moments import Split, split
from blrgen.expect.operators import Operator, find_operators
from blrgen.expect.probes import (
    Probe,
    Subject,
    fresh,
    implicit_probe,
    score_probes,
    weighted_probe,
)
from blrgen.expect.weights import by_probabilities, mean_of_slopes
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import exponent_of, log_base

Expr = Any
ROUTES = ("moments", "enumeration", "identities", "implicit", "score")


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
    operators: tuple[Operator, ...] = ()
    split: Split | None = None  # how a concrete loss was taken apart
    factors: tuple[Expectation, ...] = ()  # of a product
    base: LogBase | None = None  # the case of E_q[log h]; None: constant or closed
    metric: tuple[tuple[Expr, Expr], ...] = ()  # letters for entries of F, where these are long
    current: bool = False  # the loss is ℓ − log q as it stands: the entropy's gradient cancels

    @property
    def folded(self) -> bool:
        """Whether the probes hold log h as well: then the entropy gives −λ alone."""
        return self.base is not None and self.base.case == "open"

    @property
    def rest(self) -> Expr:
        """What a concrete loss still leaves to the probes (without log h); None if abstract."""
        return None if self.split is None else self.split.rest


class NoRoute(InternalError):
    """A way to ∇_μ E_q[ℓ] that this family or loss does not have."""


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
        return product_expectation(geometry, current)  # type: ignore[arg-type]
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
        return _enumerate(geometry, base, loss)
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


def _enumerate(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
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
    exponent = exponent_of(family, ring)
    levels = [exponent.subs(family.variable, p) for p in points]
    affine = len(points) == len(geometry.natural) + 1
    weighted = None if affine else mean_of_slopes(geometry, points, levels, symbols)
    letters = weighted
    if affine:
        gradient = _affine(geometry, points, symbols)
    elif letters is None and len(points) < 10:
        letters = by_probabilities(geometry, points, levels, symbols)
    if letters is not None:
        gradient = letters[0]
    elif not affine:
        mean_loss = sp.Add(
            *[x * sp.exp(a - geometry.log_partition) for x, a in zip(symbols, levels, strict=True)]
        )
        gradient = tuple(geometry.to_working(x) for x in geometry.mean_gradient_of(mean_loss))
    return Expectation(
        "enumeration",
        f"on {len(points)} points each q(θ_k) is affine in μ: ∇_μ takes differences of losses"
        if affine
        else _of_weights(len(geometry.natural) + 1)
        if weighted is not None
        else "𝔼_q[ℓ] is a finite sum over the support",
        tuple(Probe(n, x, 0, str(p)) for n, x, p in zip(names, symbols, points, strict=True)),
        gradient,
        (),
        base=base,
        metric=()
        if letters is None
        else tuple((w, x.xreplace(geometry.natural_of_working)) for w, x in letters[1].items()),
    )


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


def _by_what_there_is(
    geometry: Geometry, base: LogBase, loss: Expr, reason: str, *, operators: bool = True
) -> Expectation:
    """Closed moments for what has them; then first-order identities, then the score."""
    parts = split(loss, geometry) if loss is not None else None
    if parts is not None and parts.rest == 0 and base.case != "open":
        return _moments(geometry, base, parts)
    if geometry.ring.components:
        operators = False
    found = _operators(geometry, base) if operators else ((), ())
    return _assembled(geometry, base, parts, found[0], found[1], reason)


def _operators(geometry: Geometry, base: LogBase) -> tuple[tuple[Operator, ...], tuple[Expr, ...]]:
    """The identities and the coordinates they are in: working ones where all have one."""
    family = geometry.family
    log_h = sp.sympify(log_base(family))
    if family.working:
        charts = (geometry.natural_of_working, geometry.working_of_natural)
        found = find_operators(family, charts, geometry.working, log_h)
        if len(found) == len(geometry.working):
            return found, geometry.working
    same = {x: x for x in geometry.natural}
    return find_operators(family, (same, {}), geometry.natural, log_h), geometry.natural


def _moments(geometry: Geometry, base: LogBase, parts: Split) -> Expectation:
    why = (
        "the loss is in the span of the statistics, ℓ = ⟨c, T⟩ + constant: ∇_μ𝔼_q[ℓ] = c exactly"
        if parts.closed == 0
        else "𝔼_q[ℓ] has a closed form, so ∇_μ𝔼_q[ℓ] = F⁻¹∇_λ of it"
    )
    gradient = tuple(geometry.to_working(x) for x in _closed_gradient(geometry, parts))
    return Expectation("moments", why, (), gradient, (), split=parts, base=base)


def _closed_gradient(geometry: Geometry, parts: Split | None) -> tuple[Expr, ...]:
    if parts is None:
        return tuple(sp.S.Zero for _ in geometry.natural)
    extra = geometry.mean_gradient_of(parts.expected)
    return tuple(c + e for c, e in zip(parts.coefficients, extra, strict=True))


def _assembled(
    geometry: Geometry,
    base: LogBase,
    parts: Split | None,
    operators: tuple[Operator, ...],
    coordinates: tuple[Expr, ...],
    reason: str,
) -> Expectation:
    """Slopes in the coordinates, from identities and scores, mapped by the metric."""
    subject = Subject(parts.rest if parts is not None else None, base.case == "open")
    coordinates = coordinates or geometry.natural
    served = {o.parameter: o for o in operators}
    functions = list(dict.fromkeys(f for o in operators for _, f in o.terms))
    names = dict(zip(functions, fresh(geometry.family, "g", len(functions)), strict=True))
    weighted = [
        weighted_probe(geometry.family, names[f], f, subject, difference=operators[0].difference)
        for f in functions
    ]
    scored = [i for i, x in enumerate(coordinates) if x not in served]
    scores = score_probes(geometry, subject, scored)
    symbol = {p.weight: p.symbol for p in weighted}
    slopes = {coordinates[i]: p.symbol for i, p in zip(scored, scores, strict=True)}
    for x, o in served.items():
        moved = sp.Add(*[c * symbol[f] for c, f in o.terms])
        slopes[x] = moved - sp.Add(*[a * slopes[y] for y, a in o.along])
    metric = long_metric(geometry) if coordinates == geometry.natural else {}
    if metric:
        solved, metric = solve_metric(geometry, metric, [slopes[x] for x in coordinates])
    else:
        solved = _solved(geometry, [slopes[x] for x in coordinates], coordinates)
    exact = _closed_gradient(geometry, parts)
    gradient = tuple(geometry.to_working(a + b) for a, b in zip(exact, solved, strict=True))
    route, because = _described(geometry, operators, scored, reason)
    if parts is not None and (parts.closed != 0 or any(parts.coefficients)):
        because += "; the part of the loss with a closed expectation enters exactly"
    return Expectation(
        route,
        because,
        (*weighted, *scores),
        gradient,
        (),
        operators=operators,
        split=parts,
        base=base,
        metric=tuple((s, x.xreplace(geometry.natural_of_working)) for s, x in metric.items()),
    )


def _solved(
    geometry: Geometry, slopes: list[Expr], coordinates: tuple[Expr, ...]
) -> tuple[Expr, ...]:
    """∇_μ from slopes in the coordinates; of matrices and joint variables in working ones.

    There the metric is sparser: ∇_ψ = ∇_ψ Σ⟨r_i, λ_i(ψ)⟩ for slopes r = ∇_λ.
    """
    family, ring = geometry.family, geometry.ring
    if not family.working and coordinates == geometry.natural and isinstance(ring, Matrix):
        solved = solved_in_gaps(geometry, slopes)
        if solved is not None:
            return solved
    if coordinates == geometry.working:
        return geometry.solve_dual(slopes, geometry.mean_in_working, coordinates)
    if not family.working or not (isinstance(ring, Matrix) or family.joint):
        return geometry.solve_dual(slopes, geometry.mean, coordinates)
    carried = sp.Add(*[
        ring.inner(r, geometry.natural_of_working[x])
        for r, x in zip(slopes, geometry.natural, strict=True)
    ])  # fmt: skip
    moved = [ring.tidy(slope_of(carried, x)) for x in geometry.working]
    return geometry.solve_dual(moved, geometry.mean_in_working, geometry.working)


def _described(
    geometry: Geometry, operators: tuple[Operator, ...], scored: list[int], reason: str
) -> tuple[str, str]:
    if not operators:
        return "score", f"no identity ({reason}): the score function always holds"
    kind = "difference" if operators[0].difference else "differential"
    if not scored:
        counts = operators[0].difference
        moved = "differences, ∂q = −∇ₖ(p q)," if counts else "derivatives, ∂q = −∂ₓ(p q),"
        return (
            "identities",
            f"each ∂q is found as one of {moved} so that parts are integrated onto ℓ",
        )
    from blrgen.show.expression import unicode

    rest = " and ".join(unicode(geometry.natural[i]) for i in scored)
    return (
        "identities and score",
        f"no {kind} identity for {rest}, where the score function stands in; "
        "∇_λ = F∇_μ, solved for ∇_μ",
    )


def _by_moments(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    if loss is None:
        raise NoRoute("the loss is abstract: closed moments need a formula, --loss")
    parts = split(loss, geometry)
    if parts.rest != 0:
        raise NoRoute(f"no closed form was found for the expectation of {parts.rest}")
    if base.case == "open":
        raise NoRoute("𝔼_q[log h] has no closed form, so an expectation is left in any case")
    return _moments(geometry, base, parts)


def _by_score(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    found = _by_what_there_is(geometry, base, None, "asked for", operators=False)
    return _with_reason(found, "asked for: the score function identity holds for every family")


def _by_identities(geometry: Geometry, base: LogBase, loss: Expr) -> Expectation:
    try:
        return _by_bonnet_and_price(geometry, base, loss)
    except NoIdentity:
        pass
    found, coordinates = _operators(geometry, base)
    if not found:
        raise NoRoute("no first-order identity was found on the density")
    return _assembled(geometry, base, None, found, coordinates, "")


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


def _with_reason(e: Expectation, because: str) -> Expectation:
    return replace(e, because=because)


_ROUTES: dict[str, Callable[[Geometry, LogBase, Expr], Expectation]] = {
    "moments": _by_moments,
    "enumeration": _enumerate,
    "identities": _by_identities,
    "implicit": _by_implicit,
    "score": _by_score,
}
