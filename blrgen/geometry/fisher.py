"""The Fisher metric in every chart, transported both ways, and the natural gradient.

    F_ψ = Jᵀ F_λ J,  J = ∂λ/∂ψ        F_μ = F_λ⁻¹        ds² = dλᵀF_λdλ = dψᵀF_ψdψ = dμᵀF_μdμ
    F_λ⁻¹∇_λ f = ∇_μ f = J F_ψ⁻¹∇_ψ f

The last line is the chain rule: ∂μ/∂λ = F_λ gives ∇_λ f = F_λ∇_μ f for every smooth f.
Matrix parameters have no finite table of entries; their metric is the quadratic form
`Geometry.metric`, chart by chart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.algebra.partial import NoDerivative, partial
from blrgen.decide.proof import Proof, weakest
from blrgen.geometry.readable import multiplied_out, readable

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Table = tuple[tuple[Expr, ...], ...]
_LARGE = 120  # operations of a table whose inverse is still looked for
_MOST = 3  # parameters of a table whose inverse is still looked for
_CHEAP, _LETTERS = 300, 8  # operations and letters up to which common factors are looked for


@dataclass(frozen=True, eq=False)
class Fisher:
    """The metric of a family with scalar parameters in natural, working and mean coordinates."""

    geometry: Geometry

    @cached_property
    def natural(self) -> Table:
        """F_λ = ∂μ/∂λ = ∇²A."""
        return self.geometry.fisher

    @cached_property
    def jacobian(self) -> Table:
        """J = ∂λ/∂ψ, row by natural parameter."""
        g = self.geometry
        return tuple(
            tuple(partial(g.natural_of_working[x], w) for w in g.working) for x in g.natural
        )

    @cached_property
    def working(self) -> Table:
        """F_ψ = Jᵀ ∂μ/∂ψ = Jᵀ F_λ J, as a function of the working parameters."""
        return self._product(self._slopes)

    @cached_property
    def _slopes(self) -> list[list[Expr]]:
        """∂μ/∂ψ; F_λ J where the mean has no derivative in closed form."""
        g = self.geometry
        try:
            return [[partial(m, w) for w in g.working] for m in g.mean_in_working]
        except NoDerivative:
            return self._carried()

    @cached_property
    def transported(self) -> Table:
        """Jᵀ F_λ J with F_λ taken to working coordinates: the long way."""
        return self._product(self._carried())

    def _carried(self) -> list[list[Expr]]:
        """F_λ J in working parameters."""
        g = self.geometry
        there = [[g.to_working(e) for e in row] for row in self.natural]
        size = range(len(g.natural))
        return [
            [sp.Add(*[there[i][k] * self.jacobian[k][b] for k in size]) for b in size] for i in size
        ]

    def _product(self, rows: list[list[Expr]]) -> Table:
        size = range(len(rows))
        return tuple(
            tuple(
                readable(sp.expand(sp.Add(*[self.jacobian[i][a] * rows[i][b] for i in size])))
                for b in size
            )
            for a in size
        )

    @cached_property
    def mean(self) -> Table | None:
        """F_μ = F_λ⁻¹ as a function of λ; None where it would fill the page."""
        return inverse(self.natural)

    @cached_property
    def inverse_working(self) -> Table | None:
        """F_ψ⁻¹: the covariance bound, and what turns ∇_ψ into the natural gradient."""
        return inverse(self.working)

    @cached_property
    def proofs(self) -> tuple[Proof, ...]:
        """That the metric is one, whatever the coordinates."""
        return tuple(self._proofs())

    @property
    def level(self) -> str:
        """The weakest level among the proofs."""
        return weakest(p.level for p in self.proofs)

    def _proofs(self) -> Iterable[Proof]:
        from blrgen.decide.equal import equal

        g = self.geometry
        domains = {p.symbol: p.domain.text.split("^")[0]
                   for p in (*g.family.natural, *g.family.working, *g.family.fixed)
                   if p.domain.kind == "interval"}  # fmt: skip
        size = range(len(g.natural))
        for i in size:
            for j in range(i):
                yield equal(self.natural[i][j], self.natural[j][i], domains,
                            claim=f"F{i + 1}{j + 1} = F{j + 1}{i + 1}")  # fmt: skip
        if self.mean is not None:
            for i in size:
                for j in size:
                    entry = sp.Add(*[self.natural[i][k] * self.mean[k][j] for k in size])
                    yield equal(entry, sp.Integer(int(i == j)), domains,
                                claim=f"(F F_μ){i + 1}{j + 1}")  # fmt: skip
        if not g.family.working:
            return
        for i in size:
            for j in range(i + 1):
                yield equal(self.working[i][j], self.transported[i][j], domains,
                            claim=f"(F_ψ){i + 1}{j + 1} = (JᵀFJ){i + 1}{j + 1}")  # fmt: skip

    @cached_property
    def natural_gradient(self) -> Proof | None:
        """∇_μ f = F⁻¹∇_λ f = J F_ψ⁻¹∇_ψ f for every f: J F_ψ⁻¹ Jᵀ F_λ = 1, entry by entry."""
        from blrgen.decide.equal import equal

        g = self.geometry
        inner = self.inverse_working
        if inner is None:
            return None
        size = range(len(g.natural))
        slope = self._slopes  # FJ = ∂μ/∂ψ
        proofs = []
        for i in size:
            for j in size:
                entry = sp.Add(*[
                    self.jacobian[i][a] * inner[a][b] * slope[j][b] for a in size for b in size
                ])  # fmt: skip
                proofs.append(equal(entry, sp.Integer(int(i == j)), {}, claim="J F_ψ⁻¹ (∂μ/∂ψ)ᵀ"))
        worst = weakest(p.level for p in proofs)
        return next(p for p in proofs if p.level == worst)


def inverse(table: Table) -> Table | None:
    """The inverse of a small symmetric table, by cofactors; None for a large one."""
    size = len(table)
    if size > _MOST or sum(int(sp.count_ops(e)) for row in table for e in row) > _LARGE:
        return None
    rows = tuple(range(size))
    determinant = _short(_minor(table, rows, rows))
    if determinant == 0:
        return None
    return tuple(tuple(_quotient(_cofactor(table, j, i), determinant) for j in rows) for i in rows)


def _cofactor(table: Table, i: int, j: int) -> Expr:
    rows = tuple(k for k in range(len(table)) if k != i)
    columns = tuple(k for k in range(len(table)) if k != j)
    return (-1) ** (i + j) * _minor(table, rows, columns)


def _minor(table: Table, rows: tuple[int, ...], columns: tuple[int, ...]) -> Expr:
    """A determinant along its first row; no greatest common divisors, which may take for ever."""
    if not rows:
        return sp.S.One
    return sp.Add(*[
        (-1) ** k * table[rows[0]][c] * _minor(table, rows[1:], columns[:k] + columns[k + 1 :])
        for k, c in enumerate(columns)
    ])  # fmt: skip


def _quotient(above: Expr, below: Expr) -> Expr:
    return _short(above / below)


def _short(e: Expr) -> Expr:
    """In lowest terms where that is cheap, functions of the parameters counting as letters."""
    opened = multiplied_out(e)
    letters = opened.free_symbols | opened.atoms(sp.Function)
    if sp.count_ops(opened) > _CHEAP or len(letters) > _LETTERS:
        return e
    return sp.factor(sp.together(opened))
