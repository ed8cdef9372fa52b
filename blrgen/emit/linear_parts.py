"""Constructor and inputs of a class around linear algebra: first values, what is given checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.common import defaults, derived_assignment, is_derived
from blrgen.emit.extents import Extent, extent_text, rows_like
from blrgen.emit.printers import ScalarPrinter
from blrgen.emit.text import assignment
from blrgen.emit.uses import use
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearWriter


def needed_states(program: Program, known: dict[str, Extent]) -> list[str]:
    """The states that the caller gives: no first value, or a size that nothing else tells."""
    main = program.parameter
    told = {*main.type.shape}
    given = defaults(program)[1]
    for v in program.of("state"):
        own = {x for x in v.type.shape if x.isidentifier()}
        if v.name != main.name and v.name not in given and not own <= told:
            given.append(v.name)
        told |= own
    return [v.name for v in program.of("state") if v.name in given]


def constructor_arguments(writer: LinearWriter) -> list[str]:
    """States without a first value, then hyperparameters; a matrix that is left out is I."""
    arguments, needed = defaults(writer.program)
    arguments = arguments[len(needed) :]
    scalars = [v for v in writer.program.of("hyper") if v.type == SCALAR]
    matrices = {v.name for v in writer.program.of("hyper")} - {v.name for v in scalars}
    arguments = [a for a in arguments if a.split(":")[0] not in matrices]
    first = []
    for name in needed_states(writer.program, writer.extents):
        v = writer.program[name]
        kind = "float" if v.type == SCALAR else "Arrays" if v.type == writer.kind else "Array"
        first.append(f"{name}: {kind}")
    rest = [f"{v.name}: Array | None = None" for v in writer.program.of("hyper") if v.type.shape]
    return [*first, *arguments, *rest]


def first_rows(writer: LinearWriter) -> list[str]:
    """Every state and matrix constant, in an order in which sizes are known when they are used."""
    main = writer.program.parameter
    rows: list[str] = []
    if any(x.isdigit() for x in main.type.shape):
        shape = ", ".join(
            x if x.isdigit() else f"{main.name}.shape[{k}]" for k, x in enumerate(main.type.shape)
        )
        shape += "," if len(main.type.shape) == 1 else ""
        rows.append(f'{use("_shaped_as")}("params", {main.name}, ({shape}), {main.name})')
    if main.type.rank == "symmetric":
        rows.append(f'{use("_symmetric")}("params", {main.name}, {main.name})')
    needed = needed_states(writer.program, writer.extents)
    states = [v for v in writer.plan.states if v.name != main.name]
    arrays = [v for v in states if v.type != SCALAR]
    constants = [v for v in writer.program.of("hyper") if v.type.shape]
    for v in (*[v for v in arrays if v.name in needed], *constants):
        rows += _given(writer, v)
    sizes = {v.name for v in writer.program.of("size")}
    derived = [v for v in writer.program.of("hyper") if v.type == SCALAR and is_derived(v)]
    first = [x for v in (*states, *derived) for x in (v.init, v.default) if x is not None]
    used = {x for e in first for x in n.names(e)} & sizes
    rows += [f"{x} = {extent_text(x, writer.extents, writer.held)}" for x in sorted(used)]
    rows += [derived_assignment(v, {}) for v in derived]
    for v in states:
        if v.name not in needed:
            rows.append(f"self.{v.name} = {_first(writer, v)}")
        elif v.type == SCALAR:
            rows.append(f'self.{v.name} = _number("{v.name}", {v.name})')
    return rows


def _given(writer: LinearWriter, v: Variable) -> list[str]:
    """An array from the caller; a constant that is left out has its first value.

    Whether a matrix is definite is looked at when all is there (`linear_guard.check_state`).
    """
    value = f"{checked(writer, v)}.copy()"
    if v.kind == "hyper":
        start = _first(writer, v)
        value = f"{start} if {v.name} is None else {value}"
    return [f"self.{v.name} = {value}"]


def checked(writer: LinearWriter, v: Variable, finite: str = "check_finite") -> str:
    """An array given by the caller, of the right kind, shape and dtype."""
    main, name = writer.main, v.name
    if v.type.rank == "vector" and v.type == writer.kind:
        return f'{use("_vector")}("{name}", {name}, self.params, {finite})'
    if v.type.rank == "symmetric" and v.type.shape[0] in writer.extents:
        if writer.extents[v.type.shape[0]].array != name:
            like = rows_like(v.type, writer.extents, writer.held)
            return f'{use("_symmetric")}("{name}", {name}, {like}, {finite})'
        return f'{use("_symmetric")}("{name}", {name}, {name}, {finite})'
    shape = [
        extent_text(x, writer.extents, writer.held)
        if writer.extents.get(x, Extent(main)).array != name
        else f"{name}.shape[{axis}]"
        for axis, x in enumerate(v.type.shape)
    ]
    text = ", ".join(shape) + ("," if len(shape) == 1 else "")
    return f'{use("_shaped_as")}("{name}", {name}, ({text}), {main}, {finite})'


def _first(writer: LinearWriter, v: Variable) -> str:
    """A state's first value."""
    start = v.init if v.init is not None else v.default if v.default is not None else n.ZERO
    hypers = {h.name: f"self.{h.name}" for h in writer.program.of("hyper")}
    main = writer.main
    if v.type == SCALAR:
        text = ScalarPrinter(hypers)(start)
        sized = set(n.names(start)) & {x.name for x in writer.program.of("size")}
        return f"float({text})" if sized else text
    if start == n.ZERO and v.type == writer.kind:
        return f"np.zeros_like({main})"
    if start == n.Sym(main):
        return f"{main}.copy()"
    if v.type.rank == "symmetric":
        return _multiple(writer, v, start, hypers)
    if start == n.ZERO:
        sizes = [extent_text(x, writer.extents, writer.held) for x in v.type.shape]
        shape = f"({', '.join(sizes)})" if len(sizes) > 1 else sizes[0]
        return f"np.zeros({shape}, dtype={main}.dtype)"
    raise InternalError(f"cannot write the first value of {v.name}")


def _multiple(writer: LinearWriter, v: Variable, start: n.Node, hypers: dict[str, str]) -> str:
    """A multiple of the identity."""
    main = writer.main
    scale = start.args[0] if isinstance(start, n.Mul) else n.ONE
    if isinstance(scale, n.Sym) and scale.name in {s.name for s in writer.plan.states}:
        return f"self.{scale.name}.copy()"  # it starts where that state does
    scale = n.ZERO if start == n.ZERO or scale == n.ZERO else scale
    names = {s.name: f"self.{s.name}" for s in writer.plan.states if s.name != main}
    size = extent_text(v.type.shape[0], writer.extents, lambda array: names.get(array, array))
    eye = f"np.eye({size}, dtype={main}.dtype)"
    if scale == n.ONE:
        return eye
    return f"{main}.dtype.type({ScalarPrinter(hypers)(scale)}) * {eye}"


def inputs_checked(writer: LinearWriter) -> list[str]:
    """The inputs of `step`: kind, shape and dtype, finite where that is asked for."""
    finite = "self.check_finite"
    rows = []
    counted = next((v.name for v in writer.plan.inputs if v.kind == "data"), "")
    for v in writer.plan.inputs:
        if v.type == SCALAR:
            value = f'{use("_number")}("{v.name}", {v.name}, {finite})'
        elif v.kind == "data":
            sizes = {"n": f"len({counted})", "d": f"len({writer.main})"}
            shape = ", ".join(sizes.get(x, x) for x in v.type.shape)
            shape += "," if len(v.type.shape) == 1 else ""
            if v.type == writer.kind:
                value = f'{use("_vector")}("{v.name}", {v.name}, self.params, {finite})'
            else:
                given = f'"{v.name}", {v.name}, ({shape}), {writer.main}, {finite}'
                value = f"{use('_shaped_as')}({given})"
        else:
            value = checked(writer, v, finite)
        rows.append(assignment(v.name, value, 8))
    return rows
