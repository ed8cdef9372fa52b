"""In which turn statements are resolved: a deterministic node after those whose shape it needs.

Random nodes have their shapes from their families, so only links wait for one another; a
statement of a chain's first element gives the shape to the others.
"""

from __future__ import annotations

from collections.abc import Iterator

from blrgen.read.model import raw
from blrgen.read.model.groups import Group
from blrgen.read.model.scope import Scope


def in_turn(groups: list[Group], scope: Scope) -> Iterator[tuple[Group, int]]:
    """(node, statement) in an order in which all can be read; those in cycles are noted."""
    waiting = [
        (g, i) for g in groups if g.kind == "deterministic" and not g.broken
        for i in range(len(g.statements))
    ]  # fmt: skip
    links = {g.names[0]: g for g, _ in waiting}
    names = {id(g.statements[i]): _names(g.statements[i]) & set(links) for g, i in waiting}
    while waiting:
        ready = []
        for g, i in waiting:
            needs = names[id(g.statements[i])]
            if all(links[n].entries[0].shape is not None or links[n].broken for n in needs):
                ready.append((g, i))
                yield g, i
                if g.entries[0].shape is None:
                    g.broken = g.entries[0].broken = True
        if not ready:
            _note_cycle(waiting, names, scope)
            break
        done = {(id(g), i) for g, i in ready}
        waiting = [(g, i) for g, i in waiting if (id(g), i) not in done]
    for g in groups:
        if g.kind != "deterministic":
            yield from ((g, i) for i in range(len(g.statements)) if i < len(g.indices))


def _note_cycle(waiting: list[tuple[Group, int]], names: dict[int, set[str]], scope: Scope) -> None:
    """One mistake for each circle of links; what only waits for it stays unsaid."""
    edges: dict[str, set[str]] = {}
    for g, i in waiting:
        edges.setdefault(g.names[0], set()).update(names[id(g.statements[i])])
        g.broken = g.entries[0].broken = True
    said: set[str] = set()
    for g, _ in waiting:
        name = g.names[0]
        way = _way_back(name, edges) if name not in said else []
        if way:
            said |= set(way)
            scope.mistakes.note(
                "cycle", g.statements[0].place, f"{name} depends on itself",
                why=" → ".join([*way, name]),
                instead="one of them needs a value that does not depend on the others", node=name,
            )  # fmt: skip


def _way_back(name: str, edges: dict[str, set[str]]) -> list[str]:
    """A shortest way from a name back to itself, [] where there is none."""
    before: dict[str, str] = {}
    todo = [name]
    while todo:
        at = todo.pop(0)
        for to in sorted(edges.get(at, ())):
            if to == name:
                way = [at]
                while way[-1] != name:
                    way.append(before[way[-1]])
                return way[::-1]
            if to not in before:
                before[to] = at
                todo.append(to)
    return []


def _names(said: raw.RawRandom | raw.RawLink) -> set[str]:
    """All names in a link's expression."""
    found: set[str] = set()
    todo: list[object] = [said.value] if isinstance(said, raw.RawLink) else []
    while todo:
        match todo.pop():
            case raw.RawRef(name=name, indices=indices):
                found.add(name)
                todo += indices
            case raw.RawCall(args=args):
                todo += args
            case raw.RawOps(parts=parts):
                todo += [p for _, p in parts]
            case raw.RawNegation(arg=arg):
                todo.append(arg)
            case raw.RawPower(base=base, exponent=exponent):
                todo += [base, exponent]
    return found
