"""μ → λ takes μ(λ) back to λ: the closed form where there is one, else Newton's steps."""

from __future__ import annotations

from blrgen.check.context import Context
from blrgen.check.finding import NotChecked, within
from blrgen.check.stages.parametrisations import _exact
from blrgen.geometry.tabulated import number

NAME = "inverse mean"
NEEDS: tuple[str, ...] = ("minimality",)
TRIED = 2  # points; a search costs more than an evaluation


def run(context: Context) -> tuple[str, str]:
    """λ(μ(λ)) = λ at every point."""
    from blrgen.geometry.inverse import mean_symbols

    geometry, family = context.geometry, context.family
    if not family.elementwise:
        raise NotChecked("a mean map of matrices is inverted symbolically only")
    inverse = geometry.inverse_mean
    if inverse is None:
        return _by_newton(context)
    symbols, gaps = mean_symbols(geometry), []
    for point, table in context.tables:
        there = {p.symbol: point[p.symbol] for p in family.fixed}
        there |= {s: _exact(m) for s, m in zip(symbols, table.means, strict=True)}
        for p, e in zip(family.natural, inverse, strict=True):
            should = number(point[p.symbol])
            gaps.append(context.compare(f"{p.name} of E[T]", e, should, there))
    return "numeric", f"closed form; λ(E[T]) within {within(max(gaps))} of λ"


def _by_newton(context: Context) -> tuple[str, str]:
    """The search from the density's own means, at the first points."""
    from blrgen.check.by_sizes import way

    geometry, family = context.geometry, context.family
    gaps = []
    for point, table in context.tables[:TRIED]:
        fixed = {p.name: point[p.symbol] for p in family.fixed}
        found = geometry.natural_of_mean(table.means, fixed)
        shown = ", ".join(f"{k} = {v}" for k, v in point.items())
        if not found.converged:
            raise NotChecked(f"no convergence from E[T] at {shown}: {found.reason}")
        for p, value in zip(family.natural, found.natural, strict=True):
            should = number(point[p.symbol])
            gaps.append(context.compare(f"{p.name} of E[T]", _exact(value), should, point))
    text = f"λ(E[T]) within {within(max(gaps))} of λ at {len(gaps)} numbers"
    return "numeric", f"{way(context)}; {text}"
