"""Equations in an order in which everything is computed before it is read.

A stable topological sort: what is in order already stays where it is.  Next
values are separate names, written to their states only at the end,
so every equation reads old values of the states.
"""

from __future__ import annotations

from dataclasses import replace
from heapq import heappop, heappush

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.part import Part


def ordered(part: Part) -> Part:
    """The numbers of a part, then its body, each in order.

    A name that is never computed, or a cycle, is an error.
    """
    known = {v.name for v in part.rule.variables if v.kind != "intermediate"}
    numbers = _sorted(part.numbers, known)
    body = _sorted(part.body, known)
    missing = [local for _, local in part.writes if local not in known]
    if missing:
        raise InternalError(f"{missing[0]} is written to a state but never computed")
    return replace(part, numbers=numbers, body=body)


def _sorted(statements: tuple[a.Let, ...], known: set[str]) -> tuple[a.Let, ...]:
    """Sorted, with their names added to `known`: always the first that can be computed."""
    lacks = [{x for x in n.names(s.expr) if x not in known} for s in statements]
    readers: dict[str, list[int]] = {}
    for k, names in enumerate(lacks):
        for x in sorted(names):
            readers.setdefault(x, []).append(k)
    ready = [k for k, names in enumerate(lacks) if not names]  # in order, so it is a heap
    done: dict[int, a.Let] = {}
    while ready:
        k = heappop(ready)
        name = statements[k].name
        if name in known:
            raise InternalError(f"{name} is assigned twice")
        known.add(name)
        done[k] = statements[k]
        for reader in readers.pop(name, ()):
            lacks[reader].remove(name)
            if not lacks[reader]:
                heappush(ready, reader)
    for k, s in enumerate(statements):
        if k not in done:
            lacking = [x for x in n.names(s.expr) if x not in known]
            raise InternalError(f"{s.name} needs {', '.join(lacking)}, computed nowhere before it")
    return tuple(done.values())
