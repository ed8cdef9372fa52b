"""Module-level functions of a file around linear algebra: what is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit import fixed
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.fitting import fitted
from blrgen.emit.tree.formed import Solved
from blrgen.emit.tree.matrices import Matrices
from blrgen.emit.tree.numba import function as compiled
from blrgen.emit.tree.numpy import Arrays, function
from blrgen.program.part import Part, next_of

if TYPE_CHECKING:
    from blrgen.emit.linear import LinearFunctions


def functions(writer: LinearFunctions) -> list[str]:
    """What is computed in a draw and in a step."""
    p = writer.plan
    parts = []
    if p.draw is not None:
        parts.append(_function(writer, "_draw", "Return where to evaluate the loss.", p.draw))
    if p.observe is not None and p.averaged is not None:
        parts.append(_function(writer, "_observe", "Return what one draw shows.", p.observe))
    told = "Return the next values; nothing is written here."
    if writer.fixed:
        parts.append(fixed.step(writer, p.single))
    else:
        parts.append(_function(writer, "_step", told, p.single))
    if p.averaged is not None:
        parts.append(_function(writer, "_step_averaged", told, p.averaged))
    return parts


def _function(writer: LinearFunctions, name: str, summary: str, program: Part) -> str:
    """A pure function from arrays and scalars to the part's results."""
    entries = writer.entries(program)
    over, states = writer.over_axes(program), next_of(program)
    work = Matrices(over, name, states) if entries is None else Solved(entries, name, states)
    arrays, scalars = writer.arguments(program)
    body = work.body()
    head, _ = work.named_sizes(body)
    f = t.Function(
        name, arrays, (), scalars, fitted((*head, *body), Arrays(), {*work.taken, *arrays}),
        summary, reals_of=arrays[0], returns=tuple(map(t.name, writer.results(program))),
        gives=_returned(writer, program),
    )  # fmt: skip
    loops = () if entries is None else entries.functions()
    return "\n\n\n".join([*map(compiled, loops), function(f)])


def _returned(writer: LinearFunctions, program: Part) -> str:
    """The type of what a function returns."""
    results, numbers = writer.results(program), {v.name for v in writer.plan.numbers}
    kinds = [
        "float" if target in numbers else "Array"
        for target, local in program.writes
        if local in results
    ]
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
