"""What stands for the Hessian: itself, squared gradients, per-example squares, or a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation, Probe


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import probe_of_order, refuse, say

    curvature, gradient = probe_of_order(d, 2), probe_of_order(d, 1)
    if curvature is None or gradient is None or curvature.name not in d.rule:
        raise refuse(
            f"hessian {option}",
            "there is no Hessian in this rule"
            + (", it has been replaced already" if made(d, "hessian", *_INSTEAD) else ""),
            "a candidate with a scale, such as gaussian-diag",
        )
    if made(d, "hessian", *_INSTEAD):
        raise refuse(f"hessian {option}", "something else stands for the Hessian already")
    if option == "exact":
        return say(d, "hessian", option, "Hessian", "the Hessian is kept as it is")
    return _INSTEAD[str(option)](d, gradient, curvature)


def _replace(d: Derivation, probe: Probe, value: Any) -> Derivation:
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import drop_unused, substitute

    d = drop_unused(substitute(d, {probe.symbol: value}))
    if value.has(probe.symbol):
        return d
    left = tuple(p for p in d.facts.probes if p.order != 2 or p.of_mixture)
    return d.with_(facts=replace(d.facts, probes=left))


def _squared_gradient(d: Derivation, gradient: Probe, curvature: Probe) -> Derivation:
    from blrgen.approximate.tools.rewrite import say

    value = _as_one(d, curvature, d.geometry.ring.outer(gradient.symbol))
    kind = "minibatch " if gradient.minibatch else ("expected " if gradient.at == "q" else "")
    if d.rule.of("draw"):
        value, d = _as_estimate(d, curvature, value, "one draw's squared gradient")
    d = _replace(d, curvature, value)
    return say(
        d, "hessian", "squared-gradient", "Squared gradient for the Hessian",
        f"the square of the {kind}gradient stands for the curvature",
    )  # fmt: skip


_SQUARE_LATEX = {"gᵢ∘gᵢ": r"g_i \circ g_i", "gᵢ gᵢᵀ": r"g_i g_i^\top"}


def _gauss_newton(d: Derivation, gradient: Probe, curvature: Probe) -> Derivation:
    """Σᵢ gᵢ∘gᵢ over examples for the data; the regulariser's curvature δ is known exactly."""
    from dataclasses import replace

    from blrgen.approximate.ess import per_example
    from blrgen.approximate.tools.rewrite import add_hyper, say, set_probes, substitute, symbol

    square = "gᵢ∘gᵢ" if d.geometry.ring.elementwise else "gᵢ gᵢᵀ"
    counted, mean = made(d, "prior"), made(d, "ess")
    if not counted:
        d = add_hyper(d, "delta")
        d = per_example(d, "delta") if mean else d
        d = substitute(d, {curvature.symbol: curvature.symbol + symbol(d, "delta")})
    d = set_probes(
        d,
        lambda p: (
            replace(p, meaning=f"{square} of the rows' own gradients, {{place}}", stand_in=True)
            if p.order == 2 and not p.of_mixture
            else p
        ),
    )
    signs = ("Σᵢ" + square.replace(" ", ""), r"\sum_i " + _SQUARE_LATEX[square])
    total = f"Σᵢ {square}"
    if mean:
        signs = (f"⟨{square.replace(' ', '')}⟩ᵢ", rf"\langle {_SQUARE_LATEX[square]}\rangle_i")
        total = f"the mean of {square}"
    tail = "" if counted else "; the regulariser's own curvature, δ, is known and is added exactly"
    return say(
        d, "hessian", "gauss-newton", "Gauss–Newton Hessian, per example",
        f"∇²ℓ ≈ {total} over the examples of the data part{tail}",
        notation=((curvature.name, *signs),),
    )  # fmt: skip


def _reparam(d: Derivation, gradient: Probe, curvature: Probe) -> Derivation:
    """𝔼_q[∇²ℓ] = −𝔼_q[∇ℓ ∇log qᵀ], by parts once; the score is read off the density."""
    from blrgen.approximate.stochastic import add_draw
    from blrgen.approximate.tools.rewrite import refuse, say

    if gradient.at == "m":
        raise refuse(
            "hessian reparam",
            "the delta method has removed the draw that this estimate is made of",
            "drop --delta, or use --hessian squared-gradient",
        )
    if gradient.at == "q":
        d = add_draw(d)
    value = _as_one(d, curvature, _score_estimate(d, gradient.symbol))
    estimate, d = _as_estimate(d, curvature, value, "one draw's estimate of the Hessian")
    d = _replace(d, curvature, estimate)
    return say(
        d, "hessian", "reparam", "Reparameterised Hessian",
        "by parts once, 𝔼_q[∇²ℓ] = −𝔼_q[∇ℓ·∇log q]; one draw stands for it",
    )  # fmt: skip


def _as_one(d: Derivation, curvature: Probe, value: Any) -> Any:
    """The mean over the components, where the rule has one curvature for all of them."""
    ring = d.geometry.ring
    return ring.like(value, curvature.symbol) if ring.components else value


def _as_estimate(d: Derivation, probe: Probe, value: Any, meaning: str) -> tuple[Any, Derivation]:
    """Name a one-draw estimate, so that several draws can be averaged before it is used."""
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import with_quantities
    from blrgen.core import Assignment, Quantity

    ring = d.geometry.ring
    x = ring.symbol_like(probe.symbol, f"{probe.name}_hat")
    one_letter = ring.elementwise or ring.components
    text, latex = ("ĥ", r"\hat h") if one_letter else ("Ĥ", r"\hat H")
    q = Quantity(
        x.name, "intermediate", ring.rank(probe.symbol), x, meaning, text=text, latex=latex
    )
    d = with_quantities(d, (q,))
    first = tuple(a for a in d.rule.assignments if a.stage == "draw")
    rest = tuple(a for a in d.rule.assignments if a.stage != "draw")
    made = (*first, Assignment(x.name, value, "estimate"), *rest)
    return x, d.with_(rule=replace(d.rule, assignments=made))


def _score_estimate(d: Derivation, g: Any) -> Any:
    """−∇ℓ ∇log q at the draw, symmetrised: g·P(θ − mean), where P(θ − mean) is −∇log q."""
    import sympy as sp

    from blrgen.algebra.calculus import gradient
    from blrgen.algebra.ranks import T
    from blrgen.errors import InternalError
    from blrgen.geometry.integrate import exponent_of

    ring, theta = d.geometry.ring, d.family.variable
    _, b, own = d.geometry.integral.quadratic
    score = gradient(exponent_of(d.family, ring), theta)
    if ring.tidy(score - (b - own * theta)) != 0:
        raise InternalError(f"∇log q of {d.family.name} is not b − Pθ")
    # −∇log q = P(θ − mean), with P and the mean as the rule now writes them
    posterior = dict(d.rule.posterior)
    mean, precision = posterior["mean"], posterior["precision"]
    if not ring.elementwise and not ring.components:
        outer = precision * (d.rule["theta"].symbol - mean) * T(g)
        return (ring.tidy(outer) + ring.tidy(T(outer))) / 2
    return precision * sp.expand(d.rule.expr("theta") - mean) * g


_INSTEAD = {
    "squared-gradient": _squared_gradient,
    "gauss-newton": _gauss_newton,
    "reparam": _reparam,
}
APPROXIMATION = Approximation(
    flag="hessian",
    summary="what stands for the Hessian of the loss",
    rewrites="∇²ℓ → itself | ĝ∘ĝ | Σᵢ gᵢ∘gᵢ + δ | −ĝ·∇log q(θ)",
    requires="a Hessian in the rule; reparam needs the draw that --stochastic introduces",
    citation="Graves (2011); Khan et al. (2018); Lin et al. (2020); Shen et al. (2024)",
    apply=apply,
    options=("exact", *_INSTEAD),
    stated=("exact",),
)
