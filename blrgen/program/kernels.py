"""The kernels of a file: what each is called, what it says of itself, what it computes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.part import Part
from blrgen.program.plan import array_names, scalar_names
from blrgen.program.program import fresh


@dataclass(frozen=True)
class Kernel:
    """A function to be emitted: its name, what it says of itself, its equations and arguments."""

    name: str
    summary: str
    program: Part
    arrays: tuple[str, ...]
    scalars: tuple[str, ...]
    is_output: bool = False  # the targets are outputs, never read
    parts: tuple[Kernel, ...] = ()  # run one after the other instead, block by block
    by_block: bool = False  # called for a block of elements at a time, with new noise
    packed: bool = True  # its numbers come in one tuple, in the type of the arrays

    @property
    def returns(self) -> tuple[str, ...]:
        """Next values of states that are numbers and are made from whole arrays."""
        p = self.program
        return tuple(y for x, y in p.writes if p.makes(y) and not p.sizes[x])

    @property
    def coupled(self) -> bool:
        """Whether elements need sums over all of them."""
        return self.program.coupled


def adding(part: Part) -> Part:
    """What the part writes, added to what is there; numbers are handed back, to be added."""
    taken, body, writes = part.taken, list(part.body), []
    for target, local in part.writes:
        if not part.sizes[target]:
            writes.append((target, local))
            continue
        name = fresh(f"{target}_next", taken)
        taken.add(name)
        at = part.own(target)
        whole = n.Add((a.ref(target, *at), a.ref(local, *at)))
        body.append(a.Let(name, at, whole))
        writes.append((target, name))
    return replace(part, body=tuple(body), writes=tuple(writes))


def kernel(
    name: str,
    summary: str,
    program: Part,
    order: tuple[str, ...],
    is_output: bool = False,
) -> Kernel:
    """The kernel of a planned program; `order` is the order of its array arguments."""
    arrays, scalars = array_names(program, order), scalar_names(program)
    return Kernel(name, summary, program, arrays, scalars, is_output)


def in_turn(name: str, parts: tuple[Kernel, ...], order: tuple[str, ...]) -> Kernel:
    """Kernels that are run one after the other; the numbers of each follow those of the last."""
    arrays = {a for k in parts for a in k.arrays}
    scalars = tuple(s for k in parts for s in k.scalars)
    ordered = tuple(a for a in order if a in arrays)
    return Kernel(name, "", parts[0].program, ordered, scalars, parts=parts)
