"""The step of a rule whose sizes are numbers: straight-line code (`blrgen.program.axes.pivots`).

One compiled function reads every entry that is needed, computes, looks at each pivot, and
writes the entries of the next values to arrays that are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.emit.templates import fill
from blrgen.emit.text import call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.constants import typed
from blrgen.emit.tree.matrices import told
from blrgen.emit.tree.numba import function
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.pivots import Pivoted, pivoted
from blrgen.program.part import Part, next_of

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearFunctions

ENTRIES = "_step_entries"


def step(writer: LinearFunctions, program: Part) -> str:
    """The function of entries, and the step around it."""
    over = writer.over_axes(program)
    number = next((x for x in over.outs if not over.sizes[x]), "")
    if number:
        raise UserError(
            f"entries cannot be written out here: {number} is a number", how="leave --size out"
        )
    made = pivoted(over, {x.size for x in over.letters if isinstance(x.size, int)})
    arrays, scalars = writer.arguments(program)
    given = [*(f"{x}: Array" for x in arrays), *(f"{x}: float" for x in scalars)]
    sizes = {x.name: f"({', '.join(map(str, x.sizes))}{',' * (len(x.sizes) == 1)})"
             for x in made.program.assembled}  # fmt: skip
    rows = [f"    {x} = np.empty({sizes[x]}, dtype={arrays[0]}.dtype)" for x in over.outs]
    what = {x: told(over, x, next_of(program)) for x in dict.fromkeys(made.pivots.values())}
    words = ", ".join(f'"{x}"' for x in what.values()) + ("," if len(what) == 1 else "")
    kinds = ["Array"] * len(over.outs)
    returns = kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
    entries = _entries(made, arrays, scalars, over.outs, list(what))
    called = call(f"{ENTRIES}(", [*arrays, *over.outs, *scalars])
    step = fill(
        "numpy/function.py.jinja",
        signature=call("def _step(", given, f") -> {returns}:"),
        summary="Return the next values; nothing is written here.",
        body="\n".join([*rows, *_looked(called, words), f"    return {', '.join(over.outs)}"]),
    )
    return f"{function(entries)}\n\n\n{step}"


def _looked(called: str, words: str) -> list[str]:
    """The call, and what is said where a pivot is not positive."""
    return [
        f"    failed = {called}",
        "    if failed:",
        f"        name = ({words})[failed - 1]",
        '        raise ValueError(f"{name} is not positive definite; nothing has been changed")',
    ]


def _entries(
    made: Pivoted,
    arrays: Sequence[str],
    scalars: Sequence[str],
    outputs: Sequence[str],
    what: Sequence[str],
) -> t.Function:
    """Loads, statements with a look at every pivot, stores; the numbers are typed already.

    Nothing is returned before everything is loaded: a compiler does loads side by side at once.
    """
    lets = made.program.lets
    loads = [s for s in lets if isinstance(s.expr, a.Ref) and s.expr.index]
    body: list[t.Statement] = [t.Assign(t.name(s.name), _value(s.expr)) for s in loads]
    for s in (*loads, *(s for s in lets if s not in loads)):
        body += [] if s in loads else [t.Assign(t.name(s.name), _value(s.expr))]
        if s.name in made.pivots:
            number = t.Whole(what.index(made.pivots[s.name]) + 1)
            body.append(t.If(t.Outside(t.name(s.name)), (t.Return(number),)))
    for x in made.program.assembled:
        body += [t.Assign(_entry(x.name, at), _value(e)) for at, e in x.entries]
    summary = "Write the next values, entry by entry; return which pivot is not positive, or 0."
    f = t.Function(
        ENTRIES, (*arrays, *outputs), (), (), (*body, t.Return(t.Whole(0))), summary,
        reals_of=arrays[0], gives="int", ordered=True,
    )  # fmt: skip
    return replace(typed(f), reals=tuple(scalars))


def _value(e: n.Node) -> n.Node:
    """An expression with entries of arrays by their places, and others by their names."""
    if isinstance(e, a.Ref):
        return _entry(e.name, e.index) if e.index else t.name(e.name)
    return e.rebuilt(_value)


def _entry(array: str, at: Sequence[n.Node]) -> t.Entry:
    """An entry at places that are numbers."""
    return t.Entry(array, tuple(t.Whole(i.value) for i in at if isinstance(i, a.Num)))
