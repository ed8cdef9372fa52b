"""Constructor and inputs of a class of matrices: first values, and what is given checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from blrgen.emit.common import defaults, is_derived
from blrgen.emit.extents import Extent, extent_text, rows_like
from blrgen.emit.optimizer import parts
from blrgen.emit.optimizer.base import Lines
from blrgen.emit.optimizer.matrix_ends import extent
from blrgen.emit.optimizer.parts import FINITE, NOTHING, PARAMS, me, numpy
from blrgen.emit.tree import classes as c
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR

if TYPE_CHECKING:
    from blrgen.emit.optimizer.matrices import MatrixWriter

GIVEN = c.Name("check_finite")


def needed_states(program: Program, known: Mapping[str, Extent]) -> list[str]:
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


def arguments(w: MatrixWriter) -> list[c.Argument]:
    """States without a first value, then hyperparameters; a matrix that is left out is I."""
    hypers = w.program.of("hyper")
    needed = needed_states(w.program, w.functions.extents)
    first = [c.Argument(x, w.kind_of(w.program[x]), None, True) for x in needed]
    numbers = parts.hyper_arguments(v for v in hypers if v.type == SCALAR)
    rest = [c.Argument(v.name, "Array | None", NOTHING, True) for v in hypers if v.type.shape]
    return [*first, *numbers, *rest]


def first_rows(w: MatrixWriter) -> Lines:
    """Every state and matrix constant, in an order in which sizes are known when they are used."""
    needed = needed_states(w.program, w.functions.extents)
    hypers = w.program.of("hyper")
    states = [v for v in w.plan.states if v.name != w.main]
    arrays = [v for v in states if v.type != SCALAR and v.name in needed]
    rows = [*_look(w), *(_given(w, v) for v in (*arrays, *(v for v in hypers if v.type.shape)))]
    derived = [v for v in hypers if v.type == SCALAR and is_derived(v)]
    made = [x for v in (*states, *derived) for x in (v.init, v.default) if x is not None]
    sizes = {x for e in made for x in n.names(e)} & {v.name for v in w.program.of("size")}
    rows += [c.Set((c.Name(x),), extent(w, x)) for x in sorted(sizes)]
    rows += [parts.derived(v, {}) for v in derived]
    for v in states:
        if v.name not in needed:
            rows.append(c.Set((me(v.name),), _first(w, v)))
        elif v.type == SCALAR:
            value = c.call("_number", c.Literal(v.name), c.Name(v.name))
            rows.append(c.Set((me(v.name),), value))
    return rows


def _look(w: MatrixWriter) -> Lines:
    """A look at the parameters, where their type says more than how many axes there are."""
    kind, own, rows = w.functions.kind, w.parameters, Lines()
    if any(x.isdigit() for x in kind.shape):
        axes = [c.Item(c.Attribute(own, "shape"), c.Literal(k)) for k in range(len(kind.shape))]
        shape = (c.Literal(int(x)) if x.isdigit() else a
                 for x, a in zip(kind.shape, axes, strict=True))  # fmt: skip
        rows.append(c.Do(c.call("_shaped_as", c.Literal("params"), own, c.Row(tuple(shape)), own)))
    if kind.is_symmetric:
        rows.append(c.Do(c.call("_symmetric", c.Literal("params"), own, own)))
    return rows


def _given(w: MatrixWriter, v: Variable) -> c.Set:
    """An array from the caller; a constant that is left out has its first value.

    Whether a matrix is definite is looked at when all is there (`matrix_ends.check_state`).
    """
    value: c.Expression = c.Word("copy", (checked(w, v, GIVEN),))
    if v.kind == "hyper":
        value = c.Either(_first(w, v), c.Sign("is", NOTHING, c.Name(v.name)), value)
    return c.Set((me(v.name),), value)


def checked(w: MatrixWriter, v: Variable, finite: c.Expression) -> c.Expression:
    """An array given by the caller, of the right kind, shape and dtype."""
    known, held, kind = w.functions.extents, w.functions.held, w.functions.kind
    told, name = c.Literal(v.name), c.Name(v.name)
    if v.type == kind and len(kind.shape) == 1:
        return c.call("_vector", told, name, PARAMS, finite)
    if v.type.is_symmetric and v.type.shape[0] in known:
        own = known[v.type.shape[0]].array == v.name
        like = name if own else c.Text(rows_like(v.type, known, held))
        return c.call("_symmetric", told, name, like, finite)
    shape = [
        c.Text(extent_text(x, known, held))
        if known.get(x, Extent(w.main)).array != v.name
        else c.Item(c.Attribute(name, "shape"), c.Literal(axis))
        for axis, x in enumerate(v.type.shape)
    ]
    return c.call("_shaped_as", told, name, c.Row(tuple(shape)), w.parameters, finite)


def _first(w: MatrixWriter, v: Variable) -> c.Expression:
    """A state's first value."""
    start = v.init if v.init is not None else v.default if v.default is not None else n.ZERO
    own = tuple(parts.hyperparameters(w.program).items())
    if v.type == SCALAR:
        number = c.Formula(start, own)
        sized = set(n.names(start)) & {x.name for x in w.program.of("size")}
        return c.call("float", number) if sized else number
    if start == n.ZERO and v.type == w.functions.kind:
        return c.Word("zeros_like", (w.parameters,))
    if n.is_name(start, w.main):
        return c.Word("copy", (w.parameters,))
    if v.type.is_symmetric:
        return _multiple(w, v, start, own)
    if start == n.ZERO:
        sizes = [extent(w, x) for x in v.type.shape]
        dtype = c.Attribute(w.parameters, "dtype")
        return numpy("zeros", c.Row(tuple(sizes)) if len(sizes) > 1 else sizes[0], dtype=dtype)
    raise InternalError(f"cannot write the first value of {v.name}")


def _multiple(
    w: MatrixWriter, v: Variable, start: n.Node, own: tuple[tuple[str, c.Expression], ...]
) -> c.Expression:
    """A multiple of the identity."""
    if isinstance(start, n.Ref) and start.name in {s.name for s in w.plan.states}:
        return c.Word("copy", (me(start.name),))  # it starts where that state does
    names = {s.name: f"self.{s.name}" for s in w.plan.states if s.name != w.main}
    known = w.functions.extents
    size = extent_text(v.type.shape[0], known, lambda array: names.get(array, array))
    dtype = c.Attribute(w.parameters, "dtype")
    eye = numpy("eye", c.Text(size), dtype=dtype)
    if start == n.ONE:
        return eye
    real = c.call(c.Attribute(dtype, "type"), c.Formula(start, own))
    return c.Sign("*", eye, real)


def inputs_checked(w: MatrixWriter) -> Lines:
    """The inputs of `step`: kind, shape and dtype, finite where that is asked for."""
    rows = Lines()
    counted = next((v.name for v in w.plan.inputs if v.kind == "data"), "")
    for v in w.plan.inputs:
        told, name = c.Literal(v.name), c.Name(v.name)
        if v.type == SCALAR:
            value: c.Expression = c.call("_number", told, name, FINITE)
        elif v.kind == "data" and v.type != w.functions.kind:
            sizes = {"n": c.call("len", c.Name(counted)), "d": c.call("len", w.parameters)}
            shape = tuple(sizes.get(x, c.Text(x)) for x in v.type.shape)
            value = c.call("_shaped_as", told, name, c.Row(shape), w.parameters, FINITE)
        else:
            value = checked(w, v, FINITE)
        rows.append(c.Set((name,), value))
    return rows
