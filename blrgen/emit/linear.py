"""Which functions a rule of vectors and matrices has: what they take and return.

The class around them is `blrgen.emit.optimizer.matrices`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blrgen.emit.extents import Extent, extents
from blrgen.emit.linear_functions import functions
from blrgen.emit.tree.formed import DIAGONAL, Entries
from blrgen.program.axes import nodes as a
from blrgen.program.axes.congruent import congruent
from blrgen.program.axes.formed import Formed, formed
from blrgen.program.kernels import Kernel
from blrgen.program.part import Part
from blrgen.program.plan import Plan, scalar_names
from blrgen.program.program import Program
from blrgen.program.types import Type


@dataclass(frozen=True)
class LinearFunctions:
    """The functions of a rule of vectors and matrices."""

    plan: Plan
    write: Callable[[Kernel], str]
    jitted: bool  # whether the target compiles
    fixed: bool  # whether the sizes are numbers, and every entry is a statement

    @property
    def program(self) -> Program:
        """The rule."""
        return self.plan.program

    def over_axes(self, part: Part) -> a.Program:
        """The equations of a part, its numbers given."""
        return congruent(part.returning(self.returned(part)))

    def formed(self, program: Part) -> Formed | None:
        """The matrix that is made entry by entry where it is factored, in a step."""
        if not self.jitted or self.fixed or program not in (self.plan.single, self.plan.averaged):
            return None
        sizes = program.sizes
        states = {
            local: state
            for state, local in program.writes
            if state != self.plan.main and sizes[state] == sizes[local]
        }
        data = [v.name for v in program.rule.of("data")]
        return formed(self.over_axes(program), states, data)

    def entries(self, program: Part) -> Entries | None:
        """How the entries of that matrix are made; all steps of a class in one way."""
        found = {p: self.formed(p) for p in (self.plan.single, self.plan.averaged) if p}
        made = found.get(program)
        if made is None:
            return None
        again = all(x.known for x in found.values() if x is not None)
        return Entries(made, "_averaged" if program is self.plan.averaged else "", again)

    def all_entries(self) -> list[Entries]:
        """Those of a step, and of one after several draws."""
        found = (self.entries(p) for p in (self.plan.single, self.plan.averaged) if p)
        return [x for x in found if x is not None]

    @property
    def extents(self) -> dict[str, Extent]:
        """Size → the array and axis it is read from."""
        return extents(self.program)

    @property
    def kind(self) -> Type:
        """The type of the parameters."""
        return self.program.parameter.type

    def held(self, array: str) -> str:
        """How a method calls an array that it has not been given."""
        return array if array == self.plan.main else f"self.{array}"

    def functions(self) -> list[str]:
        """What is computed in a draw and in a step."""
        return functions(self)

    def arguments(self, program: Part) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Arrays and numbers, those that are written to last."""
        entries = self.entries(program)
        over = self.over_axes(program) if entries is None else entries.made.program
        given = {q.name: q for q in over.given}
        arrays = [x for x in self.plan.order if x in given and given[x].sizes]
        if entries is not None:
            arrays += [*entries.room, *([DIAGONAL] if entries.again else [])]
        return tuple(arrays), tuple(x for x in scalar_names(program) if x in given)

    def returned(self, program: Part) -> list[str]:
        """What is made; next values of numbers may be known before it is called."""
        early = {s.name for s in program.numbers}
        return [local for _, local in program.writes if local not in early]

    def results(self, program: Part) -> list[str]:
        """What the function returns."""
        entries = self.entries(program)
        written = "" if entries is None else entries.made.name
        return [x for x in self.returned(program) if x != written]
