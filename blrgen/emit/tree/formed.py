"""Statements around a matrix that is made entry by entry (`blrgen.program.axes.formed`).

A function of one entry says what the matrix is; a compiled loop writes all entries to an
array that becomes the state once the step is known to be right, and the upper triangle to
another, where it is factored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.constants import typed
from blrgen.emit.tree.kernels import Body
from blrgen.emit.tree.loads import loaded
from blrgen.emit.tree.matrices import Matrices
from blrgen.emit.tree.memory import Context, Memory
from blrgen.emit.tree.values import Valued
from blrgen.emit.tree.views import from_zero, rows_taken
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.formed import Formed, is_factor_of, turned_product
from blrgen.program.axes.schedule import schedule
from blrgen.program.axes.scratch import Storage
from blrgen.program.naming import constant_name
from blrgen.program.program import fresh

WORK = "work"  # where the matrix is factored
DIAGONAL = "diagonal"  # of the matrix whose factor is in the work space, 0 where there is none
UNIT = "unit"  # what stands for an entry of the identity


@dataclass(frozen=True)
class Entries:
    """How the entries of a matrix are made: a function of one, and the loop over all.

    `suffix` tells the functions of a step after several draws from those of a single one;
    `again`: what is below the diagonal is copied, too.
    """

    made: Formed
    suffix: str = ""
    again: bool = False

    @property
    def told(self) -> str:
        """The matrix in words."""
        return f"the next {self.made.state}"

    @property
    def entry(self) -> str:
        return f"_{self.made.name}{self.suffix}"

    @property
    def loop(self) -> str:
        return f"_write_{self.made.state}{self.suffix}"

    @property
    def constants(self) -> dict[n.Node, str]:
        """Numbers of the formula by name, so that each has the arrays' type."""
        taken = {*self.made.leaves, *self.made.scalars, UNIT, WORK}
        found: dict[n.Node, str] = {}
        for x in n.walk(self.made.let.expr):
            if isinstance(x, n.Const) and x not in found:
                found[x] = fresh(constant_name(x.value), taken)
                taken.add(found[x])
        return found

    @property
    def numbers(self) -> tuple[str, ...]:
        return (*self.made.scalars, *self.constants.values())

    @property
    def room(self) -> tuple[str, ...]:
        """The arrays that are written."""
        return (self.made.name, WORK)

    def functions(self) -> tuple[t.Function, ...]:
        """Both, compiled."""
        return self.one(), self.all()

    def one(self) -> t.Function:
        """The function of one entry, or of all of them."""
        made, constants = self.made, self.constants

        def change(e: n.Node) -> n.Node:
            if isinstance(e, a.Ref):
                return t.name(e.name)
            if isinstance(e, a.Is):
                return t.name(UNIT)
            return t.name(constants[e]) if e in constants else e.rebuilt(change)

        unit = f"; `{UNIT}` is I, or an entry of it" if made.has_identity else ""
        return t.Function(
            self.entry, made.leaves, (), (*self.numbers, *([UNIT] if made.has_identity else [])),
            (t.Return(change(made.let.expr)),),
            f"Return {self.told}, or one entry of it{unit}.",
            gives="Any", ordered=True,
        )  # fmt: skip

    def all(self) -> t.Function:
        """The loop over all entries."""
        made, (i, j) = self.made, self.made.let.letters
        at = (a.Ix(i), a.Ix(j))
        args: list[n.Node] = [a.Ref(x, at) for x in made.leaves]
        args += [a.Ref(x) for x in self.numbers]
        args += [a.Is(*at)] if made.has_identity else []
        copy = a.Let(WORK, (i, j), a.Ref(made.name, at), bounds=() if self.again else ((i, j),))
        letters = tuple(made.program.letter(x) for x in (i, j))
        sizes = tuple(x.size for x in letters)
        given = [a.Quantity(x, sizes) for x in made.leaves]
        given += [a.Quantity(x) for x in self.numbers]
        body = (a.Let(made.name, (i, j), n.Call(self.entry, tuple(args))), copy)
        plan = schedule(a.Program(letters, tuple(given), body, self.room), (i, j))
        memory = Memory(plan, {x: Storage((i, j)) for x in self.room})  # all of both is kept
        loops = _by_rows(tuple(Body(plan, memory).nodes(list(plan.body), 0, Context(), False)))
        loops = from_zero(rows_taken(loaded(loops, memory.own), memory.own))
        size = [] if isinstance(sizes[0], int) else [
            t.Assign(t.name(sizes[0]), t.Shape(made.name, 0))]  # fmt: skip
        what = "a copy" if self.again else "its upper triangle"
        f = t.Function(
            self.loop, (*self.room, *made.leaves), (), (), (*size, *loops),
            f"Write {self.told} to `{made.name}`, and {what} to `{WORK}`.",
            reals_of=made.name, ordered=True,
        )  # fmt: skip
        return replace(typed(f), reals=self.numbers)


def _by_rows(body: tuple[t.Statement, ...]) -> tuple[t.Statement, ...]:
    """The loops, which pass over rows that are taken before them."""
    return tuple(
        replace(s, body=_by_rows(s.body), rows=True) if isinstance(s, t.For) else s for s in body
    )


class Solved(Matrices):
    """Statements of a step in which one matrix is made, and solved with in the work space."""

    def __init__(self, entries: Entries, name: str, states: Mapping[str, str]) -> None:
        self.entries, self.matrix = entries, entries.made
        super().__init__(self.matrix.program, name, states)

    def body(self) -> tuple[t.Statement, ...]:
        """All statements; where the old factor is in the work space, the matrix is made last."""
        made, program = self.matrix, self.program
        first = [s for s in program.lets if s.name in made.products]
        rest = [s for s in program.lets if s.name not in (*made.products, made.factor)]
        if self.entries.again:
            rest.sort(key=lambda s: s.name == made.name)
        return (*self.products(first), *self.statements(rest))

    def products(self, lets: list[a.Let]) -> list[t.Statement]:
        """All products with one X in one reading of it."""
        if not lets:
            return []
        names = t.Several(tuple(t.name(s.name) for s in lets))
        read = [turned_product(s.expr) for s in lets]
        args = (t.name(read[0][0]), *(t.name(x) for _, x in read))
        return [t.Assign(names, t.Apply("_products", args))]

    def equation(self, s: a.Let, e: n.Node) -> list[t.Statement]:
        if s.name == self.matrix.name:
            return self.written()
        if self.entries.again and is_factor_of(e, self.matrix.state) and isinstance(e, a.Lin):
            args = (*self.factored(self.matrix.state), t.name(WORK), t.name(DIAGONAL))
            return [t.Assign(t.name(s.name), t.Apply("_known_factor", args))]
        return super().equation(s, e)

    def written(self) -> list[t.Statement]:
        """The loop; a look at the matrix where nothing is solved with it."""
        made, constants = self.matrix, self.entries.constants
        kind = f"{WORK}.dtype.type"
        numbers = [t.Apply(kind, (x,)) for x in constants]
        args = (*map(t.name, (*self.entries.room, *made.leaves, *made.scalars)), *numbers)
        out: list[t.Statement] = [t.Invoke(self.entries.loop, args, False)]
        words = t.Quoted(self.entries.told)
        if self.entries.again:
            room = (t.name(made.name), t.name(WORK), t.name(DIAGONAL))
            out.append(t.Invoke("_look", (words, *room)))
        elif not made.solved:
            out.append(t.Invoke("_definite", (words, t.name(WORK))))
        return out

    def summed(self, e: a.Red) -> Valued | None:
        """Xᵀ X, of which half is computed."""
        both = turned_product(e)
        if len(set(both)) == 1 and len(a.free(e)) == 2:
            return Valued(t.Apply("_gram", (t.name(both[0]),)), a.free(e))
        return super().summed(e)

    def solution(self, e: a.Lin, right: n.Node) -> n.Node:
        """What is solved with the matrix overwrites the work space."""
        if e.op != "solve" or e.args[0].name != self.matrix.name:
            return super().solution(e, right)
        words = t.Quoted(self.entries.told)
        return t.Apply("_solved", (words, t.name(WORK), right))
