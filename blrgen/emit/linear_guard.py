"""Rules of vectors and matrices: next values are looked at before any of them is written.

A matrix that must stay definite is factored in the step itself, which is the check; what is
left are the ends of numbers and values that are not finite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.extents import LinearPrinter, extent_text
from blrgen.emit.plan import phase_of
from blrgen.emit.templates import fill
from blrgen.emit.text import call
from blrgen.emit.uses import use
from blrgen.program import nodes as n
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearWriter


def before_step(writer: LinearWriter) -> list[str]:
    """Numbers that were set from outside, or a constant that has moved their ends."""
    printer = _printer(writer, {v.name: f"self.{v.name}" for v in writer.scalar_states})
    rows = []
    for v in (*writer.scalar_states, *_constants(writer)):
        rows += _ends(v, f'"{v.name}"', f"self.{v.name}", printer, 8)
    return rows


def check_state(writer: LinearWriter) -> list[str]:
    """_check_state: what is there at the start, and what was saved; matrices by themselves."""
    rows = before_step(writer)
    constants = [v for v in writer.program.of("hyper") if v.type.shape]
    states = [v for v in writer.plan.states if v.name != writer.main]
    for v in (*states, *constants):
        rows += [f"        {row}" for row in definite(v.name, v, f"self.{v.name}")]
    rows += [f"        {row}" for row in definite("params", writer.program.parameter, writer.main)]
    if not rows:
        return []
    used = sorted(sizes_in_ends(writer))
    sizes = [f"        {x} = {extent_text(x, writer.extents, writer.held)}" for x in used]
    read = any(writer.main in row for row in [*rows, *sizes])
    first = [writer.gathered()] if read else []
    checks = "\n".join([*first, *sizes, *rows])
    return [fill("class/check_state.py.jinja", what="what is kept", checks=checks)]


def definite(told: str, v: Variable, value: str) -> list[str]:
    """A check that what must be positive definite is, where that is said by itself."""
    if isinstance(v.definite, n.Sym):
        return [f'{use("_cholesky")}("{told}", {value})']
    if isinstance(v.definite, n.Neg):
        return [f'{use("_cholesky")}("minus {told}", -{value})']
    return []


def _constants(writer: LinearWriter) -> list[Variable]:
    """The constants whose ends are made of sizes."""
    hypers = [v for v in writer.program.of("hyper") if v.type == SCALAR]
    return [v for v in hypers if (v.lower, v.upper) != (None, None)]


def before_writing(writer: LinearWriter, program: Program) -> list[str]:
    """Next values that are outside, before anything is changed."""
    writes = dict(phase_of(program).writes)
    current = {v.name: f"self.{v.name}" for v in writer.scalar_states}
    printer = _printer(writer, current | {k: v for k, v in writes.items() if k in current})
    rows = []
    for v in writer.plan.states:
        if v.name not in writes or v.definite is not None:
            continue
        told = f'"the next {v.name}"'
        if v.type == SCALAR:
            rows += _ends(v, told, writes[v.name], printer, 8)
        else:
            rows.append(f"        {use('_finite')}({told}, {writes[v.name]})")
    return rows


def _ends(v: Variable, told: str, value: str, printer: LinearPrinter, indent: int) -> list[str]:
    low = f"-{use('math')}.inf" if v.lower is None else printer(v.lower)
    high = f"{use('math')}.inf" if v.upper is None else printer(v.upper)
    return [call(f"{' ' * indent}{use('_between')}(", [told, value, low, high])]


def _printer(writer: LinearWriter, names: dict[str, str]) -> LinearPrinter:
    hypers = {h.name: f"self.{h.name}" for h in writer.program.of("hyper")}
    return LinearPrinter(writer.extents, writer.main, hypers | names)


def sizes_in_ends(writer: LinearWriter) -> set[str]:
    """The sizes that ends of domains are made of."""
    held = (*writer.scalar_states, *_constants(writer))
    ends = [b for v in held for b in (v.lower, v.upper) if b is not None]
    read = {x for b in ends for x in n.names(b)}
    return read & {v.name for v in writer.program.of("size")}
