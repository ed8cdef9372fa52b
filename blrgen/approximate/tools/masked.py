"""Delta and a draw for weights of which each has a component at zero.

Under q a weight is of its first component with probability π and otherwise at zero.  With the
delta method at each component θ = z ∘ m, z ~ Bernoulli(π), and of what the rule asks of
weight j, given that z_j = 1,

    E_z[∇_jℓ(z∘m) | z_j = 1] = E_z[(z_j/π) ∇_jℓ(z∘m)],

which one draw of all z estimates for every weight at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blrgen.core import Derivation, Probe

Expr = Any


def at_each_component(d: Derivation, option: str | None) -> Derivation:
    """E_q[∇ℓ | z = 1] → E_z[(z/π)∇ℓ(z∘m)]; log q at the component's own mean."""
    from blrgen.approximate.tools.rewrite import refuse, say, set_probes, symbol

    if not any(p.at == "q" for p in d.facts.probes):
        raise refuse("delta", "no expectation under q is left in the rule")

    def put(p: Probe) -> Probe:
        return replace(p, at="m" if p.of_mixture else "mask") if p.at == "q" else p

    d = set_probes(d, put)
    pi = symbol(d, "pi")
    return say(
        d, "delta", option, "Delta method at each component",
        f"𝔼_q[f(θ) | z=1] ≈ 𝔼_z[f(z∘m) | z=1] = 𝔼_z[(z/{pi_text(pi)}) f(z∘m)], z ~ Bernoulli("
        f"{pi_text(pi)}): the value at the mean of q₁ where z = 1, at zero where z = 0",
    )  # fmt: skip


def pi_text(pi: Expr) -> str:
    """π as it is printed."""
    from blrgen.approximate.tools.rewrite import shown

    return shown(pi)


def one_mask(d: Derivation, option: str | None) -> Derivation:
    """E_z[(z/π)∇ℓ(z∘m)] → (z/π)ĝ(z∘m) with one draw of z."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import (
        refuse,
        say,
        set_probes,
        substitute,
        symbol,
        with_quantities,
    )
    from blrgen.core import Assignment, Quantity

    if any(p.at == "q" and not p.of_mixture for p in d.facts.probes):
        raise refuse("stochastic", "a draw of θ from both components is not made here",
                     "--delta first")  # fmt: skip
    if "z" in d.rule:
        raise refuse("stochastic", "z is drawn already")
    z = sp.Symbol("z", nonnegative=True)
    theta = d.geometry.ring.symbol_like(d.family.variable, "theta")
    asked = [p for p in d.facts.probes if p.at == "mask"]
    d = substitute(d, {p.symbol: z / symbol(d, "pi") * p.symbol for p in asked})
    d = with_quantities(
        d,
        (
            Quantity("z", "draw", "elementwise", z, "1 where the weight is of q₁, else 0",
                     distribution="Bernoulli(pi)", domain="{0, 1}"),
            Quantity("theta", "intermediate", "elementwise", theta, "where the loss is probed"),
        ),
    )  # fmt: skip
    first = Assignment("theta", z * dict(d.candidate)["mean"], "draw")
    d = d.with_(rule=replace(d.rule, assignments=(first, *d.rule.assignments)))
    d = set_probes(d, lambda p: replace(p, minibatch=True, at="theta" if p.at == "mask" else p.at))
    return say(
        d, "stochastic", option, "Stochastic approximation",
        "one draw of z and a minibatch stand for the expectation and the data",
    )  # fmt: skip
