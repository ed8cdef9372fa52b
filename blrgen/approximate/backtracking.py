"""The step size halved until the step stays inside the domain of the parameters.

The step is a straight line, x + ρX.  With g > 0 what is left to an end of the domain and
−ġ how fast the line uses it up, ρ is small enough when ρ·max(−ġ/g) < 1.  The largest
ρ·2⁻ᵏ for which that holds is

    ρ·2^−(⌊log₂ max(½, ρ·way)⌋ + 1),    way = (1 + 10⁻⁶) max(−ġ/g),

a millionth of the way being kept for rounding.  Matrices have no such end in closed form, and
the components of a vector must stay inside together: their step is tried (`halving`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation, Parameter

Expr = Any
NAME, WAY = "rho_in", "way"
SPARE = 10**6


def apply(d: Derivation, option: str | None) -> Derivation:
    from dataclasses import replace

    import sympy as sp

    from blrgen.approximate.tools.halving import halved
    from blrgen.approximate.tools.rewrite import refuse, say, with_quantities
    from blrgen.core import Assignment, Quantity
    from blrgen.rule.lines import equations_of

    if made(d, "backtracking"):
        raise refuse("backtracking", "the step is already halved where it has to be")
    if not d.geometry.ring.elementwise:
        return halved(d, option)
    rates = usage(d)
    if not rates:
        raise refuse(
            "backtracking", f"no parameter of {d.family.name} has an end that a step could cross"
        )
    rho = d.rule["rho"].symbol
    inside = sp.Symbol(NAME, positive=True)
    way = sp.Symbol(WAY, real=True)
    halvings = sp.floor(sp.log(sp.Max(sp.S.Half, rho * way)) / sp.log(2)) + 1
    assignments = (
        Assignment(WAY, (1 + sp.Rational(1, SPARE)) * sp.Max(*rates)),
        Assignment(NAME, rho * 2**-halvings),
        *(replace(a, expr=a.expr.xreplace({rho: inside})) for a in d.rule.assignments),
    )
    quantities = (
        Quantity(WAY, "intermediate", "elementwise", way, "share of the way to the nearest end"),
        Quantity(
            NAME, "intermediate", "elementwise", inside,
            "step size that stays inside the domain", domain="(0, 1]", text="ρᵢₙ",
            latex=r"\rho_{\mathrm{in}}",
        ),
    )  # fmt: skip
    d = with_quantities(d, quantities)
    d = d.with_(rule=replace(d.rule, assignments=assignments))
    return say(
        d, "backtracking", option, "Backtracking",
        "way is how much of what is left to the nearest end of the domain a step with ρ = 1 uses "
        "(and a millionth more, for rounding); ρ is halved until less than all of it is used",
        equations=equations_of(d.rule, d.geometry),
    )  # fmt: skip


def usage(d: Derivation) -> list[Expr]:
    """−ġ/g for every end that a coordinate of the step can cross, in current states."""
    import sympy as sp

    from blrgen.algebra.partial import partial

    coordinates, values, direction = line_of(d)
    rates = []
    for p in coordinates:
        for gap in gaps(p):
            moved = sp.Add(
                *[partial(gap, c.symbol) * v for c, v in zip(coordinates, direction, strict=True)]
            )
            table = dict(zip((c.symbol for c in coordinates), values, strict=True))
            rate = -moved.xreplace(table) / gap.xreplace(table)
            rates.append(sp.expand(rate) if sp.count_ops(rate) < 60 else rate)
    return rates


def gaps(p: Parameter) -> list[Expr]:
    """What is left to the ends of a parameter's domain, each an affine function > 0."""
    import sympy as sp

    if p.domain.kind != "interval":
        return []
    low, high = sp.sympify(p.domain.lower), sp.sympify(p.domain.upper)
    return [g for g, end in ((p.symbol - low, low), (high - p.symbol, high)) if not end.is_infinite]


def line_of(d: Derivation) -> tuple[tuple[Parameter, ...], list[Expr], list[Expr]]:
    """(coordinates, their values, the direction) of the straight step x + ρX."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import refuse
    from blrgen.rule.assemble import rule_of

    family, rho = d.family, _step_size(d)
    if made(d, "coordinates", "working") and not made(d, "retraction"):
        values = [p.symbol for p in family.working]
        steps = [sp.expand(d.rule.expr(f"{x.name}_next") - x) for x in values]
        if all(sp.expand(s.subs(rho, 0)) == 0 and sp.diff(s, rho, 2) == 0 for s in steps):
            return family.working, values, [sp.diff(s, rho) for s in steps]
    elif rule_of(d).assignments == d.rule.assignments:
        exact = d.exact
        return family.natural, list(exact.point.parts), list(exact.direction.parts)
    raise refuse(
        "backtracking",
        "the rule has been rewritten already, its step is no straight line",
        "put --backtracking before everything but --delta, --stochastic, --coordinates and --route",
    )


def _step_size(d: Derivation) -> Expr:
    from blrgen.approximate.tools.rewrite import chosen, refuse, symbol

    if not chosen(d, "rho"):
        raise refuse("backtracking", "ρ is no longer in the rule", "put --backtracking before it")
    return symbol(d, "rho")


APPROXIMATION = Approximation(
    flag="backtracking",
    summary="the step size is halved until the step stays inside the domain of the parameters",
    rewrites="ρ → ρ·2⁻ᵏ, k the smallest for which the step stays inside",
    requires="a coordinate with an end in its domain; before rewritings that bend the step",
    citation="Armijo (1966); Khan & Lin (2017)",
    apply=apply,
)
