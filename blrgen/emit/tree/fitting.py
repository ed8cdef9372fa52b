"""Lines that are too long, with parts of them as locals of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from blrgen.emit.printers import PythonPrinter
from blrgen.emit.shorten import shortened
from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n

STEP = 4  # how far the body of a loop stands in


def fitted(
    body: tuple[t.Statement, ...], printer: PythonPrinter, taken: set[str], indent: int = STEP
) -> tuple[t.Statement, ...]:
    """The body, whose first line stands at `indent`, without lines that do not fit."""
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.For):
            out.append(replace(s, body=fitted(s.body, printer, taken, indent + STEP)))
        elif isinstance(s, t.Assign):
            out += _parts(s, printer, taken, indent)
        else:
            out.append(s)
    return tuple(out)


def _parts(
    s: t.Assign, printer: PythonPrinter, taken: set[str], indent: int
) -> Iterator[t.Statement]:
    """An assignment after its parts; of a call for several values its last argument may be long."""
    if isinstance(s.target, n.Ref):
        *before, (_, value) = shortened([(s.target.name, s.value)], printer, indent, taken)
    elif isinstance(s.target, t.Several) and isinstance(s.value, n.Call):
        *given, last = s.value.args
        *before, (_, last) = shortened([("term", last)], printer, 2 * indent, taken)
        value = n.Call(s.value.name, (*given, last))
    else:
        before, value = [], s.value
    yield from (t.Assign(t.name(x), e) for x, e in before)
    yield replace(s, value=value)
