"""Common subexpressions of a body, each computed once.

Names are assigned once, so two trees that are equal but for the names of their letters have
equal values wherever they stand; numbers are left to the section before the body, but for those
made of whole arrays.

A tree gets a name when it stands in more than one place after every larger repeated tree
has one.  Parents are larger than their children, so one sweep over the different trees,
the largest first, counts the places: a tree with a name shows its children once, any other
as often as it stands somewhere itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.naming import name_for
from blrgen.program.part import Part

Place = tuple[float, ...]  # where a statement stands; sorts as the statements do


def cse(part: Part) -> Part:
    """The body without repeated expressions."""
    letters = len(part.letters) > 1
    taken = part.taken
    while (sweep := _Sweep(part.body, part.late, taken, letters)).names:
        part = replace(part, body=sweep.rewritten())  # a new name may make two trees equal
    return part


@dataclass
class _Sweep:
    """One pass over the different trees of a body; `names` are the names that it gives."""

    body: tuple[a.Let, ...]
    late: tuple[str, ...]
    taken: set[str]
    letters: bool  # whether there are several, so that trees may differ in them alone
    names: dict[n.Node, str] = field(default_factory=dict)
    placed: list[tuple[Place, a.Let]] = field(default_factory=list)  # old and new
    before: dict[Place, int] = field(default_factory=dict)  # how many new ones stand before it

    def __post_init__(self) -> None:
        self.keys: dict[n.Node, n.Node] = {}
        self.whole: dict[n.Node, int] = {}  # the first statement that is this tree
        self.uses: dict[n.Node, int] = {}
        self.first: dict[n.Node, Place] = {}  # the first statement it stands in
        for k, s in enumerate(self.body):
            self.placed.append(((k, inf), s))
            if {*s.letters} == {*a.free(s.expr)}:
                self.whole.setdefault(self.key(s.expr), k)
            self._stands(self.key(s.expr), 1, (k, inf))
        for level in self._by_size():
            for node in sorted(level, key=lambda x: self.first[self.key(x)]):
                self._visit(node)

    def key(self, node: n.Node) -> n.Node:
        """The tree with its letters by the order in which they are met."""
        if not self.letters:
            return node
        if node not in self.keys:
            self.keys[node] = _lettered(node, {})
        return self.keys[node]

    def _stands(self, key: n.Node, times: int, place: Place) -> None:
        self.uses[key] = self.uses.get(key, 0) + times
        self.first[key] = min(self.first.get(key, place), place)

    def _visit(self, node: n.Node) -> None:
        key = self.key(node)
        times, place = self.uses[key], self.first[key]
        if times > 1 and _is_worth_it(node) and self._costs(node):
            times, place = 1, self._named(node, place)
        for child in _inner(node):
            self._stands(self.key(child), times, place)

    def _named(self, node: n.Node, place: Place) -> Place:
        """The name of a tree and where it is computed: right before it is first read."""
        key = self.key(node)
        if key in self.whole:
            known = self.whole[key]
            self.names[key] = self.body[known].name
            return (known, inf)
        name = name_for(node, self.taken)
        self.taken.add(name)
        self.names[key] = name
        count = self.before[place] = self.before.get(place, 0) + 1
        own = (*place[:-1], count, inf)
        self.placed.append((own, a.Let(name, a.free(node), node)))
        return own

    def _costs(self, node: n.Node) -> bool:
        """A number is computed once a step and costs nothing, unless it is made of matrices."""
        dear = bool(a.free(node)) or isinstance(node, a.Red)
        return dear or not set(self.late).isdisjoint(node.names)

    def rewritten(self) -> tuple[a.Let, ...]:
        """The statements in order, each tree with a name under that name."""
        made = []
        for _, s in sorted(self.placed, key=lambda x: x[0]):
            inner = s.expr.rebuilt(self._with_names)
            own = self.names.get(self.key(s.expr), s.name)
            made.append(replace(s, expr=inner if own == s.name else self._ref(own, s.expr)))
        return tuple(made)

    def _ref(self, name: str, node: n.Node) -> n.Ref:
        """The name in place of a tree, whose letters are met in the order of the name's."""
        known = next((s for _, s in self.placed if s.name == name), None)
        assert known is not None
        at = dict(zip(a.free(known.expr), a.free(node), strict=True))
        return a.ref(name, *(at[x] for x in known.letters))

    def _with_names(self, node: n.Node) -> n.Node:
        name = self.names.get(self.key(node))
        return node.rebuilt(self._with_names) if name is None else self._ref(name, node)

    def _by_size(self) -> list[list[n.Node]]:
        """The different trees in order of first use, those of one size together, largest first."""
        seen: dict[n.Node, n.Node] = {}
        todo = [(s.expr, False) for s in reversed(self.body)]
        while todo:
            node, opened = todo.pop()
            if opened:
                seen[self.key(node)] = node
            elif self.key(node) not in seen:
                todo.append((node, True))
                todo += [(c, False) for c in reversed(_inner(node))]
        levels: dict[int, list[n.Node]] = {}
        for node in seen.values():
            levels.setdefault(node.weight, []).append(node)
        return [levels[size] for size in sorted(levels, reverse=True)]


def _inner(node: n.Node) -> tuple[n.Node, ...]:
    """What an expression is computed from; places are no expressions."""
    return () if isinstance(node, a.Ref | a.Lin | a.Is) else node.children


def _lettered(node: n.Node, known: dict[str, str]) -> n.Node:
    """The tree with other letters, the same for all trees that differ in letters alone."""
    if isinstance(node, a.Ix):
        return a.Ix(known.setdefault(node.letter, f"#{len(known)}"))
    made = node.rebuilt(lambda c: _lettered(c, known))
    if isinstance(made, a.Red):
        inside = tuple(known.setdefault(x, f"#{len(known)}") for x in made.letters)
        return replace(made, letters=inside)
    return made


def _is_worth_it(node: n.Node) -> bool:
    """An entry and a sign cost nothing."""
    return not isinstance(node, (*n.LEAVES, n.Neg, n.Compare, a.Is, a.Extent))
