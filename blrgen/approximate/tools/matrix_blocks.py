"""Retraction of matrices: each that must stay definite by the Christoffel symbols of its block.

With Γ(X, X) = −κ X S⁻¹ X the second-order step is

    S⁺ = S + X + ½κ X S⁻¹ X = S^½ (1 + Y + ½κ Y²) S^½,    Y = S^−½ X S^−½,

and 1 + y + ½κy² > 0 for every real y exactly when κ > ½.  The form of Γ and κ are derived.
Numbers on a half-line are retracted as everywhere, where that keeps them inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blrgen.core import Derivation, Parameter
    from blrgen.geometry.geometry import Geometry

Expr = Any


def retract_matrices(
    d: Derivation,
    option: str | None,
    christoffel_of: Callable[[Geometry, Expr], tuple[Expr, Expr]],
) -> Derivation:
    """The second-order term for every matrix that must stay definite and number with one end."""
    import sympy as sp

    from blrgen.approximate.tools.blocks import because, check_condition, check_names, side_of
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
    from blrgen.errors import InternalError
    from blrgen.rule.arrange import common_factor
    from blrgen.rule.lines import equations_of

    parameters = d.family.working or d.family.natural
    blocks = [p for p in parameters if p.domain.kind in ("spd", "-spd") or side_of(p)]
    if not any(p.domain.kind in ("spd", "-spd") for p in blocks):
        raise refuse("retraction", f"no matrix of {d.family.name} must stay definite")
    check_names(d, parameters)
    for p in parameters:
        _check_straight(d, p)
    changed: dict[str, Expr] = {}
    metrics, notation, steps, quantities = [], [], [], []
    for p in blocks:
        try:
            gamma, direction = christoffel_of(d.geometry, p.symbol)
        except InternalError as e:
            raise refuse(
                "retraction",
                f"the Christoffel symbols of {shown(p.symbol)} are not found in closed form",
                "--backtracking",
            ) from e
        rank = d.geometry.ring.rank(p.symbol)
        step = d.geometry.ring.symbol_like(p.symbol, f"step_{p.name}")
        if p.symbol.is_commutative:
            slope = sp.cancel(sp.together(gamma.subs(direction, 1)))
            _at_sizes(d, p, slope, check_condition)
            bend = slope * step**2
        else:
            _check_keeps(p, gamma, direction)
            bend = gamma.subs(direction, step)
        total = final(d.rule, p.name) - p.symbol
        total = common_factor(d.geometry.ring.tidy(total), hyper_symbols(d))
        steps.append(Assignment(step.name, total))
        quantities.append(
            Quantity(step.name, "intermediate", rank, step, f"first-order step of {p.name}")
        )
        changed[f"{p.name}_next"] = p.symbol + step - bend / 2
        name = d.geometry.ring.symbol_like(p.symbol, f"Gamma_{p.name}")
        metrics.append(Equation(name, bend))
        notation.append((name.name, f"Γ({shown(p.symbol)})", rf"\Gamma({shown(p.symbol)})"))
    d = with_quantities(d, tuple(quantities))
    letters = [a.name for a in d.rule.assignments if not a.name.endswith("_next")]
    d = rewrite(d, changed, before=tuple(steps))
    d = _letters_first(d, letters)
    told = because(d, tuple(p for p in parameters if p.symbol.is_commutative))
    text = (
        "the second-order term of the geodesic in each block by its own metric; for a matrix "
        "Γ(X, X) = −κXS⁻¹X with κ > ½, so that the next one is definite whatever the step"
    )
    scalars = any(p.symbol.is_commutative for p in blocks)
    return say(
        d, "retraction", option, "Retraction", text + ("; for numbers " + told if scalars else ""),
        equations=(*metrics, *equations_of(d.rule, d.geometry)), notation=tuple(notation),
    )  # fmt: skip


def _letters_first(d: Derivation, letters: list[str]) -> Derivation:
    """Divisors and coefficients before the steps that are made of them."""
    from dataclasses import replace

    first = [a for a in d.rule.assignments if a.name in letters]
    rest = [a for a in d.rule.assignments if a.name not in letters]
    return d.with_(rule=replace(d.rule, assignments=(*first, *rest)))


def _check_straight(d: Derivation, p: Parameter) -> None:
    """The step of p must be a straight line in p, by current values alone."""
    from blrgen.algebra.words import collect_words, normal
    from blrgen.approximate.tools.rewrite import chosen, refuse, symbol
    from blrgen.rule.expand import expanded

    own = {a.name for a in d.rule.assignments if a.name.endswith("_next")}
    expr = d.rule.expr(f"{p.name}_next")
    straight = chosen(d, "rho") and not any(s.name in own for s in expr.free_symbols)
    if straight:
        rho = symbol(d, "rho")
        step = normal(expanded(d.rule)[p.name] - p.symbol)
        words = [step] if step.is_commutative else list(collect_words(step).values())
        inside = step.is_commutative or not any(a.has(rho) for w in collect_words(step) for a in w)
        straight = inside and all(_linear(c, rho) for c in words)
    if not straight:
        raise refuse(
            "retraction",
            f"the step of {p.name} is straight in natural coordinates, and these are not affine "
            f"in {p.name}",
            "a chart whose matrices are multiples of the natural parameters, or --backtracking",
        )


def _linear(c: Expr, rho: Expr) -> bool:
    """c = ρ·(what has no ρ)."""
    import sympy as sp

    slope = sp.expand(c).coeff(rho, 1)
    return bool(sp.expand(c - rho * slope) == 0 and not slope.has(rho))


def _check_keeps(p: Parameter, gamma: Expr, direction: Expr) -> None:
    """Γ(X, X) = −κ X S⁻¹ X with κ > ½."""
    from blrgen.algebra.words import collect_words
    from blrgen.approximate.tools.rewrite import refuse

    words = collect_words(gamma)
    kappa = -words.get((direction, p.symbol**-1, direction), 0)
    enough = bool(getattr(kappa, "is_Rational", False)) and kappa > 0.5
    if len(words) != 1 or p.domain.lower is not None or not enough:
        raise refuse(
            "retraction",
            f"the second-order term of {p.name} is not known to keep it definite",
            "--backtracking",
        )


def _at_sizes(d: Derivation, p: Parameter, slope: Expr, check: Callable[..., None]) -> None:
    """The condition of a number, for several sizes of the matrices beside it."""
    import sympy as sp

    sizes = {s for s in slope.free_symbols if s.is_integer and s.is_positive}
    ends = [b for b in (p.domain.lower, p.domain.upper) if b is not None]
    for b in ends:
        sizes |= {s for s in sp.sympify(b).free_symbols if s.is_integer and s.is_positive}
    for size in (1, 2, 5):
        check(d, p, slope, dict.fromkeys(sizes, sp.Integer(size)))
