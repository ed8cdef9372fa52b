"""Module-level functions of a file around linear algebra: what is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit import fixed
from blrgen.emit import formed as matrix
from blrgen.emit.extents import LinearPrinter
from blrgen.emit.plan import phase_of
from blrgen.emit.shorten import shortened
from blrgen.emit.templates import fill
from blrgen.emit.text import assignment, call
from blrgen.program import nodes as n
from blrgen.program.program import Program

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


def _function(writer: LinearFunctions, name: str, summary: str, program: Program) -> str:
    """A pure function from arrays and scalars to the phase's results."""
    made = writer.formed(program)
    if made is not None:
        suffix = name.removeprefix("_step")
        functions = matrix.entry_functions(made, suffix, matrix.again(writer))
        return f"{functions}\n\n\n{matrix.function(writer, name, summary, program)}"
    phase = phase_of(program)
    factors = {s.name for s in phase.body if s.type.rank == "factor"}
    printer = LinearPrinter(writer.extents, writer.main, factors)
    arrays, scalars = writer.arguments(program)
    arguments = [f"{a}: Array" for a in arrays] + [f"{s}: float" for s in scalars]
    results = writer.results(program)
    lines = shortened(
        [(s.name, s.expr) for s in phase.body], printer, 4, {*program.scope, *arguments}
    )
    rows = []
    for local, expr in lines:
        text = printer(expr)
        if isinstance(expr, n.Sym) and expr.name in arrays:
            text += ".copy()"  # never the caller's own array
        used = local in results or any(local in n.names(e) for _, e in lines)
        rows.append(assignment(local, text, 4) if used or local not in factors else f"    {text}")
    rows.append(f"    return {', '.join(results)}")
    return fill(
        "numpy/function.py.jinja",
        signature=call(f"def {name}(", arguments, f") -> {_returned(writer, program)}:"),
        summary=summary,
        body="\n".join(rows),
    )


def _returned(writer: LinearFunctions, program: Program) -> str:
    """The type of what a function returns."""
    results, numbers = writer.results(program), {v.name for v in writer.scalar_states}
    kinds = [
        "float" if target in numbers else "Array"
        for target, local in phase_of(program).writes
        if local in results
    ]
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]"
