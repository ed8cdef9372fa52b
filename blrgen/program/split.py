"""A body that is too long for one loop, as several that are run one after the other.

Straight-line code takes a compiler more than proportional time, and a loop with more values
than registers is slow.  So heavy expressions are broken into parts, long sums into running
ones, and the statements are cut where few values are alive.  Terms that share values stand
together in all sums, and those of one shape follow one another.  What is alive at a cut is
kept in an array for the next loop; states are written in the last one, so that every loop
reads their old values.

A sum whose terms have one shape gives parts of one shape: those that differ in constants and
arrays only are one function, called with different arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.part import Part
from blrgen.program.program import Variable, fresh
from blrgen.program.terms import Terms
from blrgen.program.types import ENTRIES

MOST = 200  # nodes of one loop
PART = 48  # nodes of one statement, where it can be broken
TERMS = 8  # of a sum in one statement
LEAST = 3  # nodes that are never worth a name


@dataclass(frozen=True)
class Split:
    """The parts in order, and the arrays that keep what one part makes for later ones."""

    parts: tuple[Part, ...]
    kept: tuple[str, ...]


def is_long(part: Part) -> bool:
    """Whether the body is more than one loop should hold."""
    return sum(s.expr.weight for s in part.body) > 2 * MOST


def split(part: Part) -> Split:
    """A part over one axis as several."""
    taken = part.taken
    broken = _Broken(part.body, taken)
    body = _by_need(broken.statements, broken.place)
    groups = list(_cut(body, {local for _, local in part.writes}))
    return _with_arrays(part, groups, taken)


class _Broken:
    """Statements with their heavy expressions broken into parts."""

    def __init__(self, body: tuple[a.Let, ...], taken: set[str]) -> None:
        self.taken = taken
        self.terms = Terms(body, _is_long_sum)
        self.place = self.terms.place_of_name  # of a statement
        self.statements: list[a.Let] = []
        for s in body:
            self.statements.append(replace(s, expr=self.light(s.expr)))

    def light(self, node: n.Node) -> n.Node:
        """The expression with no more than PART nodes, where it can be broken."""
        if node.weight <= TERMS:
            return node
        if _is_long_sum(node):
            return self.running(node)
        node = node.rebuilt(self.light)
        for child in sorted(dict.fromkeys(node.children), key=n.size, reverse=True):
            if node.weight <= PART or child.weight <= LEAST:
                break
            own = self.named(child)
            node = node.rebuilt(lambda x, child=child, own=own: own if x == child else x)  # type: ignore[misc]
        return node

    def running(self, node: n.Node) -> n.Node:
        """A long sum (or product), term after term."""
        first, *terms = sorted(node.children, key=self.terms.place)
        made = self.light(first)
        for term in terms:
            args = (self.named(made), self.light(term))
            made = n.Add(args) if isinstance(node, n.Add) else n.Mul(args)
        return made

    def named(self, node: n.Node) -> n.Node:
        """The expression as a statement of its own; a truth value stays where it is."""
        if isinstance(node, (*n.LEAVES, n.Compare)):
            return node
        name = fresh("part", self.taken)
        self.taken.add(name)
        self.place[name] = max((self.place.get(x, 0) for x in node.names), default=0)
        self.statements.append(a.Let(name, a.free(node), node))
        return a.ref(name, *a.free(node))


def _is_long_sum(node: n.Node) -> bool:
    """Whether it is a sum (or product) that is computed term after term."""
    count = len(node.children) if isinstance(node, n.Add | n.Mul) else 0
    return count > TERMS or (count > 2 and node.weight > PART)


def _by_need(statements: list[a.Let], place: Mapping[str, int]) -> list[a.Let]:
    """In an order in which what belongs to one term is computed together."""
    own = {s.name for s in statements}
    lacks = [{x for x in s.expr.names if x in own} for s in statements]
    readers: dict[str, list[int]] = {}
    for k, names in enumerate(lacks):
        for x in sorted(names):
            readers.setdefault(x, []).append(k)
    rank = [(place.get(s.name, 0), k) for k, s in enumerate(statements)]
    ready = [rank[k] for k in range(len(statements)) if not lacks[k]]
    heapify(ready)
    done: list[a.Let] = []
    while ready:
        _, k = heappop(ready)
        done.append(statements[k])
        for reader in readers.get(statements[k].name, ()):
            lacks[reader].discard(statements[k].name)
            if not lacks[reader]:
                heappush(ready, rank[reader])
    return done


def _cut(body: list[a.Let], written: set[str]) -> Iterator[list[a.Let]]:
    """Groups of at most MOST nodes, cut in their second half where the fewest values live."""
    alive = _alive(body, written)
    start = 0
    while start < len(body):
        weight, end, cuts = 0, start, list[int]()
        while end < len(body) and (end == start or weight + body[end].expr.weight <= MOST):
            weight += body[end].expr.weight
            end += 1
            if weight >= MOST // 2:
                cuts.append(end)
        if end < len(body) and cuts:
            end = min(reversed(cuts), key=lambda k: alive[k])
        yield body[start:end]
        start = end


def _alive(body: list[a.Let], written: set[str]) -> list[int]:
    """How many values that were made before a place are read at or after it."""
    last = {s.name: len(body) for s in body if s.name in written}
    for k, s in enumerate(body):
        for x in s.expr.names:
            last[x] = max(last.get(x, k), k)
    change = [0] * (len(body) + 2)
    for k, s in enumerate(body):
        change[k + 1] += 1
        change[max(last.get(s.name, k), k) + 1] -= 1
    found, count = [], 0
    for more in change:
        count += more
        found.append(count)
    return found


def _with_arrays(part: Part, groups: list[list[a.Let]], taken: set[str]) -> Split:
    """Each group as a part; what later groups read is kept in arrays, used again when free."""
    group_of = {s.name: k for k, g in enumerate(groups) for s in g}
    last = dict.fromkeys((local for _, local in part.writes), len(groups) - 1)
    for k, group in enumerate(groups):
        for s in group:
            last |= {x: max(k, last.get(x, k)) for x in s.expr.names}
    places: dict[str, str] = {}  # value → the array that keeps it
    arrays: list[str] = []
    free: list[str] = []
    bodies: list[tuple[tuple[a.Let, ...], list[tuple[str, str]]]] = []
    for k, group in enumerate(groups):
        body = tuple(replace(s, expr=a.renamed(s.expr, dict(places))) for s in group)
        read = list(dict.fromkeys(x for s in group for x in s.expr.names if x in places))
        read.sort(key=lambda x: max(j for j, s in enumerate(group) if x in s.expr.names))
        free[:0] = [places.pop(x) for x in read if last[x] == k < len(groups) - 1]
        writes = []
        for s in group:
            if last.get(s.name, k) <= k:
                continue
            if not free:
                free.append(fresh("kept", taken))
                taken.add(free[-1])
                arrays.append(free[-1])
            places[s.name] = free.pop(0)
            writes.append((places[s.name], s.name))
        if k == len(groups) - 1:
            writes = [
                (target, places[x] if group_of.get(x, k) != k else x) for target, x in part.writes
            ]
        bodies.append((body, writes))
    variables = (*part.rule.variables, *(Variable(x, "kept", ENTRIES) for x in arrays))
    rule = replace(part.rule, variables=variables)
    made = (replace(part, rule=rule, body=body, writes=tuple(w)) for body, w in bodies)
    return Split(tuple(made), tuple(arrays))
