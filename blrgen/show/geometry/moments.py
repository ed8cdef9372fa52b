"""What follows from A by differentiation: mean, Fisher matrix, entropy and its gradient."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.geometry.readable import readable
from blrgen.show.geometry.rows import Row, Writer, low
from blrgen.show.page import Formula, is_matrix
from blrgen.text.names import unicode_name

Expr = Any
_LONG = 150  # operations of a quadratic form that is still written out


def moments(w: Writer) -> list[Row]:
    """μ, λ(μ), F, 𝓗 and ∇_μ𝓗."""
    g = w.geometry
    mean = tuple(w.equal(f"mu{w.index(k)}", e, matrix=w.square(k)) for k, e in enumerate(g.mean))
    return [
        Row("Mean parameters", mean, "μ = ∇A(λ), the expectation of the statistics", "mean",
            "derived"),
        _inverse(w),
        _fisher(w),
        Row("Entropy", (w.equal("entropy_", _short(g, g.entropy)),), "𝓗 = A − ⟨λ, μ⟩ − 𝔼_q[log h]",
            "natural", "derived"),
        _gradient(w),
    ]  # fmt: skip


def _short(g: Any, e: Expr) -> Expr:
    return readable(e) if g.ring.elementwise else e


def _inverse(w: Writer) -> Row:
    g = w.geometry
    title = "Mean to natural parameters"
    if g.inverse_mean is None and g.elimination is not None and g.elimination.steps:
        return _one_equation(w, title)
    if g.inverse_mean is None:
        because = (
            "no closed form found: μ(λ) = μ is solved by safeguarded Newton steps with the Fisher "
            "matrix, and whether they converged is part of the answer"
        )
        return Row(title, (), because, "natural", "numeric")
    shown = tuple(
        w.equal(x.name, e, matrix=w.square(k))
        for k, (x, e) in enumerate(zip(g.natural, g.inverse_mean, strict=True))
    )
    return Row(title, shown, "μ = ∇A(λ) solved for λ", "natural", "derived")


def _one_equation(w: Writer, title: str) -> Row:
    """All parameters but one in closed form, and the equation for that one."""
    from blrgen.geometry.inverse import mean_symbols

    g = w.geometry
    plan = g.elimination
    shown = [w.equal(p.name, _short(g, e), matrix=is_matrix(p.symbol)) for p, e in plan.steps]
    left = (g.mean_in_working if plan.working else g.mean)[plan.left]
    shown.append(w.equal(mean_symbols(g)[plan.left].name, _short(g, left)))
    name = unicode_name(plan.held.name)
    because = (
        f"all but {name} in closed form; the last line is then an equation in {name} alone, "
        f"monotone in it, which safeguarded Newton steps solve. Whether they converged is part "
        f"of the answer"
    )
    return Row(title, tuple(shown), because, "natural", "numeric")


def _gradient(w: Writer) -> Row:
    g = w.geometry
    title, because = "Entropy gradient", entropy_case(g)
    if sum(int(sp.count_ops(e)) for e in g.entropy_gradient) > 2 * _LONG:
        because += (
            ". Too long to be written here: F⁻¹ times ∇_λ𝔼_q[log h]; --at gives its numbers, "
            "JSON the whole"
        )
        return Row(title, (), because, "natural", "derived")
    slope = tuple(_slope(w, k, e) for k, e in enumerate(g.entropy_gradient))
    return Row(title, slope, because, "natural", "derived")


def _slope(w: Writer, k: int, e: Expr) -> Formula:
    index = w.index(k)
    latex = rf"\nabla_{{\mu_{{{index}}}}} \mathcal{{H}}" if index else r"\nabla_{\mu} \mathcal{H}"
    return w.named(f"∇_μ{low(index)} 𝓗", latex, e, matrix=w.square(k))


def entropy_case(g: Any) -> str:
    """Which case of ∇_μ𝓗 = −λ − ∇_μ𝔼_q[log h] this family is."""
    general = "∇_μ𝓗 = −λ − ∇_μ𝔼_q[log h]"
    variables = getattr(g.family, "variables", None) or (g.family.variable,)
    if not sp.sympify(g.family.base_measure).has(*variables):
        return f"{general}; here h is constant, and what is left is −λ"
    gaps = [-x - e for x, e in zip(g.natural, g.entropy_gradient, strict=True)]
    extra = [sp.expand(e) if sp.count_ops(e) <= _LONG else e for e in gaps]
    if all(e == 0 for e in extra):
        return f"{general}; here h is not constant, but its term is 0"
    if not any(e.has(*g.natural) for e in extra):
        return (
            f"{general}; here log h is linear in the statistics, so its term is a constant: "
            "with −λ alone it would be wrong"
        )
    return f"{general}; here h is not constant, and −λ alone would be wrong"


def _fisher(w: Writer) -> Row:
    g = w.geometry
    title = "Fisher information"
    if g.ring.elementwise:
        because = "F = ∂μ/∂λ = ∇²A(λ), the covariance of the statistics"
        return Row(title, tuple(table(w, g.fisher, "F", "F")), because, "mean", "derived")
    because = "F = ∂μ/∂λ along a direction X of the natural parameters"
    e = fisher_form(g)
    if g.family.working and sp.count_ops(e) > _LONG:
        because += "; long in natural parameters, so it is written below in the working ones"
        return Row(title, (), because, "mean", "derived")
    return Row(title, (form(w, e),), because, "mean", "derived")


def table(w: Writer, entries: Any, text: str, latex: str) -> list[Formula]:
    """The entries of a symmetric table on and above its diagonal."""
    size = len(entries)
    return [
        w.named(
            text if size == 1 else f"{text}{low(f'{i + 1}{j + 1}')}",
            latex if size == 1 else f"{latex}_{{{i + 1}{j + 1}}}",
            readable(entries[i][j]),
        )
        for i in range(size)
        for j in range(i, size)
    ]


def form(w: Writer, e: Expr) -> Formula:
    """⟨X, FX⟩ of directions X."""
    return w.named("⟨X, FX⟩", r"\langle X, F X \rangle", e)


def fisher_form(geometry: Any) -> Expr:
    """⟨X, F X⟩ = Σ_ij ⟨X_i, D_j μ_i [X_j]⟩ for a direction X_i of each natural parameter."""
    from blrgen.algebra.directions import direction_symbol, directional

    moves = [direction_symbol(x, f"X{k + 1}") for k, x in enumerate(geometry.natural)]
    terms = [
        geometry.ring.inner(moves[i], directional(mean, x, moves[j]))
        for i, mean in enumerate(geometry.mean)
        for j, x in enumerate(geometry.natural)
    ]
    return geometry.ring.tidy(sp.Add(*terms))
