"""The step of a rule whose sizes are numbers: straight-line code (`blrgen.program.unrolled`).

One compiled function reads every entry that is needed, computes, looks at each pivot, and
writes the entries of the next values to arrays that are new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.extents import told
from blrgen.emit.plan import phase_of
from blrgen.emit.printers import ElementPrinter, literal
from blrgen.emit.templates import fill
from blrgen.emit.text import assignment, call
from blrgen.emit.uses import use
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.naming import constant_name
from blrgen.program.program import Program, fresh
from blrgen.program.unrolled import Unrolled, unrolled

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearWriter

ENTRIES = "_step_entries"


def step(writer: LinearWriter, program: Program) -> str:
    """The function of entries, and the step around it."""
    made = unrolled(program)
    arrays, scalars = writer.arguments(program)
    results = writer.results(program)
    phase = phase_of(program)
    if any(program.scope[x].rank == "scalar" for x in results):
        raise UserError("entries cannot be written out here: a state is a number")
    given = [*(f"{a}: Array" for a in arrays), *(f"{s}: float" for s in scalars)]
    outputs = [local for _, local in phase.writes if local in results]
    shapes = [", ".join(program.scope[x].shape) for x in outputs]
    comma = ["," if len(program.scope[x].shape) == 1 else "" for x in outputs]
    rows = [
        f"    {x} = np.empty(({shape}{c}), dtype={writer.main}.dtype)"
        for x, shape, c in zip(outputs, shapes, comma, strict=True)
    ]
    what = list(dict.fromkeys(told(x) for x in made.pivots.values()))
    words = ", ".join(f'"{x}"' for x in what) + ("," if len(what) == 1 else "")
    returns = "Array" if len(results) == 1 else f"tuple[{', '.join(['Array'] * len(results))}]"
    inside = [*given, *(f"{x}: Array" for x in outputs)]
    use("njit")
    return fill(
        "compiled/entries.py.jinja",
        decorator=fill("numba/decorator.py.jinja"),
        signature=call(f"def {ENTRIES}(", inside, ") -> int:"),
        body="\n".join(_body(made, writer.main, what, {*program.scope, *arrays, *scalars})),
        step=call("def _step(", given, f") -> {returns}:"),
        made="\n".join(rows),
        called=call(f"{ENTRIES}(", [*arrays, *scalars, *outputs]),
        told=f"({words})[failed - 1]",
        results=", ".join(results),
    )


def _body(made: Unrolled, main: str, what: list[str], taken: set[str]) -> list[str]:
    """Numbers, loads, statements with a look at every pivot, stores."""
    taken |= {s.name for s in made.body} | {name for name, _, _ in made.loads}
    constants: dict[n.Const, str] = {}

    def typed(node: n.Node) -> n.Node:
        if not isinstance(node, n.Const):
            return node
        if node not in constants:
            constants[node] = fresh(constant_name(node.value), taken)
            taken.add(constants[node])
        return n.Sym(constants[node])

    printer = ElementPrinter()
    rows = []
    for s in made.body:
        rows.append(assignment(s.name, printer(n.transform(s.expr, typed)), 4))
        if s.name in made.pivots:
            rows.append(f"    if not 0 < {s.name} < np.inf:")
            rows.append(f"        return {what.index(told(made.pivots[s.name])) + 1}")
    stores = [
        f"    {array}[{', '.join(map(str, place))}] = {printer(n.transform(e, typed))}"
        for array, place, e in made.stores
    ]
    numbers = [
        f"    {name} = {main}.dtype.type({literal(c.value)[0]})" for c, name in constants.items()
    ]
    loads = [f"    {name} = {a}[{', '.join(map(str, place))}]" for name, a, place in made.loads]
    return [*numbers, *loads, *rows, *stores]
