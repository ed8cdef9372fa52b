"""How values go to arrays: without a name where nothing else reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n


def stored(body: tuple[t.Statement, ...], fading: Collection[str] = ()) -> tuple[t.Statement, ...]:
    """The body with values put where they go; what is denormal is 0 in the arrays in `fading`."""
    reads = Counter(x for s in t.statements(body) for e in _read(s) for x in _names(e))
    return _Storing({x for x, count in reads.items() if count == 1}, fading).body(body)


class _Storing:
    """The names that are read once, and the statements so far."""

    def __init__(self, once: set[str], fading: Collection[str]) -> None:
        self.once, self.fading = once, fading

    def body(self, body: tuple[t.Statement, ...]) -> tuple[t.Statement, ...]:
        out: list[t.Statement] = []
        for s in body:
            if isinstance(s, t.For):
                out.append(replace(s, body=self.body(s.body)))
            elif isinstance(s, t.Assign) and isinstance(s.target, t.Entry):
                out.append(self.put(s.target, self.freed(s.value, out), out))
            else:
                out.append(s)
        return tuple(out)

    def put(self, target: t.Entry, value: n.Node, out: list[t.Statement]) -> t.Statement:
        """The store of a value; what is added to an array is added in its place."""
        if isinstance(value, t.Apply) and value.function == "np.copy":
            value = value.args[0]
        whole = [t.name(target.array)] if target.index == (t.Span(),) else []
        if isinstance(value, n.Add) and len(value.args) == 2:
            there, more = value.args
            if there in (target, *whole):
                return t.Increase(target, self.freed(more, out))
        if target.array in self.fading:
            value = n.Call("_flushed", (value,))
        return t.Assign(target, value)

    def freed(self, value: n.Node, out: list[t.Statement]) -> n.Node:
        """What a local is that nothing else reads, and which is then left out."""
        if not isinstance(value, n.Ref) or value.name not in self.once:
            return value
        for k in range(len(out) - 1, -1, -1):
            made = out[k]
            if not isinstance(made, t.Assign) or made.target != value:
                continue
            if not _changed(out[k + 1 :]) & set(made.value.names):
                del out[k]
                return made.value
        return value


def _changed(between: list[t.Statement]) -> set[str]:
    """The arrays that statements write to."""
    targets = [s.target for s in between if isinstance(s, t.Assign | t.Increase)]
    return {x.array for x in targets if isinstance(x, t.Entry)}


def _read(s: t.Statement) -> tuple[n.Node, ...]:
    """What a statement reads."""
    if isinstance(s, t.Assign):
        return (s.value, *s.target.children)
    return t.expressions(s)


def _names(e: n.Node) -> list[str]:
    """Every name as often as it stands."""
    found = [x.name for x in n.walk(e) if isinstance(x, n.Ref)]
    return found + [x.array for x in n.walk(e) if isinstance(x, t.Entry)]
