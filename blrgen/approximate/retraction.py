"""A positive-definite step: the second-order term of the geodesic, in block coordinates.

x⁺ = x + ρX − ½ρ²Γ(X, X), with Γ from the Fisher metric g of the block:

    g(Γ(X, X), Y) = D_X g(X, Y) − ½ D_Y g(X, X)    for all Y.

In block coordinates the mean step is divided by the old scale.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.approximate.tools.base import Approximation, made

if TYPE_CHECKING:
    from blrgen.core import Derivation
    from blrgen.errors import NotApplicable
    from blrgen.geometry.geometry import Geometry

Expr = Any


def apply(d: Derivation, option: str | None) -> Derivation:
    from blrgen.algebra.ring import Components
    from blrgen.approximate.tools.rewrite import (
        final,
        hyper_symbols,
        location,
        natural_in_scale,
        next_symbol,
        refuse,
        rewrite,
        say,
        scale,
        scale_value,
        shown,
        symbol,
    )  # fmt: skip
    from blrgen.core import Equation
    from blrgen.rule.arrange import common_factor

    if made(d, "retraction"):
        raise refuse("retraction", "the step is already retracted")
    if isinstance(d.geometry.ring, Components):
        raise _of_vectors(d)
    if d.facts.family_scale is None or d.facts.location is None:
        return _by_blocks(d, option)
    name, m = scale(d, "retraction"), location(d, "retraction")
    if f"{name}_prev" in d.rule:
        raise refuse("retraction", "with momentum on the scale the step is not a geodesic's")
    family_scale, kept = scale_value(d)
    if not made(d, "coordinates", "working") and not natural_in_scale(d):
        raise refuse(
            "retraction",
            "the step is straight in natural coordinates, and these are not affine in "
            f"{shown(family_scale)}",
            "--coordinates working first",
        )
    christoffel, direction = christoffel_of(d.geometry, family_scale)
    _check_blocks(d, family_scale)
    ring, s = d.geometry.ring, symbol(d, name)
    total = common_factor(ring.tidy(final(d.rule, name) - s), hyper_symbols(d))
    new = (
        final(d.rule, name) - _in_state(d, christoffel, (family_scale, kept), direction, total) / 2
    )
    old = final(d.rule, m).subs(next_symbol(d, name), s)
    d = rewrite(d, {f"{name}_next": new, f"{m}_next": old})
    metric = Equation(
        _gamma_symbol(christoffel), christoffel, note="from the Fisher metric of the block"
    )
    from blrgen.rule.lines import equations_of

    return say(
        d, "retraction", option, "Positive-definite retraction",
        "the second-order term of the geodesic, −½Γ(step, step); in block coordinates "
        f"the old {name} divides the mean step",
        equations=(metric, *equations_of(d.rule, d.geometry)),
        notation=(("Gamma_XX", "Γ(X, X)", r"\Gamma(X, X)"),),
    )  # fmt: skip


def _by_blocks(d: Derivation, option: str | None) -> Derivation:
    """Every parameter with an end by its own metric."""
    from blrgen.approximate.tools.blocks import retract_blocks
    from blrgen.approximate.tools.matrix_blocks import retract_matrices

    retract = retract_blocks if d.geometry.ring.elementwise else retract_matrices
    return retract(d, option, christoffel_of)


def _of_vectors(d: Derivation) -> NotApplicable:
    """Γ is derived block by block; sums over components couple what belongs to different ones."""
    from blrgen.approximate.tools.blocks import side_of
    from blrgen.approximate.tools.rewrite import refuse

    if not any(side_of(p) for p in d.family.working or d.family.natural):
        return refuse("retraction", f"no parameter of {d.family.name} is confined to a half-line")
    return refuse(
        "retraction",
        f"the components of {d.family.variable} are a vector with one metric: the second-order "
        "term of the geodesic is derived for numbers and for matrices",
        "--backtracking",
    )


def _gamma_symbol(like: Expr) -> Expr:
    import sympy as sp

    from blrgen.algebra.ranks import symmat

    return sp.Symbol("Gamma_XX", real=True) if like.is_commutative else symmat("Gamma_XX")


def christoffel_of(geometry: Geometry, x: Expr) -> tuple[Expr, Expr]:
    """(Γ(X, X), X) of the Fisher metric of the working parameter x, derived."""
    from blrgen.algebra.calculus import gradient
    from blrgen.algebra.directions import direction_symbol, directional
    from blrgen.algebra.solve import isolate

    ring = geometry.ring
    big_x, big_y, unknown = (direction_symbol(x, n) for n in ("X", "Y", "Gamma_XX"))
    along = directional(geometry.metric(x, big_x, big_y), x, big_x)
    across = directional(geometry.metric(x, big_x, big_x), x, big_y)
    right = gradient(ring.tidy(along - across / 2), big_y)
    left = gradient(ring.tidy(geometry.metric(x, unknown, big_y)), big_y)
    return ring.tidy(isolate(ring.tidy(left - right), unknown)), big_x


def _in_state(
    d: Derivation, christoffel: Expr, scale: tuple[Expr, Expr], direction: Expr, total: Expr
) -> Expr:
    """Γ(step, step) for the state as kept: x = x(state) is affine, so x moves by x′·step."""
    import sympy as sp

    from blrgen.algebra.partial import partial
    from blrgen.approximate.tools.rewrite import symbol

    x, value = scale
    state = symbol(d, str(d.facts.scale))
    commutes = state.is_commutative
    slope = partial(value, state) if commutes else sp.expand(value).coeff(state)
    # the state stays a symbol of its own so that powers of the step are not multiplied out
    hold = d.geometry.ring.symbol_like(x, "x_now")
    step = christoffel.xreplace({x: hold}).subs(direction, slope * total) / slope
    return step.xreplace({hold: value})


def _check_blocks(d: Derivation, x: Expr) -> None:
    """Geodesics are taken within each block; a metric that couples them is refused."""
    from blrgen.approximate.tools.rewrite import refuse

    for other in d.geometry.working:
        if other != x and d.geometry.mixed_metric(x, other) != 0:
            raise refuse(
                "retraction",
                f"the Fisher metric couples {x} and {other}, so the blocks are not separate",
                "working parameters with a block-diagonal metric, such as mean and precision",
            )


APPROXIMATION = Approximation(
    flag="retraction",
    summary="parameters with an end follow the geodesic to second order, which keeps them inside",
    rewrites="S + ρG → S + ρG − ½ρ²Γ(G, G), each block by the old values of the others",
    requires="a scale whose Fisher metric does not mix with the mean's, or scalar parameters "
    "on half-lines with −Γ·(distance to the end) > ½",
    citation="Lin, Schmidt & Khan (2020)",
    apply=apply,
)
