"""The step of a rule whose sizes are numbers: straight-line code (`blrgen.program.unrolled`).

One compiled function reads every entry that is needed, computes, looks at each pivot, and
writes the entries of the next values to arrays that are new.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.emit.extents import told
from blrgen.emit.plan import phase_of
from blrgen.emit.templates import fill
from blrgen.emit.text import call
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.constants import typed
from blrgen.emit.tree.numba import function
from blrgen.errors import UserError
from blrgen.program.program import Program
from blrgen.program.unrolled import Unrolled, unrolled

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearFunctions

ENTRIES = "_step_entries"


def step(writer: LinearFunctions, program: Program) -> str:
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
    entries = _entries(made, arrays, scalars, outputs, what)
    called = call(f"{ENTRIES}(", [*arrays, *outputs, *scalars])
    step = fill(
        "numpy/function.py.jinja",
        signature=call("def _step(", given, f") -> {returns}:"),
        summary="Return the next values; nothing is written here.",
        body="\n".join([*rows, *_looked(called, words), f"    return {', '.join(results)}"]),
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
    made: Unrolled,
    arrays: Sequence[str],
    scalars: Sequence[str],
    outputs: Sequence[str],
    what: Sequence[str],
) -> t.Function:
    """Loads, statements with a look at every pivot, stores; the numbers are typed already."""
    body: list[t.Statement] = [
        t.Assign(t.name(name), _entry(array, place)) for name, array, place in made.loads
    ]
    for s in made.body:
        body.append(t.Assign(t.name(s.name), s.expr))
        if s.name in made.pivots:
            number = t.Whole(what.index(told(made.pivots[s.name])) + 1)
            body.append(t.If(t.Outside(t.name(s.name)), (t.Return(number),)))
    body += [t.Assign(_entry(array, place), e) for array, place, e in made.stores]
    summary = "Write the next values, entry by entry; return which pivot is not positive, or 0."
    f = t.Function(
        ENTRIES, (*arrays, *outputs), (), (), (*body, t.Return(t.Whole(0))), summary,
        reals_of=arrays[0], gives="int", ordered=True,
    )  # fmt: skip
    return replace(typed(f), reals=tuple(scalars))


def _entry(array: str, place: tuple[int, ...]) -> t.Entry:
    return t.Entry(array, tuple(map(t.Whole, place)))
