"""The kernels of a file: what each is called, what it says of itself, what it computes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from blrgen.emit.plan import array_names, phase_of, scalar_names
from blrgen.program import nodes as n
from blrgen.program.program import Program, Statement, fresh
from blrgen.program.types import SCALAR


@dataclass(frozen=True)
class Kernel:
    """A function to be emitted: its name, what it says of itself, its program and arguments."""

    name: str
    summary: str
    program: Program
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]
    is_output: bool = False  # the targets are outputs, never read
    parts: tuple[Kernel, ...] = ()  # kernels that are run one after the other instead
    by_block: bool = False  # called for a block of elements at a time, with new noise
    packed: bool = True  # its numbers come in one tuple, in the type of the arrays

    @property
    def returns(self) -> tuple[str, ...]:
        """Next values of states that are numbers and are made from whole arrays."""
        made = {s.name for s in phase_of(self.program).body}
        return tuple(
            local
            for target, local in phase_of(self.program).writes
            if local in made and self.program.scope[target] == SCALAR
        )

    @property
    def coupled(self) -> bool:
        """Whether elements need sums over all of them."""
        return any(isinstance(s.expr, n.OVER_COMPONENTS) for s in phase_of(self.program).body)


def adding(program: Program) -> Program:
    """What the program writes, added to what is there; numbers are handed back, to be added."""
    (phase,) = program.phases
    taken, body, writes = set(program.scope), list(phase.body), []
    for target, local in phase.writes:
        if program.scope[target] == SCALAR:
            writes.append((target, local))
            continue
        name = fresh(f"{target}_next", taken)
        taken.add(name)
        whole = n.Add((n.Ref(target), n.Ref(local)))
        body.append(Statement(name, whole, program.scope[target]))
        writes.append((target, name))
    return replace(program, phases=(replace(phase, body=tuple(body), writes=tuple(writes)),))


def kernel(
    name: str,
    summary: str,
    program: Program,
    order: tuple[str, ...],
    is_output: bool = False,
) -> Kernel:
    """The kernel of a planned program; `order` is the order of its array arguments."""
    arrays, scalars = array_names(program, order), scalar_names(program)
    return Kernel(name, summary, program, arrays, scalars, is_output)


def in_turn(
    name: str, summary: str, program: Program, parts: tuple[Kernel, ...], order: tuple[str, ...]
) -> Kernel:
    """The kernel that runs others; `program` is what they do together."""
    arrays = {a for k in parts for a in k.arrays}
    scalars = dict.fromkeys(s for k in parts for s in k.scalars)
    ordered = tuple(a for a in order if a in arrays)
    return Kernel(name, summary, program, ordered, tuple(scalars), parts=parts)
