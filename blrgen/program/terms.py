"""The terms of a body's long sums, in one order for all of them.

Terms that read the same values (and few others do) belong together; groups of terms that are
of one shape, constants and arrays apart, follow one another.  A value that no term owns comes
before them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a

COMMON = 16  # terms that read a value which then belongs to none of them


class Terms:
    """Places of terms, and of the statements that they read."""

    def __init__(self, body: tuple[a.Let, ...], is_sum: Callable[[n.Node], bool]) -> None:
        self.made = {s.name: s.expr for s in body}
        self.is_sum = is_sum
        self.all: dict[n.Node, None] = {}
        for s in body:
            self._found(s.expr)
        self.known: dict[str, frozenset[str]] = {}

    def _found(self, node: n.Node) -> None:
        for child in node.children:
            if self.is_sum(node) and not self.is_sum(child):
                self.all[child] = None
            self._found(child)

    def behind(self, name: str) -> frozenset[str]:
        """The statement of that name and all that it reads; a long sum belongs to no term."""
        if name not in self.made or self._sums(self.made[name]):
            return frozenset()
        if name not in self.known:
            inner = (self.behind(x) for x in self.made[name].names)
            self.known[name] = frozenset({name}).union(*inner)
        return self.known[name]

    def _sums(self, node: n.Node) -> bool:
        return self.is_sum(node) or any(self._sums(c) for c in node.children)

    @cached_property
    def readers(self) -> dict[str, list[n.Node]]:
        """Name of a statement → the terms that read it, directly or not."""
        found: dict[str, list[n.Node]] = {}
        for term in self.all:
            for x in sorted(frozenset().union(*(self.behind(x) for x in term.names))):
                found.setdefault(x, []).append(term)
        return found

    @cached_property
    def groups(self) -> list[list[n.Node]]:
        """Terms that belong together, in their order."""
        head = {term: term for term in self.all}

        def of(term: n.Node) -> n.Node:
            while head[term] is not term:
                head[term] = term = head[head[term]]
            return term

        for terms in self.readers.values():
            if len(terms) <= COMMON:
                for term in terms[1:]:
                    head[of(term)] = of(terms[0])
        groups: dict[n.Node, list[n.Node]] = {}
        for term in self.all:
            groups.setdefault(of(term), []).append(term)
        shapes: dict[Hashable, list[list[n.Node]]] = {}
        for group in groups.values():
            shapes.setdefault(tuple(map(self.shape, group)), []).append(group)
        return [group for alike in shapes.values() for group in alike]

    @cached_property
    def places(self) -> dict[n.Node, int]:
        """The place of each term's group."""
        return {term: k for k, group in enumerate(self.groups, 1) for term in group}

    @cached_property
    def place_of_name(self) -> dict[str, int]:
        """The place of each statement: that of the terms that own it, or before or after all."""
        found = {}
        for name, expr in self.made.items():
            terms = self.readers.get(name, [])
            owned = 0 < len(terms) <= COMMON
            after = len(self.groups) + 1 if self._sums(expr) else 0
            found[name] = min(self.places[t] for t in terms) if owned else after
        return found

    def place(self, term: n.Node) -> int:
        """The place of a term of a long sum."""
        return self.places.get(term, 0)

    def shape(self, term: n.Node) -> Hashable:
        """The term with what it reads written out, constants and names by number."""
        names: dict[str, int] = {}

        def change(node: n.Node) -> n.Node:
            if isinstance(node, n.Const):
                return n.Ref("constant")
            if not isinstance(node, n.Ref):
                return node.rebuilt(change)
            if self.behind(node.name) and len(self.readers.get(node.name, ())) <= COMMON:
                return change(self.made[node.name])
            return n.Ref(f"name {names.setdefault(node.name, len(names))}")

        return change(term)
