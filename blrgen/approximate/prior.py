"""A Gaussian prior N(0, δ⁻¹) (weight decay), kept apart from the loss.

ℓ_total = ℓ + ½δ‖θ‖², so that ∇ℓ → ∇ℓ + δm and ∇²ℓ → ∇²ℓ + δ, both exact under q.  The
gradient of the prior enters where the gradient stands at this point of the derivation:
before momentum it is averaged with the rest, after momentum it is not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation, Quantity

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.ess import per_example
    from blrgen.approximate.tools.rewrite import add_hyper, refuse, say, shown, symbol

    if made(d, "prior"):
        raise refuse("prior", "the prior is already in the rule")
    if option == "current":
        return _current(d)
    if d.family.support.kind == "finite":
        return _conjugate(d, str(option))
    d = add_hyper(d, "delta")
    if made(d, "ess"):
        d = per_example(d, "delta")
    d = _gradient(d)
    scale_name = d.facts.scale
    if scale_name and not made(d, "hessian", "gauss-newton"):
        d = _curvature(d, scale_name)
    if option == "apart":
        d = _split_scale(d)
    where = "outside the gradient average" if "u" in d.rule else "with the gradient"
    text = f"½δ‖θ‖² is added to the loss: δm enters {where}"
    if option == "apart":
        s, whole = symbol(d, str(scale_name)), dict(d.rule.posterior)["precision"]
        text += f"; {shown(s)} keeps the curvature of the loss alone, precision {shown(whole)}"
    return say(d, "prior", option, "Gaussian prior", text)


def _gradient(d: Derivation) -> Derivation:
    from blrgen.approximate.tools.rewrite import mean_step, rewrite, symbol

    step = mean_step(d, "prior")
    factor = step.factor
    debias = dict(d.facts.corrections).get("u") if "u" in d.rule else None
    if debias is not None:
        factor = factor * debias
    prior_gradient = symbol(d, "delta") * step.m
    if "u" in d.rule or not step.expr.is_commutative:
        new = step.expr - factor * prior_gradient
    else:
        new = step.expr.subs(step.carrier, step.carrier + prior_gradient)
    if "u" in d.rule and step.expr.is_commutative:
        carried = step.carrier if debias is None else step.carrier / debias
        rest = step.expr - (-factor * carried)
        new = d.geometry.ring.tidy(rest) - factor * (carried + prior_gradient)
    d = rewrite(d, {f"{step.name}_next": new})
    return d


def _curvature(d: Derivation, name: str) -> Derivation:
    """C → C + δ in s⁺ = (1 − w)s + wC, with w read off the coefficient of s."""
    import sympy as sp

    from blrgen.algebra.partial import partial
    from blrgen.approximate.tools.rewrite import final, refuse, rewrite, shown, symbol

    expr, s = d.geometry.ring.tidy(final(d.rule, name)), symbol(d, name)
    now = [s] + [symbol(d, p) for p in (f"{name}_prev",) if p in d.rule]
    slope = sp.Add(*[partial(expr, x) if x.is_commutative else expr.coeff(x) for x in now])
    if slope.has(s):
        raise refuse(
            "prior",
            f"the update of {shown(s)} is no average (1−w){shown(s)} + w·curvature",
            "put --prior before --retraction"
            if made(d, "retraction")
            else "a candidate whose scale is its precision, such as gaussian-diag",
        )
    return rewrite(d, {f"{name}_next": final(d.rule, name) + (1 - slope) * symbol(d, "delta")})


def _split_scale(d: Derivation) -> Derivation:
    """Change of state s → s + δ: the new s leaves the prior out.  Exact."""
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import (
        final,
        next_symbol,
        refuse,
        rewrite,
        scale,
        substitute,
        symbol,
        with_quantities,
    )  # fmt: skip

    name = scale(d, "prior apart")
    if made(d, "square-root"):
        raise refuse(
            "prior apart", "the root of the whole scale is already taken", "put --prior before it"
        )
    delta, tidy = symbol(d, "delta"), d.geometry.ring.tidy
    held = [x for x in (name, f"{name}_prev") if x in d.rule]
    moved = [x for n in held for x in (symbol(d, n), next_symbol(d, n))]
    d = substitute(d, {x: _signed(x) + delta for x in moved})
    d = with_quantities(d, tuple(_moved_down(d.rule[n]) for n in held))
    apart = {f"{n}_next": tidy(final(d.rule, n) - delta) for n in held}
    meaning = "curvature of the loss alone" + (", per example" if made(d, "ess") else "")
    d = with_quantities(d, (replace(d.rule[name], meaning=meaning),))
    return rewrite(d, apart)


def _signed(x: Any) -> Any:
    """The symbol of what may be negative once δ is taken from it."""
    import sympy as sp

    return sp.Symbol(x.name, real=True) if type(x) is sp.Symbol and x.is_positive else x


def _moved_down(q: Quantity) -> Quantity:
    """The quantity less δ: s + δ > 0 is s > −δ."""
    from dataclasses import replace

    domain = "(-delta, oo)" if q.domain == "(0, oo)" else q.domain
    return replace(q, symbol=_signed(q.symbol), domain=domain)


def _conjugate(d: Derivation, option: str) -> Derivation:
    """−log p(θ) = −λ₀ᵀT(θ) is linear in T: ∇_μ of it is −λ₀."""
    from blrgen.approximate.tools.rewrite import (
        add_hyper,
        final,
        location,
        refuse,
        rewrite,
        say,
        step_size,
        symbol,
    )  # fmt: skip

    if option == "apart":
        raise refuse("prior apart", "this candidate has no scale to keep apart", "--prior total")
    name = location(d, "prior")
    d = add_hyper(d, "lam0")
    rate = step_size(d, "prior")
    d = rewrite(d, {f"{name}_next": final(d.rule, name) + rate * symbol(d, "lam0")})
    return say(
        d, "prior", option, "Conjugate prior",
        "−log p(θ) = −λ₀T(θ) + const is linear in T, so its gradient in μ is −λ₀",
    )  # fmt: skip


def _current(d: Derivation) -> Derivation:
    """ℓ_total = ℓ − log q_t: the posterior so far is the prior of what comes next.

    ∇_μE_q[−log q_t] at q = q_t is ∇_μ𝓗, so that λ⁺ = λ − ρ∇_μE_q[ℓ]; with ρ = 1 and a
    conjugate loss this is Bayes' rule.
    """
    from blrgen.approximate.tools.rewrite import refuse, say
    from blrgen.rule.assemble import exact_derivation

    if any(flag != "route" for flag, _ in d.approximations):
        raise refuse("prior current", "the rule has been rewritten already",
                     "--prior current before everything but --route")  # fmt: skip
    route = str(dict(d.approximations).get("route") or "")
    other = exact_derivation(d.family, d.loss, route, current=True)
    return say(
        other, "prior", "current", "The posterior so far as the prior",
        "ℓ is the loss of what is new; −log q as it stands is added to it, and nothing is "
        "forgotten: the weight (1−ρ) of λ becomes 1",
    )  # fmt: skip


APPROXIMATION = Approximation(
    flag="prior",
    summary="a prior is added to the loss and kept apart from it",
    rewrites="∇ℓ → ∇ℓ + δm, ∇²ℓ → ∇²ℓ + δ; apart: also s → s + δ, so that s leaves the prior out; "
    "current: (1−ρ)λ → λ, Bayes' rule for one observation after the other",
    requires="no prior in the rule yet; current: before everything but --route",
    citation="Khan et al. (2018); Shen et al. (2024); Jones, Chang & Murphy (2024)",
    apply=apply,
    options=("total", "apart", "current"),
)
