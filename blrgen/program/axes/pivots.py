"""Known small sizes written out, with the pivots of what must be definite.

A factor chol(A) becomes A = L D Lᵀ with ones on the diagonal of L, which needs a division for
each column and no root; D is positive where A is definite, and each entry of D is an equation
that whoever runs the program has to look at.  Zᵀ Z with Z = L⁻¹X is Yᵀ D⁻¹ Y, without a root.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product

from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.arithmetic import inner, times
from blrgen.program.axes import factors
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import anf
from blrgen.program.axes.dead import dead
from blrgen.program.axes.formed import turned_product
from blrgen.program.axes.written_out import Known, Slot, Writing
from blrgen.program.program import fresh


@dataclass(frozen=True)
class Pivoted:
    """A program of numbers alone; its pivots, each with the matrix that it is a pivot of."""

    program: a.Program
    pivots: Mapping[str, str]


def pivoted(program: a.Program, axes: Set[int], known: Known | None = None) -> Pivoted:
    """The program with the axes of these sizes written out."""
    for x in (x for s in program.lets for x in n.walk(s.expr) if isinstance(x, n.Call)):
        if x.name != "sqrt":
            raise UserError(
                f"entries cannot be written out here: {x.name} of a number is in between",
                how="leave --size out",
            )
    work = _Pivots(anf(program), axes, known or {})
    whole = work.whole()
    needed = dead(replace(whole, outs=(*whole.outs, *work.pivots)))
    return Pivoted(replace(needed, outs=whole.outs), work.pivots)


class _Pivots(Writing):
    """Factors by what they are factors of and by their names, and solutions with halves."""

    def __init__(self, program: a.Program, axes: Set[int], known: Known) -> None:
        super().__init__(program, axes, known)
        self.pivots: dict[str, str] = {}
        self.of: dict[str, factors.Factor] = {}
        self.halves: dict[str, tuple[factors.Factor, factors.Rows]] = {}
        self.left = ""  # the equation that is under way

    def let(self, s: a.Let) -> list[a.Statement]:
        self.left = s.name
        both = set(turned_product(s.expr))
        half = self.halves.get(both.pop()) if len(both) == 1 else None
        return super().let(s) if half is None else self.square(s, *half)

    def square(self, s: a.Let, f: factors.Factor, below: factors.Rows) -> list[a.Statement]:
        """Yᵀ D⁻¹ Y, of which one triangle is computed."""
        out: list[a.Statement] = []

        def named(x: n.Node) -> n.Node:
            name = fresh(f"{s.name}_over", self.taken)
            self.taken.add(name)
            out.append(a.Let(name, (), x))
            return a.Ref(name)

        scaled = [[named(times(x, f.over[k])) for x in row] for k, row in enumerate(below)]
        for i in range(len(scaled[0])):
            for j in range(i + 1):
                name = self.entry_name(s.name, (i, j))
                self.names[s.name, (i, j)] = self.names[s.name, (j, i)] = name
                terms = [x[i] for x in below], [x[j] for x in scaled]
                out.append(a.Let(name, (), inner(*terms)))
        return out

    def linear(self, s: a.Let, e: a.Lin, slot: Slot) -> list[a.Statement]:
        """Entries that are there under a name already are called by it."""
        rows = [x for x in s.letters if x in self.letters and x not in a.own_letters(e)]
        if rows:
            return self.row_by_row(s, e, slot, rows)
        out: list[a.Statement] = []
        for x in super().linear(s, e, slot):
            same = x.expr.name if isinstance(x, a.Let) and isinstance(x.expr, a.Ref) else ""
            if not same:
                out.append(x)
                continue
            assert isinstance(x, a.Let)
            places = [k for k, name in self.names.items() if k[0] == s.name and name == x.name]
            self.names |= dict.fromkeys(places, same)
        return out

    def row_by_row(
        self, s: a.Let, e: a.Lin, slot: Slot, letters: Sequence[str]
    ) -> list[a.Statement]:
        """One matrix and several right sides, whose letters come first."""
        out: list[a.Statement] = []
        for at in product(*(range(int(self.size[x])) for x in letters)):
            places = {x: a.Num(k) for x, k in zip(letters, at, strict=True)}
            one = a.swapped(e, places)
            assert isinstance(one, a.Lin)
            name = fresh("_".join([s.name, *map(str, at)]), self.taken)
            out += self.linear(a.Let(name, a.own_letters(e), one), one, slot)
            found = {k: x for k, x in self.names.items() if k[0] == name}
            self.names |= {(s.name, (*at, *own)): x for (_, own), x in found.items()}
        return out

    def solution(
        self, e: a.Lin, slot: Slot, part: factors.Named, whole: factors.Named
    ) -> n.Node | factors.Rows:
        """By the factor of the matrix, whose pivots are there."""
        name = e.args[0].name
        if e.op == "chol":
            return self.root(e.args[0], part)
        if name not in self.of:
            what = "a matrix that may be indefinite is solved with"
            raise UserError(
                f"entries cannot be written out here: {what}",
                why="that needs rows to change places, as the numbers say",
                how="leave --size out",
            )
        f, right = self.of[name], self.rows(e.args[1], len(a.own_letters(e)))
        if e.op == "solve":
            return factors.solved(f, right, whole)
        roots = [n.sqrt(x) for x in f.over]
        if e.op == "lsolve":
            below = factors.forward(f, right, whole)
            self.halves[self.left] = f, below
            return [[times(r, x) for x in row] for r, row in zip(roots, below, strict=True)]
        scaled = [[times(x, r) for x in row] for r, row in zip(roots, right, strict=True)]
        return factors.backward(f, scaled, whole)

    def root(self, matrix: a.Ref, part: factors.Named) -> factors.Rows:
        """L D^½, which is dropped where nothing reads it; what is solved with finds L and D."""
        try:
            f = factors.factored(self.rows(matrix, 2), part, adjugate=False)
        except ZeroDivisionError:  # a pivot that is known to be 0
            raise UserError(f"{matrix.name} is not positive definite") from None
        self.of[matrix.name] = self.of[self.left] = f
        for x in f.pivots:
            if isinstance(x, a.Ref):
                self.pivots.setdefault(x.name, matrix.name)
            elif isinstance(x, n.Const) and x.value < 0:
                raise UserError(f"{matrix.name} is not positive definite")
        d = range(len(f.pivots))
        ones = [[n.ONE if i == j else f.lower[i][j] for j in d] for i in d]
        return [[times(n.sqrt(f.pivots[j]), ones[i][j]) for j in d] for i in d]
