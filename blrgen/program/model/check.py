"""What must fit in a model program: each program by itself, and the step's outs by the state."""

from __future__ import annotations

from blrgen.errors import InternalError
from blrgen.program.axes.check import check as check_program
from blrgen.program.model.values import ModelProgram


def check(program: ModelProgram) -> None:
    """Refuse a model program whose parts do not fit."""
    for method in program.methods:
        check_program(method.program)
    if program.draws:
        return  # a step is drawn, not handed out
    outs = program.sweep.program.outs
    found = outs if program.batch else outs[1:]
    sizes = program.sweep.program.sizes
    for array, out in zip(program.state, found, strict=False):
        if sizes[out] != array.sizes:
            raise InternalError(f"{array.name}{array.sizes} is followed by {out}{sizes[out]}")
    flags = tuple(x.flags for x in program.notes)
    if len(found) < len(program.state) or not {*flags} <= {*found[len(program.state) :]}:
        raise InternalError(f"a step hands out {found} for {program.state} and {flags}")
    if program.batch and program.bound is None:
        raise InternalError("a step over some rows has no objective of all rows beside it")
