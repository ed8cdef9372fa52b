"""A concrete loss put into a rule: its derivatives where the rule probes it.

At the mean and at a draw a probe becomes the derivative there.  Under q it becomes its
expectation where one is found (`expect.gaussian`; of vectors a derivative that is affine in θ,
or a function of one ⟨x, θ⟩); otherwise it stays an input, and the line says so.
A new scale given by the loss is cancelled against what it multiplies, so that a
quadratic loss with ρ = 1 loses its starting point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.algebra.calculus import gradient, jacobian
from blrgen.algebra.partial import partial, without_jumps
from blrgen.approximate.tools.base import made
from blrgen.approximate.tools.finite import check_finite
from blrgen.approximate.tools.rewrite import (
    drop_unused,
    location,
    next_symbol,
    rewrite,
    say,
    shown,
    substitute,
    with_quantities,
)
from blrgen.core import Derivation, Probe
from blrgen.errors import InternalError, UserError
from blrgen.expect.gaussian import along_one_direction, gaussian_expectation
from blrgen.rule.component_loss import component_value
from blrgen.rule.loss_names import data_quantities, with_hyperparameters

Expr = Any
_LARGEST = 1500  # parts of a gradient in vectors


def put_loss(d: Derivation) -> Derivation:
    """Replace the probes by derivatives of the concrete loss, where that is possible."""
    if d.loss.expr is None:
        return d
    d = d.with_(loss=with_hyperparameters(d.loss))
    if d.expectation.split is not None and not d.facts.probes:
        return drop_unused(d, "data")  # all of it is in the rule already
    known: dict[Expr, Expr] = {}
    left: list[str] = []
    kept: list[str] = []
    for probe in d.facts.probes:
        if probe.name not in d.rule:
            continue
        value = _value(d, probe)
        if value is None:
            name = d.rule[probe.name].text or probe.name
            (kept if probe.stand_in or probe.of_mixture else left).append(name)
        else:
            known[probe.symbol] = value
    infinite = check_finite(d, known, derivative(d, 0))
    d = with_quantities(d, data_quantities(d.loss, d.rule, d.geometry))
    asked = tuple(p for p in d.facts.probes if p.symbol not in known)
    d = substitute(d, known)
    d = d.with_(facts=replace(d.facts, probes=asked))
    d = drop_unused(_without_idle_draw(d), "data")
    d = _cancel_new_scale(d)
    note = "its derivatives, where the rule probes the loss"
    if d.expectation.split is not None:
        note = f"what is left of it, {shown(d.expectation.rest)}, where the rule probes the loss"
    if made(d, "ess"):
        note += "; taken as the mean loss ℓ̄, one example's worth"
    if kept:
        note += f"; {', '.join(kept)}, put there by an approximation, stays an input"
    if left:
        stays = "they stay inputs" if left[1:] else "it stays an input"
        note += f"; {', '.join(left)}: not found in closed form (tried: {_tried(d)}), so {stays}"
    if infinite:
        note += f"; {infinite}"
    return say(d, "", None, f"The loss ℓ(θ) = {d.loss.text}", note)


def _without_idle_draw(d: Derivation) -> Derivation:
    """Without the place where a loss is probed whose derivatives are the same everywhere."""
    drawn = {q.name for q in d.rule.of("draw")}
    drawn |= {a.name for a in d.rule.assignments if a.stage == "draw"}
    rest = tuple(a for a in d.rule.assignments if a.stage != "draw")
    asked = [p for p in d.facts.probes if p.at == "theta" and p.name in d.rule]
    if not drawn or asked or any(s.name in drawn for a in rest for s in a.expr.free_symbols):
        return d
    d = d.with_(rule=replace(d.rule, assignments=rest))
    return with_quantities(d, drop=tuple(drawn))


def derivative(d: Derivation, order: int) -> Expr:
    """ℓ, ∇ℓ or ∇²ℓ as a function of θ."""
    ring, theta = d.geometry.ring, d.family.variable
    loss = d.loss.expr if d.expectation.split is None else d.expectation.rest
    if order == 0:
        return loss
    slope = gradient(loss, theta)
    if not ring.elementwise:
        _check_size(slope)
    if order == 1:
        return ring.tidy(slope) if not ring.elementwise else slope
    if ring.elementwise:
        return partial(slope, theta)
    return ring.tidy(jacobian(slope, theta))


def _check_size(slope: Expr) -> None:
    """Refuse what would take minutes to multiply out as products of vectors."""
    size = sum(1 for _ in zip(range(_LARGEST + 1), sp.preorder_traversal(slope), strict=False))
    if size > _LARGEST:
        raise UserError(
            "the loss is too large over vectors", where="--loss",
            why=f"its gradient has more than {_LARGEST} parts",
            how="fewer terms, or fewer functions inside each other",
        )  # fmt: skip


def _value(d: Derivation, probe: Probe) -> Expr | None:
    theta = d.family.variable
    if d.geometry.ring.components:
        return component_value(d, probe, derivative(d, 0))
    if probe.stand_in or probe.of_mixture or probe.at in ("score", "implicit"):
        return None
    if probe.at == "weighted":
        return _weighted(d, probe)
    value = without_jumps(derivative(d, probe.order))
    if probe.at == "q" and value.has(sp.DiracDelta):
        return _smoothed(d, probe.order)
    if value.has(sp.DiracDelta):
        raise _no_curvature(d, value)
    if probe.at == "theta":
        return value.subs(theta, d.rule["theta"].symbol)
    mean = dict(d.rule.posterior).get("mean", d.facts.place)
    if probe.at == "m":
        return value.subs(theta, mean)
    if probe.at == "q":
        return _expected(d, value)
    points = {str(p): p for p in d.family.support.points}
    if probe.at in points:
        return value.subs(theta, points[probe.at])
    raise UserError(f"the loss cannot be put where the rule probes it ({probe.at})")


def _tried(d: Derivation) -> str:
    """By what an expectation was looked for, in words."""
    if d.family.factors:
        return "products of each factor's own moments"
    if d.geometry.integral.quadratic is None:
        return "moments of the statistics, tilts of the density by exponentials of them"
    if d.geometry.ring.elementwise:
        return "polynomials, exponentials, sin and cos under a normal density, corners by erf"
    return "affine derivatives, functions of one inner product ⟨x, θ⟩"


def _weighted(d: Derivation, probe: Probe) -> Expr | None:
    """E_q[w ℓ′] or E_q[w Δℓ], where that has a closed form and log h is not in it."""
    from blrgen.expect.moments import expected_value

    if d.expectation.folded:
        return None
    x, loss = d.family.variable, derivative(d, 0)
    step = loss.subs(x, x + 1) - loss if probe.order == 0 else derivative(d, 1)
    found = expected_value(probe.weight * step, d.geometry)
    return None if found is None else d.geometry.to_working(found)


def _expected(d: Derivation, value: Expr) -> Expr | None:
    """E_q of an expression in θ, for the q that the rule now writes; None where not found."""
    theta, ring = d.family.variable, d.geometry.ring
    if not value.has(theta):
        return value
    now = dict(d.rule.posterior)
    if "precision" not in now or d.geometry.integral.quadratic is None:
        return None
    if ring.elementwise:
        return gaussian_expectation(value, theta, now["mean"], now["precision"])
    try:
        slope = jacobian(value, theta)
    except InternalError:  # no word in θ, or a matrix
        slope = theta
    if not slope.has(theta):
        return value.subs(theta, now["mean"])
    found = along_one_direction(value, theta, now["mean"], now["precision"])
    return None if found is None else ring.tidy(found)


def _smoothed(d: Derivation, order: int) -> Expr | None:
    """E_q[∇ᵏℓ] = ∂ᵏ_m E_q[ℓ], which holds whether ℓ has derivatives or not."""
    now = dict(d.rule.posterior)
    if not d.geometry.ring.elementwise or "precision" not in now:
        return None
    m = sp.Dummy("m", real=True)
    found = gaussian_expectation(derivative(d, 0), d.family.variable, m, now["precision"])
    return None if found is None else partial(found, m, order).subs(m, now["mean"])


def _no_curvature(d: Derivation, value: Expr) -> UserError:
    """ℓ has a corner, and the rule asks for ∇²ℓ at a point."""
    jump = sorted(value.atoms(sp.DiracDelta), key=str)[0].args[0]
    return UserError(
        f"the loss has no second derivative where {shown(jump)} = 0", where="--loss",
        why="abs, max and min have a corner there and sign a jump, and the rule asks for the "
        "curvature at a point",
        how="leave the expectation in (no --delta, no --stochastic), or take the curvature from "
        "gradients: --hessian squared-gradient, or a family with a fixed scale",
    )  # fmt: skip


def _cancel_new_scale(d: Derivation) -> Derivation:
    """m⁺ = (s⁺)⁻¹(s⁺m − …): multiply out with s⁺ known and keep it if the old m drops."""
    scale_name = d.facts.scale
    if not scale_name or d.facts.location is None:
        return d
    m = location(d, "loss")
    s_next = next_symbol(d, scale_name)
    expr = d.rule.expr(f"{m}_next")
    known = d.rule.expr(f"{scale_name}_next")
    if not expr.has(s_next) or known.has(d.rule[scale_name].symbol):
        return d
    tidy: Callable[[Expr], Expr] = d.geometry.ring.tidy
    numerator = tidy(tidy(s_next * expr).subs(s_next, known))
    if numerator.has(d.rule[m].symbol) or numerator.has(s_next):
        return d
    return rewrite(d, {f"{m}_next": s_next**-1 * numerator})
