"""The joint over (z, θ), its blocks and their natural gradients, as lines of a derivation."""

from __future__ import annotations

from typing import Any

from blrgen.core import Derivation, Equation, Step
from blrgen.rule.lines import equations_of, probe_notation, sym
from blrgen.rule.quantities import component_mark

Expr = Any


def component_lines(d: Derivation, of: str, candidate: Step) -> tuple[Step, ...]:
    """What stands in place of the rule of the family alone; the family's own lines come first."""
    own = d.steps[: -2 if d.family.working else -1]  # all but the rule of the family itself
    return (*own, candidate, *joint_lines(of), rule_line(d, of))


def joint_lines(of: str) -> tuple[Step, ...]:
    """The mixture as a joint, and ∇_{μ_k} of the objective."""
    low = component_mark(of)
    tex = f"_{{{of}}}"
    notation = (
        ("mu_block", f"μ{low}", rf"\mu{tex}"),
        ("mean_block", f"𝔼_q[1{{z={of}}} T(θ)]", rf"\mathbb{{E}}_q[1_{{z={of}}} T(\theta)]"),
        ("mean_own", f"π{low} 𝔼_q{low}[T]", rf"\pi{tex}\, \mathbb{{E}}_{{q{tex}}}[T]"),
        ("objective", "𝔼_q[ℓ] − 𝓗(q)", r"\mathbb{E}_q[\ell] - \mathcal{H}(q)"),
        ("together", "𝔼_q[ℓ + log q]", r"\mathbb{E}_q[\ell + \log q]"),
        (
            "grad_block",
            f"∇_μ{low} (𝔼_q[ℓ] − 𝓗(q))",
            rf"\nabla_{{\mu{tex}}} (\mathbb{{E}}_q[\ell] - \mathcal{{H}}(q))",
        ),
        (
            "grad_own",
            f"∇_𝔼[T] 𝔼_q{low}[ℓ + log q]",
            rf"\nabla_{{\mathbb{{E}}[T]}} \mathbb{{E}}_{{q{tex}}}[\ell + \log q]",
        ),
    )
    return (
        Step(
            "A joint over (z, θ)",
            (
                Equation(sym("mu_block"), sym("mean_block")),
                Equation(sym("mean_block"), sym("mean_own")),
            ),
            "given z, θ has the law of the family: a conditional exponential family, minimal, with "
            f"the statistics 1{{z={of}}} and 1{{z={of}}} T(θ); θ alone has the density q",
            "mean",
            notation=notation,
        ),
        Step(
            "The gradient of a block",
            (
                Equation(sym("objective"), sym("together")),
                Equation(sym("grad_block"), sym("grad_own")),
            ),
            f"π{low} stands in the slope and in μ{low} alike and cancels; what the objective "
            "changes through log q itself is 𝔼_q[∂ log q] = 0, so log q is held as it stands",
            "natural",
            notation=notation,
        ),
    )


def rule_line(d: Derivation, of: str) -> Step:
    """The rule of one component."""
    low = component_mark(of)
    return Step(
        f"The Bayesian learning rule of component {of}",
        equations_of(d.rule, d.geometry),
        f"λ{low}⁺ = λ{low} − ρ∇_𝔼[T] 𝔼_q{low}[ℓ + log q], solved for the working parameters"
        if d.family.working
        else f"λ{low}⁺ = λ{low} − ρ∇_𝔼[T] 𝔼_q{low}[ℓ + log q]",
        "working" if d.family.working else "natural",
        notation=probe_notation(d.rule),
    )


def apart_lines(d: Derivation) -> tuple[Step, ...]:
    """Derivatives of log q where the rule asks for them: what keeps components apart."""
    order = max((p.order for p in d.facts.probes if p.of_mixture), default=0)
    if not order:
        return ()
    notation = (
        ("share", "rₖ(θ)", r"r_k(\theta)"),
        ("share_is", "πₖ qₖ(θ)/q(θ)", r"\pi_k q_k(\theta)/q(\theta)"),
        ("slope", "∇log q", r"\nabla \log q"),
        ("slope_is", "Σₖ rₖ ∇log qₖ", r"\textstyle\sum_k r_k \nabla \log q_k"),
        ("bend", "∇²log q", r"\nabla^2 \log q"),
        (
            "bend_is",
            "Σₖ rₖ (∇²log qₖ + ∇log qₖ ∇log qₖᵀ) − ∇log q ∇log qᵀ",
            r"\textstyle\sum_k r_k (\nabla^2 \log q_k + \nabla \log q_k \nabla \log q_k^\top)"
            r" - \nabla \log q\, \nabla \log q^\top",
        ),
    )
    names = ("share", "slope", "bend")[: 1 + order]
    return (
        Step(
            "What keeps components apart",
            tuple(Equation(sym(x), sym(f"{x}_is")) for x in names),
            "log Σₖ πₖ qₖ, differentiated; the rule goes down ∇ℓ + ∇log q, so down ∇log q: away "
            "from where the others are, by as much as they share the place",
            "sample",
            notation=notation,
        ),
    )


def weight_lines(d: Derivation) -> tuple[Step, ...]:
    """The block of the weights: the law of z, whose values are the components."""
    notation = (
        *probe_notation(d.rule),
        ("eta", "log(πₖ/π_K)", r"\log(\pi_k/\pi_K)"),
        ("eta_next", "log(πₖ/π_K)⁺", r"\log(\pi_k/\pi_K)^{+}"),
        ("gap", "(𝔼_qₖ − 𝔼_q_K)[ℓ + log q]",
         r"(\mathbb{E}_{q_k} - \mathbb{E}_{q_K})[\ell + \log q]"),
        ("w_sum", "Σₖ wₖ", r"\textstyle\sum_k w_k"),
    )  # fmt: skip
    rho = d.rule["rho"].symbol
    names = {a.name: a.expr for a in d.rule.assignments}
    return (
        Step(
            "The Bayesian learning rule of the weights",
            (
                Equation(sym("eta_next"), sym("eta") - rho * sym("gap")),
                Equation(d.rule["w"].symbol, names["w"]),
                Equation(sym("pi_next"), names["pi_next"]),
            ),
            "z takes finitely many values: ∇_μ is the difference of what the objective is at them; "
            "the second and third lines are the first, without the last component's part",
            "natural",
            notation=notation,
        ),
    )
