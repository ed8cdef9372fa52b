"""Scratch is made once, before the loops that use it."""

from __future__ import annotations

from dataclasses import replace

from blrgen.emit.tree import nodes as t

Body = tuple[t.Statement, ...]


def room(body: Body) -> Body:
    """The body with the arrays that its loops make in front; their shapes are sizes alone."""
    made: list[t.Statement] = []
    inside = tuple(_without(s, made) if isinstance(s, t.For) else s for s in body)
    return (*dict.fromkeys(made), *inside)


def _without(loop: t.For, made: list[t.Statement]) -> t.For:
    out: list[t.Statement] = []
    for s in loop.body:
        if isinstance(s, t.Make):
            made.append(s)
        else:
            out.append(_without(s, made) if isinstance(s, t.For) else s)
    return replace(loop, body=tuple(out))
