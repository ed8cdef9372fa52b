"""Working parameters: the chart both ways, the metric in it, the natural gradient."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.nodes import has_nodes
from blrgen.geometry.readable import readable
from blrgen.geometry.simplex import of_natural
from blrgen.show.geometry.moments import table
from blrgen.show.geometry.rows import Row, Shown, Writer, low
from blrgen.show.page import Formula, is_matrix
from blrgen.text.layout import Name, arrange
from blrgen.text.names import latex_name, unicode_name

Expr = Any


def charts(w: Writer) -> list[Row]:
    """The chart, F in every chart, and the natural gradient both ways."""
    g = w.geometry
    rows = [_working(w)] if g.family.working else [_simplex(w)] if g.family.simplex else []
    if g.ring.elementwise:
        rows += _metrics(w)
        rows += _natural_gradient(w)
    elif g.family.working:
        rows.append(_working_form(w))
    return rows


def _working(w: Writer) -> Row:
    g = w.geometry
    chart = [w.equal(x.name, g.natural_of_working[x], matrix=is_matrix(x)) for x in g.natural]
    back = [w.equal(x.name, g.working_of_natural[x], matrix=is_matrix(x)) for x in g.working]
    mean = [
        w.equal(f"mu{w.index(k)}", readable(e) if g.ring.elementwise else e, matrix=w.square(k))
        for k, e in enumerate(g.mean_in_working)
    ]
    return Row("Working parameters", (*chart, *back, *mean), "the chart, both ways", "working",
               "identity")  # fmt: skip


def _simplex(w: Writer) -> Row:
    family = w.geometry.family
    chart = [w.equal(p.name, e) for p, e in
             zip(family.natural, family.natural_of_simplex, strict=True)]  # fmt: skip
    (front, head), (end, last) = of_natural(family)
    back = [w.equal(front.name, head), w.equal(f"{end.name}_K", last)]
    because = "the chart, both ways: K numbers with sum 1 for K − 1; on the boundary, where one "
    because += "of them is 0, there is no natural parameter"
    return Row("Working parameters", (*chart, *back), because, "working", "identity")


def _metrics(w: Writer) -> list[Row]:
    fisher = w.geometry.metric_in_charts
    rows = []
    if w.geometry.family.working:
        because = "F_ψ = JᵀFJ with J = ∂λ/∂ψ; the other way F = J⁻ᵀF_ψJ⁻¹"
        shown = tuple(table(w, fisher.working, "Fψ", r"F^{\psi}"))
        rows.append(Row("Fisher information in working parameters", shown, because, "working",
                        fisher.level))  # fmt: skip
    if fisher.mean is not None:
        shown = tuple(table(w, fisher.mean, "Fμ", r"F^{\mu}"))
        rows.append(Row("Fisher information in mean parameters", shown,
                        "F_μ = F⁻¹, at λ", "natural", fisher.level))  # fmt: skip
    return rows


def _natural_gradient(w: Writer) -> list[Row]:
    """F⁻¹∇_λ f = ∇_μ f, and in working parameters F_ψ⁻¹∇_ψ f."""
    g = w.geometry
    fisher = g.metric_in_charts
    inverse = fisher.inverse_working if g.family.working else fisher.mean
    if inverse is None:
        return []
    names = g.working if g.family.working else g.natural
    slopes = [sp.Symbol(f"slope{k}_", real=True) for k in range(len(names))]
    shown: Shown = tuple(
        (s.name, (f"∂f/∂{unicode_name(x.name)}",
                  rf"\frac{{\partial f}}{{\partial {latex_name(x.name)}}}"))
        for s, x in zip(slopes, names, strict=True)
    )  # fmt: skip
    rows = tuple(
        w.named(
            f"∇̃_{unicode_name(x.name)} f",
            rf"\tilde{{\nabla}}_{{{latex_name(x.name)}}} f",
            sp.Add(*[a * s for a, s in zip(row, slopes, strict=True)]),
            shown,
        )
        for x, row in zip(names, inverse, strict=True)
    )
    because = "∇̃f = F⁻¹∇f with the metric of the chart; in natural parameters F⁻¹∇_λ f = ∇_μ f, "
    because += "which needs no inverse, since ∂μ/∂λ = F"
    proof = fisher.natural_gradient
    return [Row("Natural gradient", rows, because, "working" if g.family.working else "natural",
                proof.level if proof else "identity")]  # fmt: skip


def working_form(g: Any) -> Expr:
    """⟨X, F_ψ X⟩ in directions X1, X2, … of the working parameters."""
    from blrgen.algebra.directions import direction_symbol, directional

    moves = [direction_symbol(x, f"X{k + 1}") for k, x in enumerate(g.working)]
    terms = []
    for lam, mu in zip(g.natural, g.mean_in_working, strict=True):
        moved = [
            sp.Add(*[directional(e, x, m) for x, m in zip(g.working, moves, strict=True)])
            for e in (g.natural_of_working[lam], mu)
        ]
        terms.append(g.ring.inner(*moved))
    return g.ring.tidy(sp.Add(*terms))


def _working_form(w: Writer) -> Row:
    shown = (("form_", ("⟨X, FψX⟩", r"\langle X, F^{\psi} X \rangle")),)
    e = working_form(w.geometry)
    formula = Formula(Name("form_"), "=", arrange(e, w.reading), notation=shown)
    names = ", ".join(
        f"X{low(str(k))} of {unicode_name(x.name)}" for k, x in enumerate(w.geometry.working, 1)
    )
    because = f"the same metric along displacements {names}"
    return Row("Fisher information in working parameters", (formula,), because, "working",
               "numeric" if has_nodes(e) else "derived")  # fmt: skip
