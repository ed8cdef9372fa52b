"""Running the rule until nothing moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import refuse, say
    from blrgen.core import Equation

    if d.rule.until:
        raise refuse("fixed-point", "the rule already runs to its fixed point")
    if d.rule.of("draw"):
        raise refuse("fixed-point", "with fresh draws the rule has no fixed point", "--delta first")
    still = tuple(
        Equation(point, value, note="at the fixed point") for point, value in fixed_point(d)
    )
    d = d.with_(rule=replace(d.rule, until="fixed point"))
    return say(d, "fixed-point", option, "To the fixed point",
               "iterated until next = current; there the equations read",
               equations=still)  # fmt: skip


def fixed_point(d: Derivation) -> list[tuple[object, object]]:
    """The equations with NAME_next = NAME: scales solved for, means as vanishing gradients."""
    from blrgen.algebra.solve import isolate
    from blrgen.approximate.tools.rewrite import next_symbol
    from blrgen.errors import InternalError

    ring = d.geometry.ring
    still = {next_symbol(d, q.name): q.symbol for q in d.rule.of("state")}
    out: list[tuple[object, object]] = []
    for q in d.rule.of("state"):
        gap = ring.tidy(d.rule.expr(f"{q.name}_next").subs(still) - q.symbol)
        target = q.symbol
        for probe in d.rule.of("input"):
            if gap.has(probe.symbol) and not (gap.has(q.symbol) and q.name == d.facts.scale):
                target = probe.symbol
        try:
            out.append((target, isolate(_essential(gap, target), target)))
        except InternalError:
            out.append((q.symbol, d.rule.expr(f"{q.name}_next").subs(still)))
    return out


def _essential(gap: Expr, target: Expr) -> Expr:
    """The factor of a gap that decides it: of v − v/(½vh + ½), the one in 1 − vh."""
    import sympy as sp

    if not gap.is_commutative or not gap.is_rational_function(target):
        return gap
    numerator = sp.fraction(sp.together(gap))[0]
    if not numerator.has(target) or not numerator.is_polynomial(*numerator.free_symbols):
        return gap
    factors = [f for f, _ in sp.factor_list(numerator)[1] if f != target and f.has(target)]
    return factors[0] if len(factors) == 1 else gap


APPROXIMATION = Approximation(
    flag="fixed-point",
    summary="the step is repeated until the parameters no longer move",
    rewrites="one step → the limit of the steps",
    requires="a rule without draws",
    citation="Laplace (1774); Khan & Rue (2023)",
    apply=apply,
)
