"""In which turn statements are resolved: a deterministic node after those whose shape it needs.

Random nodes have their shapes from their families, so only links wait for one another; a
statement of a chain's first element gives the shape to the others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from blrgen.read.model import raw
from blrgen.read.model.groups import Group
from blrgen.read.model.scope import Scope


def in_turn(groups: list[Group], scope: Scope) -> Iterator[tuple[Group, int]]:
    """(node, statement) in an order in which all can be read; those in cycles are noted."""
    links = {g.names[0]: g for g in groups if g.kind == "deterministic" and not g.broken}
    needs: dict[tuple[str, int], set[str]] = {}
    wanted: dict[str, list[tuple[str, int]]] = {}
    for name, g in links.items():
        for i, said in enumerate(g.statements):
            needs[name, i] = _names(said) & set(links)
            for other in needs[name, i]:
                wanted.setdefault(other, []).append((name, i))
    ready = deque(key for key, others in needs.items() if not others)
    known: set[str] = set()
    while ready:
        name, i = ready.popleft()
        del needs[name, i]
        yield links[name], i
        if links[name].entries[0].shape is None:
            links[name].broken = links[name].entries[0].broken = True
        if name in known:
            continue
        known.add(name)
        for key in wanted.get(name, ()):
            if key in needs:
                needs[key].discard(name)
                if not needs[key]:
                    ready.append(key)
    _note_cycle(links, needs, scope)
    for g in groups:
        if g.kind != "deterministic":
            yield from ((g, i) for i in range(len(g.statements)) if i < len(g.indices))


def _note_cycle(
    links: dict[str, Group], needs: dict[tuple[str, int], set[str]], scope: Scope
) -> None:
    """One mistake for each circle of links; what only waits for it stays unsaid."""
    edges: dict[str, set[str]] = {}
    for (name, _), others in needs.items():
        edges.setdefault(name, set()).update(others)
        links[name].broken = links[name].entries[0].broken = True
    said: set[str] = set()
    for name in edges:
        way = way_back(name, edges) if name not in said else []
        if way:
            said |= set(way)
            scope.mistakes.note(
                "cycle", links[name].statements[0].place, f"{name} depends on itself",
                why=" → ".join([*way[:20], name]) if len(way) <= 20 else f"by {len(way)} nodes",
                instead="one of them needs a value that does not depend on the others", node=name,
            )  # fmt: skip


def way_back(name: str, edges: dict[str, set[str]]) -> list[str]:
    """A shortest way from a name back to itself, [] where there is none."""
    before: dict[str, str] = {}
    todo = deque([name])
    while todo:
        at = todo.popleft()
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
