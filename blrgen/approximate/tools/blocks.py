"""Retraction of scalar blocks: every parameter on a half-line by its own Christoffel symbol.

With y the distance to the end, x⁺ = x + X − ½Γ X² keeps y⁺ = y + X − ½Γ X² > 0 for every
step X exactly when −Γ y > ½.  That is looked at over many orders of magnitude, on the Γ
derived from the family's own Fisher metric, before the step is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blrgen.core import Derivation, Parameter
    from blrgen.geometry.geometry import Geometry

Expr = Any
_DISTANCES = ("1/1000000", "1/1000", "1/10", "1", "7", "1000", "1000000")


def retract_blocks(
    d: Derivation,
    option: str | None,
    christoffel_of: Callable[[Geometry, Expr], tuple[Expr, Expr]],
) -> Derivation:
    """The second-order term for every scalar parameter with one end."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import (
        final,
        hyper_symbols,
        refuse,
        rewrite,
        say,
        shown,
        with_quantities,
    )
    from blrgen.core import Assignment, Equation, Quantity
    from blrgen.rule.arrange import common_factor
    from blrgen.rule.lines import equations_of

    family = d.family
    parameters = family.working or family.natural
    blocks = [p for p in parameters if side_of(p)]
    if not blocks:
        raise refuse("retraction", f"no parameter of {family.name} is confined to a half-line")
    check_names(d, parameters)
    for p in parameters:
        _check_straight(d, p)
    changed: dict[str, Expr] = {}
    metrics, notation, steps, quantities = [], [], [], []
    for p in blocks:
        gamma, direction = christoffel_of(d.geometry, p.symbol)
        slope = sp.cancel(sp.together(gamma.subs(direction, 1)))
        check_condition(d, p, slope)
        total = common_factor(sp.expand(final(d.rule, p.name) - p.symbol), hyper_symbols(d))
        step = sp.Symbol(f"step_{p.name}", real=True)
        steps.append(Assignment(step.name, total))
        quantities.append(
            Quantity(
                step.name, "intermediate", "elementwise", step, f"first-order step of {p.name}"
            )
        )
        changed[f"{p.name}_next"] = p.symbol + step - slope * step**2 / 2
        name = f"Gamma_{p.name}"
        metrics.append(Equation(sp.Symbol(name, real=True), slope))
        notation.append((name, f"Γ({shown(p.symbol)})", rf"\Gamma({shown(p.symbol)})"))
    d = with_quantities(d, tuple(quantities))
    d = rewrite(d, changed, before=tuple(steps))
    return say(
        d, "retraction", option, "Retraction", because(d, parameters),
        equations=(*metrics, *equations_of(d.rule, d.geometry)), notation=tuple(notation),
    )  # fmt: skip


def check_names(d: Derivation, parameters: tuple[Parameter, ...]) -> None:
    """Blocks are found in the rule by the names that the family gives them."""
    from blrgen.approximate.tools.rewrite import refuse

    gone = [p.name for p in parameters if p.name not in d.rule]
    if gone:
        raise refuse("retraction", f"{gone[0]} has another name by now", "--retraction first")


def side_of(p: Parameter) -> int:
    """+1 for a half-line (a, ∞), −1 for (−∞, a), 0 for anything else."""
    import sympy as sp

    if p.domain.kind != "interval":
        return 0
    low, high = sp.sympify(p.domain.lower), sp.sympify(p.domain.upper)
    if low.is_infinite == high.is_infinite:
        return 0
    return 1 if high.is_infinite else -1


def because(d: Derivation, parameters: tuple[Parameter, ...]) -> str:
    text = (
        "the second-order term of the geodesic, −½Γ·step², in each block by its own metric, "
        "Γ = ½F′/F; −Γ·(distance to the end) > ½ was checked over twelve orders of magnitude, "
        "so no step leaves the half-line"
    )
    coupled = [
        f"{x.name} and {y.name}"
        for i, y in enumerate(parameters)
        for x in parameters[:i]
        if d.geometry.mixed_metric(x.symbol, y.symbol) != 0
    ]
    if coupled:
        text += (
            f". The metric couples {', '.join(coupled)}: a retraction to first order, "
            "not the geodesic of the whole family"
        )
    return text


def _check_straight(d: Derivation, p: Parameter) -> None:
    """The step of p must be a straight line in p, by current values alone."""
    import sympy as sp

    from blrgen.approximate.tools.rewrite import chosen, final, refuse, symbol

    expr = final(d.rule, p.name)
    later = any(s.name.endswith("_next") or s.name not in d.rule for s in expr.free_symbols)
    moved = later
    if chosen(d, "rho") and not later:
        rho = symbol(d, "rho")
        step = sp.expand(expr - p.symbol)
        moved = not expr.has(rho) or sp.cancel(sp.diff(step, rho, 2)) != 0
        moved = moved or sp.cancel(step.subs(rho, 0)) != 0
    if moved:
        raise refuse(
            "retraction",
            f"the step of {p.name} is straight in natural coordinates, and these are not affine "
            f"in {p.name}",
            "--coordinates working first",
        )


def check_condition(
    d: Derivation, p: Parameter, slope: Expr, sizes: dict[Expr, Expr] | None = None
) -> None:
    """−Γ·y > ½ at points from 10⁻⁶ to 10⁶ away from the end, others inside their domains."""
    import mpmath
    import sympy as sp

    from blrgen.approximate.tools.rewrite import refuse
    from blrgen.geometry.verify import parameter_points
    from blrgen.value.evaluate import Undefined, evaluate

    side, sizes = side_of(p), sizes or {}
    slope = slope.xreplace(sizes)
    every = (*d.family.fixed, *(d.family.working or d.family.natural))
    others = tuple(q for q in every if q.symbol.is_commutative)
    for found in parameter_points(others, 3):
        point = {k: sp.sympify(v).subs(sizes) for k, v in found.items()}
        for text in _DISTANCES:
            y = sp.Rational(text)
            end = sp.sympify(p.domain.lower if side > 0 else p.domain.upper).subs(point)
            end = end.subs(sizes)
            with mpmath.workdps(40):
                at = {k: evaluate(sp.sympify(v), {}) for k, v in point.items()}
                at[p.symbol] = evaluate(end + side * y, {})
                try:
                    kept = -side * evaluate(slope, at) * evaluate(y, {})
                except Undefined:
                    kept = mpmath.mpf(0)
            if not kept > 0.5:
                raise refuse(
                    "retraction",
                    f"for {p.name} the second-order term does not keep the step inside: "
                    f"−Γ·distance is {mpmath.nstr(kept, 4)} at distance {text}, where more "
                    "than ½ is needed",
                    "--backtracking",
                )
