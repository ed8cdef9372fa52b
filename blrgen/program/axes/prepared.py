"""The passes in their order, up to the schedule."""

from __future__ import annotations

from collections.abc import Sequence, Set

from blrgen.program.axes import nodes as a
from blrgen.program.axes.alike import alike
from blrgen.program.axes.along import along
from blrgen.program.axes.anf import anf
from blrgen.program.axes.begun import begun
from blrgen.program.axes.beside import beside
from blrgen.program.axes.blocks import blocked
from blrgen.program.axes.check import check
from blrgen.program.axes.contracted import contracted
from blrgen.program.axes.dead import dead
from blrgen.program.axes.earlier import earlier
from blrgen.program.axes.factored import factored
from blrgen.program.axes.forms import forms
from blrgen.program.axes.gathered import gathered
from blrgen.program.axes.halved import halved
from blrgen.program.axes.joined import joined
from blrgen.program.axes.kept import kept
from blrgen.program.axes.labels import labels
from blrgen.program.axes.last_values import last_values
from blrgen.program.axes.lettered import lettered
from blrgen.program.axes.narrowed import narrowed
from blrgen.program.axes.order import order
from blrgen.program.axes.outside import outside
from blrgen.program.axes.quotients import quotients
from blrgen.program.axes.schedule import Schedule, schedule
from blrgen.program.axes.separated import separated
from blrgen.program.axes.share import share
from blrgen.program.axes.split import split
from blrgen.program.axes.stable import stable
from blrgen.program.axes.structure import structure
from blrgen.program.axes.thin import thin
from blrgen.program.axes.turned import turned
from blrgen.program.axes.unbroken import unbroken
from blrgen.program.axes.written_out import written_out


def prepared(program: a.Program, written: Set[int] = frozenset()) -> a.Program:
    """What does not depend on the order of loops; axes of the sizes in `written` are opened."""
    check(program)
    program = turned(simpler(stable(labels(anf(joined(labels(last_values(program))))))))
    if written:
        program = dead(written_out(program, written))
    return dead(kept(quotients(share(program))))


def simpler(program: a.Program, whole: bool = False) -> a.Program:
    """The same with less to compute: nothing twice, nothing for rows that do not matter.

    With `whole` no array is made that is larger than those that are there.
    """
    program = dead(lettered(alike(anf(narrowed(begun(program))))))
    return gathered(dead(lettered(alike(anf(contracted(program, whole))))))


def scheduled(
    program: a.Program,
    by: Sequence[str] | None = None,
    blocks: str | None = None,
    written: Set[int] = frozenset(),
) -> Schedule:
    """The loops of a program, in an order of letters; `blocks` are of one way, or "" for none."""
    ready = beside(along(forms(unbroken(earlier(prepared(program, written))))))
    ready = thin(ready, tuple(by) if by is not None else order(ready))
    ready = factored(separated(ready, tuple(by) if by is not None else order(ready)))
    letters = tuple(by) if by is not None else order(ready)
    ready = structure(halved(outside(split(ready, letters))))
    plain = schedule(ready, letters)
    return plain if blocks == "" else blocked(plain, letters, blocks or "")
