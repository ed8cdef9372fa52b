"""A two-valued variable relaxed to a continuous one.

θ = sign(λ + ε) with ε = ½log(u/(1−u)) has the law q exactly; sign → tanh(·/τ) makes it
differentiable, and ∇_μ E_q[ℓ] = F⁻¹ ∇_λ E_ε[ℓ(θ_r)] becomes a gradient of the loss.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    import sympy as sp

    from blrgen.algebra.partial import partial
    from blrgen.approximate.tools.rewrite import (
        add_hyper,
        location,
        refuse,
        say,
        symbol,
        with_quantities,
    )
    from blrgen.core import Assignment, Probe, Quantity
    from blrgen.rule.quantities import probe_quantity

    if made(d, "relax"):
        raise refuse("relax", "the variable is relaxed already")
    if d.rule.until:
        raise refuse("relax", "with fresh draws the rule has no fixed point")
    if d.family.support.kind != "finite" or len(d.family.support.points) != 2:
        raise refuse("relax", "only a variable with two values is relaxed", "bernoulli-sign")
    if d.family.working:
        raise refuse(
            "relax", "the rule is in other parameters than the natural one, in which θ is drawn",
            "a candidate in its natural parameter, such as bernoulli-sign",
        )  # fmt: skip
    low, high = sorted(d.family.support.points)
    lam, statistic = d.geometry.natural[0], d.family.statistics[0]
    if location(d, "relax") != lam.name:
        raise refuse("relax", f"the rule does not step in {lam.name}, the natural parameter",
                     "bernoulli-sign")  # fmt: skip
    theta = d.geometry.ring.symbol_like(d.family.variable, "theta")
    _check_threshold(d, low, high)
    values = [statistic.subs(d.family.variable, p) for p in (low, high)]
    gap = sp.expand(lam * (values[1] - values[0]) / 2)
    d = add_hyper(d, "tau")
    eps, tau = sp.Symbol("eps", real=True), symbol(d, "tau")
    relaxed = (low + high) / 2 + (high - low) / 2 * sp.tanh((gap + eps) / tau)
    slope = partial(relaxed, lam).subs(sp.tanh((gap + eps) / tau), _inverse(theta, low, high))
    mu = sp.Symbol("mu", real=True)
    fisher = _fisher_in_mean(values, mu)
    g = Probe("g", d.geometry.ring.gradient_symbol(), 1, "theta")
    gradient = g.symbol * slope / fisher
    rule = _replace_enumeration(d, gradient)
    quantities = (
        probe_quantity(g, d.geometry),
        Quantity("eps", "draw", "elementwise", eps, "½log(u/(1−u)) with u uniform on (0, 1)",
                 distribution="Logistic(0, 1/2)", domain="(-oo, oo)", text="ε",
                 latex=r"\varepsilon"),
        Quantity("theta", "intermediate", "elementwise", theta,
                 "the relaxed variable, where the loss is probed"),
        Quantity("mu", "intermediate", "elementwise", mu, "mean of the variable"),
    )  # fmt: skip
    inputs = tuple(q.name for q in d.rule.of("input"))
    d = with_quantities(d.with_(rule=rule), quantities, drop=inputs)
    first = (
        Assignment("theta", relaxed, "draw"),
        Assignment("mu", d.geometry.mean_in_working[0]),
    )
    d = d.with_(rule=replace(d.rule, assignments=(*first, *d.rule.assignments)))
    d = d.with_(facts=replace(d.facts, probes=(g,)))
    return say(d, "relax", option, "Relaxation", APPROXIMATION.summary)


def _inverse(theta: Expr, low: Expr, high: Expr) -> Expr:
    """tanh(·) in terms of θ: (2θ − low − high)/(high − low)."""
    return (2 * theta - low - high) / (high - low)


def _check_threshold(d: Derivation, low: Expr, high: Expr) -> None:
    """P(λ-gap + ε > 0) must be q(high): checked on the density, at exact points."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import refuse
    from blrgen.geometry.integrate import exponent_of

    theta, lam = d.family.variable, d.geometry.natural[0]
    exponent = exponent_of(d.family, d.geometry.ring)
    odds = sp.expand(exponent.subs(theta, high) - exponent.subs(theta, low))
    statistic = d.family.statistics[0]
    wanted = sp.expand(lam * (statistic.subs(theta, high) - statistic.subs(theta, low)))
    if sp.expand(odds - wanted) != 0:
        raise refuse("relax", "the base measure weighs the two values differently")


def _fisher_in_mean(values: list[Expr], mu: Expr) -> Expr:
    """F = Var[T] by μ: T has two values, (T − a)(T − b) = 0, so that E[T²] = (a + b)μ − ab."""
    import sympy as sp

    a, b = values
    return sp.expand((mu - a) * (b - mu))


def _replace_enumeration(d: Derivation, gradient: Expr) -> Any:
    """The rule with the enumerated difference of losses replaced by the gradient."""
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import hyper_symbols, location, step_size
    from blrgen.rule.arrange import arrange

    name = location(d, "relax")
    expr = d.rule.expr(f"{name}_next")
    probes = [q.symbol for q in d.rule.of("input")]
    shrunk = expr.subs({p: 0 for p in probes}, simultaneous=True)
    new = arrange(shrunk, hyper_symbols(d)) - step_size(d, "relax") * gradient
    made = tuple(
        replace(a, expr=new) if a.name == f"{name}_next" else a for a in d.rule.assignments
    )
    return replace(d.rule, assignments=made)


APPROXIMATION = Approximation(
    flag="relax",
    summary="θ = sign(λ + ε) is relaxed to tanh((λ + ε)/τ), so that the loss has a gradient",
    rewrites="the difference of two losses → F⁻¹·∂θ_r/∂λ·∇ℓ(θ_r)",
    requires="a variable with two values",
    citation="Maddison et al. (2017); Meng, Bachmann & Khan (2020)",
    apply=apply,
)
