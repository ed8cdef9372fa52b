"""What statements read, and recurrences' ends that nothing reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n


def without_unread(
    body: tuple[t.Statement, ...], returned: set[str], ends: set[str]
) -> tuple[t.Statement, ...]:
    """The body without notes of where recurrences ended that nobody reads."""
    read = {*returned}
    for s in t.statements(body):
        targets = (s.target,) if isinstance(s, t.Assign) and isinstance(s.target, n.Ref) else ()
        read |= {x for e in t.expressions(s) if e not in targets for x in e.names}

    def kept(s: t.Statement) -> bool:
        known = isinstance(s, t.Assign) and isinstance(s.target, n.Ref)
        return not (known and s.target.name in ends - read)  # type: ignore[union-attr]

    def inside(body: tuple[t.Statement, ...]) -> tuple[t.Statement, ...]:
        out: list[t.Statement] = []
        for s in filter(kept, body):
            if isinstance(s, t.For):
                s = replace(s, body=inside(s.body))
            elif isinstance(s, t.If):
                s = replace(s, body=inside(s.body), other=inside(s.other))
            out.append(s)
        return tuple(out)

    return inside(body)


def names_in(body: Sequence[t.Statement]) -> set[str]:
    """Every name that stands in the statements."""
    found: set[str] = set()
    for s in t.statements(tuple(body)):
        found |= {x for e in t.expressions(s) for x in e.names}
        for e in t.expressions(s):
            found |= {x.array for x in n.walk(e) if isinstance(x, t.Shape | t.Length)}
    return found
