"""Linear systems of points: one unknown after the other is put into the others' equations.

    M x + m y = r,  mᵀ x + c y = s   →   (M − m c⁻¹ mᵀ) x = r − m c⁻¹ s,  y = c⁻¹ (s − mᵀ x)

The last unknown goes first.  One without letters of its own is divided by, others are solved
for; no array holds two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from blrgen.algebra.indexed import Index
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations
from blrgen.rule.model.values import LinearSystem


@dataclass(frozen=True)
class _Entry:
    """A matrix or a right side by its name, with the letters of what it is open in."""

    name: str
    letters: tuple[str, ...]

    @property
    def ref(self) -> a.Ref:
        return a.ref(self.name, *self.letters)


def solved(system: LinearSystem, eq: Equations) -> Iterator[tuple[str, a.Let]]:
    """The unknowns with their equations, in the order in which they are found."""
    return Solving(system, eq).unknowns()


class Solving:
    """The equations of a system: its matrix and right side, then its unknowns."""

    def __init__(self, system: LinearSystem, eq: Equations) -> None:
        self.system, self.eq = system, eq
        self.shared = self.named(system.shared, ())
        self.rows = [self.own(u.places) for u in system.unknowns]
        self.columns = [self.primed(k) for k in range(len(self.rows))]
        each = zip(self.rows, system.unknowns, system.right, strict=True)
        self.right = [
            self.made("right", (*self.shared, *row), system.shared, u.places, e)
            for row, u, e in each
        ]
        count = range(len(self.rows))
        self.matrix = {(g, h): self.block(g, h) for g in count for h in count}

    def named(self, places: tuple[Index, ...], used: tuple[str, ...]) -> tuple[str, ...]:
        out: tuple[str, ...] = ()
        for i in places:
            out = (*out, self.eq.letter(i.axis, i.name, (*used, *out)))
        return out

    def own(self, places: tuple[Index, ...]) -> tuple[str, ...]:
        """Letters of an unknown that the system couples."""
        return self.named(tuple(i for i in places if i not in self.system.shared), self.shared)

    def primed(self, k: int) -> tuple[str, ...]:
        """Second letters for the columns of an unknown."""
        places = [i for i in self.system.unknowns[k].places if i not in self.system.shared]
        rows = [x for row in self.rows for x in row]
        return self.named(tuple(places), (*self.shared, *rows))

    def where(self, places: tuple[Index, ...], letters: tuple[str, ...]) -> dict[str, str]:
        return dict(zip((i.name for i in places), letters, strict=True))

    def made(self, stem: str, letters: tuple[str, ...], shared: tuple[Index, ...],
             places: tuple[Index, ...], e: object, structure: str = "dense") -> _Entry:  # fmt: skip
        """An equation for an expression open in an unknown's places."""
        from blrgen.algebra.indexed import Expression

        assert isinstance(e, Expression)
        own = tuple(i for i in places if i not in shared)
        where = self.where((*shared, *own), letters)
        name = self.eq.own(stem)
        self.eq.let(a.Let(name, letters, self.eq.expr(e, where), structure))
        return _Entry(name, letters)

    def block(self, g: int, h: int) -> _Entry:
        """matrix[g][h], its columns under primed letters."""
        system = self.system
        own = [i for i in system.unknowns[g].places if i not in system.shared]
        other = [Index(i.axis, f"{i.name}'") for i in system.unknowns[h].places
                 if i not in system.shared]  # fmt: skip
        letters = (*self.shared, *self.rows[g], *self.columns[h])
        where = self.where((*system.shared, *own, *other), letters)
        name = self.eq.own("system")
        structure = "spd" if g == h and len(own) == 1 else "dense"
        expr = self.eq.expr(system.matrix[g][h], where)
        self.eq.let(a.Let(name, letters, expr, structure))
        return _Entry(name, letters)

    # -- elimination -------------------------------------------------------------------
    def unknowns(self) -> Iterator[tuple[str, a.Let]]:
        """Forward, last unknown first; then back."""
        steps = []
        for g in reversed(range(1, len(self.rows))):
            steps.append((g, self.inverse(g)))
            for p in range(g):
                self.eliminated(p, g, steps[-1][1])
        first = self.final(0, self.right[0])
        yield self.system.unknowns[0].name, first
        found = {0: first.name}
        for g, over in reversed(steps):
            rest: n.Node = self.right[g].ref
            for h, name in found.items():
                value = a.ref(name, *self.shared, *self.columns[h])
                product = n.mul(self.matrix[g, h].ref, value)
                sum_over = self.columns[h]
                rest = n.Sub(rest, a.Red("sum", sum_over, product) if sum_over else product)
            right = _Entry(self.eq.own("right"), self.right[g].letters)
            self.eq.let(a.Let(right.name, right.letters, rest))
            made = self.final(g, right) if self.rows[g] else self.scaled(g, over, right)
            found[g] = made.name
            yield self.system.unknowns[g].name, made

    def inverse(self, g: int) -> _Entry:
        """matrix[g][g]⁻¹."""
        own = self.matrix[g, g]
        name = self.eq.own("inverse")
        if not self.rows[g]:
            self.eq.let(a.Let(name, self.shared, n.div(n.ONE, own.ref)))
            return _Entry(name, self.shared)
        (row,), (column,) = self.rows[g], self.columns[g]
        axis = str(self.eq.letters[row].size)
        third = self.eq.letter(axis, "h", (*self.shared, row, column))
        same = self.eq.once("same", a.Let("", (row, column), a.Is(a.Ix(row), a.Ix(column))))
        solve = a.Lin("solve", (a.ref(own.name, *self.shared, row, third),
                                a.ref(same, row, column)))  # fmt: skip
        self.eq.let(a.Let(name, own.letters, solve, "spd"))
        return _Entry(name, own.letters)

    def eliminated(self, p: int, g: int, over: _Entry) -> None:
        """Unknown g is put into the equations of p."""
        left = self.eq.own("left")
        letters = (*self.shared, *self.rows[p], *self.columns[g])
        column = self.matrix[p, g]
        if self.rows[g]:
            swap = dict(zip(self.columns[g], map(a.Ix, self.rows[g]), strict=True))
            product = n.mul(a.swapped(column.ref, {**swap}), over.ref)
            self.eq.let(a.Let(left, letters, a.Red("sum", self.rows[g], product)))
        else:
            self.eq.let(a.Let(left, letters, n.mul(column.ref, over.ref)))
        at = a.ref(left, *letters)
        rows = dict(zip(self.columns[g], map(a.Ix, self.rows[g]), strict=True))
        self.right[p] = self.less("right", self.right[p], at, self.right[g].ref, g, rows)
        for h in range(g):
            self.matrix[p, h] = self.less(
                "system", self.matrix[p, h], at, self.matrix[g, h].ref, g, rows,
                "spd" if p == h and len(self.rows[p]) == 1 else "dense",
            )  # fmt: skip

    def less(self, stem: str, of: _Entry, at: n.Node, other: n.Node, g: int,
             rows: dict[str, a.Ix], structure: str = "dense") -> _Entry:  # fmt: skip
        """of − Σ at · other over the places of unknown g."""
        product = n.mul(a.swapped(at, {**rows}), other)
        total = a.Red("sum", self.rows[g], product) if self.rows[g] else product
        name = self.eq.own(stem)
        self.eq.let(a.Let(name, of.letters, n.Sub(of.ref, total), structure))
        return _Entry(name, of.letters)

    def scaled(self, g: int, over: _Entry, right: _Entry) -> a.Let:
        made = a.Let(self.eq.own("found"), right.letters, n.mul(over.ref, right.ref))
        self.eq.let(made)
        return made

    def final(self, g: int, right: _Entry) -> a.Let:
        """The unknown by its own matrix."""
        if not self.rows[g]:
            expr: n.Node = n.div(right.ref, self.matrix[g, g].ref)
        else:
            expr = a.Lin("solve", (self.matrix[g, g].ref, right.ref))
        made = a.Let(self.eq.own("found"), right.letters, expr)
        self.eq.let(made)
        return made
