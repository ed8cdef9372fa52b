"""Which functions a rule of vectors and matrices has: what they take and return.

The class around them is `blrgen.emit.optimizer.matrices`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blrgen.emit import formed as matrix
from blrgen.emit.extents import Extent, extents
from blrgen.emit.kernels import Kernel
from blrgen.emit.linear_functions import functions
from blrgen.emit.plan import Plan, array_names, phase_of, scalar_names
from blrgen.program import nodes as n
from blrgen.program.formed import Formed, formed
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR, Type


@dataclass(frozen=True)
class Work:
    """A matrix that is made entry by entry where it is factored: its state, its next value.

    `again`: a step begins with the factor that the last one ended with; `apart`: the arrays for
    it follow all others in a call.
    """

    state: str
    name: str
    again: bool
    apart: bool = True


@dataclass(frozen=True)
class LinearFunctions:
    """The functions of a rule of vectors and matrices."""

    plan: Plan
    write: Callable[[Kernel], str]
    jitted: bool = False  # whether the target compiles
    fixed: bool = False  # whether the sizes are numbers, and every entry is a statement

    @property
    def program(self) -> Program:
        """The rule."""
        return self.plan.program

    @property
    def main(self) -> str:
        """The state that the parameters are."""
        return self.plan.parameter.name

    @property
    def order(self) -> tuple[str, ...]:
        """Array arguments: outputs, states, what a draw left, inputs, sums."""
        p = self.plan
        states = [v.name for v in p.states if v.type != SCALAR and v.name != self.main]
        constants = [v.name for v in self.program.of("hyper") if v.type != SCALAR]
        drawn, given = [v.name for v in p.noises], [v.name for v in p.inputs]
        order = [p.probe, self.main, *states, *constants, *p.carried, *drawn, *given, *p.sums]
        return tuple(dict.fromkeys(order))

    @property
    def scalar_states(self) -> list[Variable]:
        """The states that are numbers."""
        return [v for v in self.plan.states if v.type == SCALAR]

    def work(self, program: Program | None = None) -> Work | None:
        """The matrix that a step makes entry by entry, if there is one."""
        steps = (self.plan.single, self.plan.averaged) if program is None else (program,)
        made = next((m for p in steps if p is not None and (m := self.formed(p))), None)
        return None if made is None else Work(made.state, made.name, matrix.again(self))

    def formed(self, program: Program) -> Formed | None:
        """The matrix that is made entry by entry where it is factored, in a step."""
        steps = (self.plan.single, self.plan.averaged)
        return formed(program) if self.jitted and program in steps and not self.fixed else None

    @property
    def extents(self) -> dict[str, Extent]:
        """Size → the array and axis it is read from."""
        return extents(self.program)

    @property
    def kind(self) -> Type:
        """The type of the parameters."""
        return self.program.parameter.type

    @property
    def is_vector(self) -> bool:
        """Whether the parameters are gathered into one vector; else they are one matrix."""
        return self.kind.rank == "vector"

    def held(self, array: str) -> str:
        """How a method calls an array that it has not been given."""
        return array if array == self.main else f"self.{array}"

    def functions(self) -> list[str]:
        """What is computed in a draw and in a step."""
        return functions(self)

    def arguments(self, program: Program) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The arrays and the numbers that the function of a phase takes."""
        made = self.formed(program)
        program = program if made is None else made.program
        phase = phase_of(program)
        own = {s.name for s in phase.body}
        read = {x for s in phase.body for x in n.names(s.expr)} | {b for _, b in phase.writes}
        arrays = [x for x in array_names(program, self.order) if x in read and x not in own]
        whole = [s for s in phase.body if made is None or s.name != made.name]
        for size in dict.fromkeys(
            x.size for s in whole for x in n.walk(s.expr) if isinstance(x, n.Identity)
        ):
            source = self.extents[size].array if size in self.extents else self.main
            if source not in arrays:
                arrays.insert(0, source)
        return tuple(arrays), scalar_names(program)

    def results(self, program: Program) -> list[str]:
        """What the function returns; next values of numbers may be known before it is called."""
        phase = phase_of(program)
        early = {s.name for s in phase.scalars}
        found = [local for _, local in phase.writes if local not in early]
        made = self.formed(program)
        if made is None:
            return found
        return [x for x in found if x != made.name]
