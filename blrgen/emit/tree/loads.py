"""Entries of arrays read once: what a compiler cannot know to be the same still.

An array that is written in a loop might, for all that a compiler knows, be the one that is read
there.  The tree knows better:

    for k: s[k] += a[j] * p[j,k]       →   a_j = a[j];  for k: s[k] += a_j * p[j,k]
    a[k] = f(k); b[k] = a[k] * c       →   a_k = f(k); a[k] = a_k; b[k] = a_k * c
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n

Body = tuple[t.Statement, ...]


def loaded(body: Body, own: Callable[[str], str]) -> Body:
    """The body with such entries as numbers; `own` makes a name that nothing else has."""
    roots = {s.name: s.part.array for s in t.statements(body) if isinstance(s, t.View)}
    work = _Loading(roots, own)
    return work.hoisted(work.forwarded(body))


@dataclass
class _Loading:
    """Which array each view is a part of, and what makes names."""

    roots: dict[str, str]
    own: Callable[[str], str]

    # -- before innermost loops --------------------------------------------------------
    def hoisted(self, body: Body) -> Body:
        """Entries that stay the same in an innermost loop are read before it."""
        out: list[t.Statement] = []
        for s in body:
            if isinstance(s, t.For):
                inside = self.hoisted(s.body)
                innermost = not any(isinstance(x, t.For) for x in t.statements(inside))
                same = self.same(replace(s, body=inside)) if innermost else {}
                out += [t.Assign(t.name(x), e) for e, x in same.items()]
                out.append(replace(s, body=_reading(inside, _names(same))))
            elif isinstance(s, t.If):
                out.append(replace(s, body=self.hoisted(s.body), other=self.hoisted(s.other)))
            else:
                out.append(s)
        return tuple(out)

    def same(self, loop: t.For) -> dict[t.Entry, str]:
        """The entries that a loop reads again and again, with a name for each."""
        arrays, numbers = self.written(loop.body)
        found: dict[t.Entry, str] = {}
        for e in (e for s in t.statements(loop.body) for e in _read(s)):
            moves = numbers.union([loop.letter]).intersection(e.names)
            if e not in found and not moves and self.root(e.array) not in arrays and _is_one(e):
                found[e] = self.called(e)
        return found

    # -- after they are written --------------------------------------------------------
    def forwarded(self, body: Body) -> Body:
        """What has just been written is not read again."""
        out: list[t.Statement] = []
        rest = list(body)
        while rest:
            s = rest.pop(0)
            if isinstance(s, t.For):
                s = replace(s, body=self.forwarded(s.body))
            elif isinstance(s, t.If):
                s = replace(s, body=self.forwarded(s.body), other=self.forwarded(s.other))
            elif isinstance(s, t.Assign) and isinstance(s.target, t.Entry) and _is_one(s.target):
                known = self.known(s, rest)
                if known is not None:
                    out += [t.Assign(known, s.value)] if known != s.value else []
                    s = replace(s, value=known)
                    rest = self.replaced(s.target, known, rest)  # type: ignore[arg-type]
            out.append(s)
        return tuple(out)

    def known(self, s: t.Assign, rest: list[t.Statement]) -> n.Node | None:
        """The number that has been written, if it is read before the entry changes."""
        assert isinstance(s.target, t.Entry)
        if self.replaced(s.target, t.name(""), rest) == rest:
            return None
        return s.value if isinstance(s.value, n.Const) else t.name(self.called(s.target))

    def replaced(self, e: t.Entry, by: n.Node, rest: list[t.Statement]) -> list[t.Statement]:
        """The statements with the number in the entry's place as long as both are the same."""
        for p, s in enumerate(rest):
            arrays, numbers = self.written((s,))
            changed = self.root(e.array) in arrays or bool(numbers.intersection(e.names))
            if changed:
                last = [_on_right(s, {e: by})] if isinstance(s, t.Assign | t.Increase) else [s]
                return [*_reading(tuple(rest[:p]), {e: by}), *last, *rest[p + 1 :]]
        return list(_reading(tuple(rest), {e: by}))

    # -- what changes --------------------------------------------------------------------
    def written(self, body: Body) -> tuple[set[str], set[str]]:
        """The arrays and the numbers that statements write."""
        arrays: set[str] = set()
        numbers: set[str] = set()
        for s in t.statements(body):
            if isinstance(s, t.Assign | t.Increase):
                if isinstance(s.target, t.Entry):
                    arrays.add(self.root(s.target.array))
                else:
                    numbers |= set(s.target.names)
                    arrays |= set(s.target.names)
            elif isinstance(s, t.For):
                numbers.add(s.letter)
            elif isinstance(s, t.Make | t.View):
                arrays |= {s.name, self.root(s.name)}
                numbers.add(s.name)
            elif isinstance(s, t.Invoke):
                arrays |= {self.root(x) for e in s.args for x in e.names}
        return arrays, numbers

    def root(self, array: str) -> str:
        while self.roots.get(array, array) != array:
            array = self.roots[array]
        return array

    def called(self, e: t.Entry) -> str:
        """A name that says which entry it is."""
        letters = "".join(x for i in e.index for x in i.names)
        return self.own(f"{e.array}_{letters}" if letters else e.array)


def _is_one(e: t.Entry) -> bool:
    """Whether it is a number and not a part of an array."""
    return not any(isinstance(x, t.Span) for x in n.walk(e))


def _read(s: t.Statement) -> list[t.Entry]:
    """The entries that a statement reads."""
    return [x for e in _sources(s) for x in n.walk(e) if isinstance(x, t.Entry)]


def _sources(s: t.Statement) -> tuple[n.Node, ...]:
    if isinstance(s, t.Assign | t.Increase):
        places = s.target.index if isinstance(s.target, t.Entry) else ()
        return (s.value, *places)
    return t.expressions(s) if isinstance(s, t.If | t.For) else ()


def _names(entries: dict[t.Entry, str]) -> dict[t.Entry, n.Node]:
    return {e: t.name(x) for e, x in entries.items()}


def _reading(body: Body, known: dict[t.Entry, n.Node]) -> Body:
    """Statements that read numbers where they read these entries."""
    return tuple(_on_right(s, known) for s in body) if known else body


def _on_right(s: t.Statement, known: dict[t.Entry, n.Node]) -> t.Statement:
    def on(e: n.Node) -> n.Node:
        return known[e] if isinstance(e, t.Entry) and e in known else e.rebuilt(on)

    if isinstance(s, t.Assign | t.Increase):
        target = s.target
        if isinstance(target, t.Entry):
            target = replace(target, index=tuple(map(on, target.index)))
        return replace(s, target=target, value=on(s.value))
    if isinstance(s, t.For):
        ends = {"start": on(s.start), "stop": on(s.stop)}
        return replace(s, body=_reading(s.body, known), **ends)  # type: ignore[arg-type]
    if isinstance(s, t.If):
        return t.If(on(s.condition), _reading(s.body, known), _reading(s.other, known))
    return s
