"""Natural momentum: part of the last step, taken in natural coordinates.

λ⁺ = λ − ρ∇_μL + γ(λ − λ₋).  With the location's natural coordinate D m (D what divides
the mean step), the scale's own momentum cancels the change of D, and

    m⁺ = m − r D⁺⁻¹ĝ + γ D⁺⁻¹D₋ (m − m₋).

Once D₋ ≈ D (a slowly moving scale, exact for a fixed one) the last step is carried by
u = −D (m − m₋)/r₀ alone, an exact change of state that is recorded so that it can be
proved.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.approximate.tools.rewrite import MeanStep
    from blrgen.core import Derivation, Momentum

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.approximate.tools.rewrite import (
        add_hyper,
        chosen,
        location,
        mean_step,
        refuse,
        rewrite,
        say,
        shown,
        substitute,
        with_quantities,
    )  # fmt: skip
    from blrgen.approximate.tools.rewrite import symbol as sym
    from blrgen.core import Momentum

    m = location(d, "momentum")
    if "u" in d.rule or f"{m}_prev" in d.rule:
        raise refuse("momentum", "the rule already has momentum")
    r0 = natural_step(d, mean_step(d, "momentum")).rate
    # a step size that has been given a value is not written anew
    adaptive = d.facts.scale is not None and bool(r0.free_symbols)
    decay = "beta1" if adaptive else "gamma"
    d = add_hyper(d, decay)
    if adaptive and chosen(d, "beta"):
        d = add_hyper(d, "beta2")
        d = substitute(d, {sym(d, "beta"): 1 - sym(d, "beta2")})
        d = with_quantities(d, drop=("beta",))
    step = natural_step(d, mean_step(d, "momentum"))
    gamma = sym(d, decay)
    rate = r0 * (1 - gamma) if adaptive else r0
    base = _at_rate(d, step.expr, r0, rate) if adaptive else step.expr
    slow = d.facts.scale is None or "slow-scale" in d.assumptions
    if not slow and d.facts.scale in dict(d.facts.corrections):
        raise refuse(
            "momentum",
            f"{d.facts.scale} is corrected as a plain average, which momentum of its own ends",
            "--slow-scale first, which leaves the scale's own momentum out",
        )
    d, previous = _remember(d, m)
    before = step.divisor_now if slow else _previous_divisor(d, step.divisor_now)
    repeated = gamma * step.divisor**-1 * before * (step.m - previous)
    d = rewrite(d, {f"{m}_next": base + repeated})
    last = Momentum(step.divisor, step.divisor_now)
    d = d.with_(facts=replace(d.facts, momentum=last))
    if not slow:
        d = _scale_momentum(d, gamma, {r0: rate} if adaptive else {})
    why = "the last step, λ − λ₋, is repeated in natural coordinates"
    if adaptive:
        r = shown(r0)
        why += f"; with {r} → {r}(1−β₁) and γ → β₁, the rates of the equivalent proximal step"
    d = say(d, "momentum", option, "Natural momentum", why)
    return carry(d) if slow else d


def _kept(d: Derivation) -> Momentum:
    """What momentum has remembered of the mean step."""
    kept = d.facts.momentum
    assert kept is not None, "a state one step earlier is there with momentum only"
    return kept


def _at_rate(d: Derivation, x: Expr, old: Expr, new: Expr) -> Expr:
    """x with another step size; what corrects an average keeps that average's own rate."""
    from blrgen.approximate.tools.rewrite import hold_corrections

    free, held = hold_corrections(d, x)
    return free.subs(old, new).subs(held)


def natural_step(d: Derivation, step: MeanStep) -> MeanStep:
    """The step with D the factor of the location in its natural coordinate, D m.

    A scale makes D a function of the *new* state; where the old one divides, the step is
    not one in natural coordinates.  A divisor made of the draw itself is no coordinate: the
    location is then natural already, D = 1.
    """
    import sympy as sp

    from blrgen.approximate.tools.rewrite import refuse, shown

    name = d.facts.scale
    if name is not None and step.divisor.has(d.rule[name].symbol):
        raise refuse(
            "momentum",
            f"the old {shown(d.rule[name].symbol)} divides the mean step, so the step is not "
            "one in natural coordinates, where the last one is repeated",
            "put --momentum before what divides by the old scale, or --precision new before it",
        )
    made = {q.name for q in d.rule.of("intermediate", "draw", "input")}
    if {s.name for s in step.divisor.free_symbols} & made:
        return replace(step, divisor=sp.S.One, divisor_now=sp.S.One)
    return step


def _remember(d: Derivation, name: str) -> tuple[Derivation, Expr]:
    """Add the state NAME_prev, the value one step earlier."""
    from blrgen.approximate.tools.rewrite import symbol, with_quantities
    from blrgen.core import Assignment

    x = symbol(d, name)
    previous = d.geometry.ring.symbol_like(x, f"{name}_prev")
    q = replace(d.rule[name], name=f"{name}_prev", symbol=previous,
                meaning=f"{d.rule[name].meaning} one step earlier", init=x)  # fmt: skip
    d = with_quantities(d, (q,))
    kept = (*d.rule.assignments, Assignment(f"{name}_prev_next", x))
    return d.with_(rule=replace(d.rule, assignments=kept)), previous


def _previous_divisor(d: Derivation, divisor: Expr) -> Expr:
    """D₋: the divisor two steps before D⁺."""
    from blrgen.approximate.tools.rewrite import scale

    name = scale(d, "momentum")
    x = d.rule[name].symbol
    return divisor.subs(x, d.geometry.ring.symbol_like(x, f"{name}_prev"))


def _scale_momentum(d: Derivation, gamma: Expr, rates: dict[Expr, Expr]) -> Derivation:
    """The same momentum, and the same rate where mean and scale share one."""
    from blrgen.approximate.tools.rewrite import final, rewrite, scale

    name = scale(d, "momentum")
    _check_additive(d)
    d, previous = _remember(d, name)
    now = final(d.rule, name)
    step = d.geometry.ring.tidy(now.subs(rates))
    last = replace(_kept(d), shares_rate=any(now.has(r) for r in rates))
    d = d.with_(facts=replace(d.facts, momentum=last))
    return rewrite(d, {f"{name}_next": step + gamma * (d.rule[name].symbol - previous)})


def _check_additive(d: Derivation) -> None:
    """λ − λ₋ is a multiple of s − s₋ only where λ is affine in s."""
    from blrgen.approximate.tools.rewrite import natural_in_scale, refuse, scale_value, shown

    if not natural_in_scale(d):
        x = shown(scale_value(d)[0])
        raise refuse(
            "momentum",
            f"the natural parameters are not affine in {x}: their momentum is not additive in {x}",
            "--slow-scale first, which leaves the scale's own momentum out",
        )


def carry(d: Derivation) -> Derivation:
    """Change of state u = −D (m − m₋)/r₀: the two-step form becomes a moving average."""
    import sympy as sp

    from blrgen.approximate.bias_correction import again
    from blrgen.approximate.tools.rewrite import (
        final,
        location,
        next_symbol,
        ordered,
        say,
        step_size,
        symbol,
        with_quantities,
    )  # fmt: skip
    from blrgen.core import Assignment, Change, Equation, Quantity

    m = location(d, "momentum")
    last = _kept(d)
    r0 = step_size(d, "momentum")
    ring, x = d.geometry.ring, symbol(d, m)
    u = ring.symbol_like(d.rule[m].symbol, "u")
    previous = symbol(d, f"{m}_prev")
    two_step = d.rule
    # m − m₋ = −r₀ D⁻¹ u, put into u⁺ = −D⁺ (m⁺ − m)/r₀
    there = final(d.rule, m).subs(previous, x + r0 * last.divisor_now**-1 * u)
    moved = sp.expand(there - x) if not x.is_commutative else there - x
    u_next = sp.Add(*[
        sp.Mul(-1, 1 / r0, last.divisor, term) if x.is_commutative
        else ring.tidy(-last.divisor * term / r0)
        for term in sp.Add.make_args(_opened(moved, x, u))
    ])  # fmt: skip
    quantity = Quantity("u", "state", d.rule[m].rank, u, "moving average of the gradient",
                        init=sp.S.Zero, domain="(-oo, oo)")  # fmt: skip
    d = with_quantities(d, (quantity,), drop=(f"{m}_prev",))
    u_plus = next_symbol(d, "u")
    new_mean = x - r0 * last.divisor**-1 * u_plus
    kept = [a for a in d.rule.assignments if a.name not in (f"{m}_next", f"{m}_prev_next")]
    from blrgen.approximate.tools.rewrite import hyper_symbols
    from blrgen.rule.arrange import arrange

    made = (
        Assignment("u_next", arrange(u_next, hyper_symbols(d))),
        *kept,
        Assignment(f"{m}_next", new_mean),
    )
    d = d.with_(rule=replace(d.rule, assignments=ordered(made)))
    state_map = -last.divisor_now * (x - previous) / r0
    change = Change("u", state_map, two_step, d.rule)
    d = d.with_(facts=replace(d.facts, changes=(*d.facts.changes, change)))
    return again(say(
        d, "momentum", None, "The last step as a moving average",
        "an exact change of state, with D what divides the mean step"
        if last.divisor != 1
        else "an exact change of state: the last step, by the step size",
        equations=(Equation(u, state_map), *_equations(d)),
    ))  # fmt: skip


def _opened(moved: Expr, x: Expr, u: Expr) -> Expr:
    """The step as a sum of the part in u and the rest, without expanding the divisor."""
    import sympy as sp

    from blrgen.algebra.partial import partial

    if not x.is_commutative:
        return moved
    in_u = partial(moved, u)
    return sp.Add(moved.subs(u, 0), in_u * u, evaluate=True)


def _equations(d: Derivation) -> Any:
    from blrgen.rule.lines import equations_of

    return equations_of(d.rule, d.geometry)


APPROXIMATION = Approximation(
    flag="momentum",
    summary="part of the last step is repeated, in natural coordinates: λ⁺ = λ − ρ∇_μL + γ(λ − λ₋)",
    rewrites="m⁺ → m⁺ + γ D⁺⁻¹D₋(m − m₋)",
    requires="a mean step that is linear in the gradient",
    citation="Polyak (1964); Khan et al. (2018), natural momentum",
    apply=apply,
)
