"""Common subexpressions of a phase's body, each computed once.

Names are assigned once, so two equal trees have equal values wherever they stand; numbers
are left to the section before the body, but for those made from sums over components.

A tree gets a name when it stands in more than one place after every larger repeated tree
has one.  Parents are larger than their children, so one sweep over the different trees,
the largest first, counts the places: a tree with a name shows its children once, any other
as often as it stands somewhere itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf

from blrgen.program import nodes as n
from blrgen.program.naming import name_for
from blrgen.program.program import Phase, Program, Statement
from blrgen.program.totals import over_components
from blrgen.program.types import SCALAR, TRUTH, Memory, infer

Place = tuple[float, ...]  # where a statement stands; sorts as the statements do


def cse(program: Program) -> Program:
    """Every phase without repeated expressions."""
    scope = Memory(program.scope)
    taken = set(scope)
    return program.with_phases(lambda p: _phase(p, scope, taken))


def _phase(phase: Phase, scope: Memory, taken: set[str]) -> Phase:
    body = phase.body
    while (sweep := _Sweep(body, scope, taken)).names:  # a new name may make two trees equal
        body = sweep.rewritten()
    return replace(phase, body=body)


@dataclass
class _Sweep:
    """One pass over the different trees of a body; `names` are the names that it gives."""

    body: tuple[Statement, ...]
    scope: Memory
    taken: set[str]
    names: dict[n.Node, str] = field(default_factory=dict)
    placed: list[tuple[Place, Statement]] = field(default_factory=list)  # old and new
    before: dict[Place, int] = field(default_factory=dict)  # how many new ones stand before it

    def __post_init__(self) -> None:
        self.whole: dict[n.Node, int] = {}  # the first statement that is this tree
        self.uses: dict[n.Node, int] = {}
        self.first: dict[n.Node, Place] = {}  # the first statement it stands in
        self.late = set(over_components(self.body))
        for k, s in enumerate(self.body):
            self.placed.append(((k, inf), s))
            self.whole.setdefault(s.expr, k)
            self._stands(s.expr, 1, (k, inf))
        for level in _by_size(self.body):
            for node in sorted(level, key=lambda x: self.first[x]):
                self._visit(node)

    def _stands(self, node: n.Node, times: int, place: Place) -> None:
        self.uses[node] = self.uses.get(node, 0) + times
        self.first[node] = min(self.first.get(node, place), place)

    def _visit(self, node: n.Node) -> None:
        times, place = self.uses[node], self.first[node]
        if times > 1 and _is_worth_it(node) and self._costs(node):
            times, place = 1, self._named(node, place)
        for child in node.children:
            self._stands(child, times, place)

    def _named(self, node: n.Node, place: Place) -> Place:
        """The name of a tree and where it is computed: right before it is first read."""
        if node in self.whole:
            known = self.whole[node]
            self.names[node] = self.body[known].name
            return (known, inf)
        name = name_for(node, self.taken)
        self.taken.add(name)
        self.scope[name] = infer(node, self.scope)
        self.names[node] = name
        count = self.before[place] = self.before.get(place, 0) + 1
        own = (*place[:-1], count, inf)
        self.placed.append((own, Statement(name, node, self.scope[name])))
        return own

    def _costs(self, node: n.Node) -> bool:
        """A number is computed once a step and costs nothing, unless it is made of matrices."""
        found = infer(node, self.scope)
        if found == TRUTH:
            return False
        dear = found != SCALAR or isinstance(node, n.Trace)
        return dear or not self.late.isdisjoint(node.names)

    def rewritten(self) -> tuple[Statement, ...]:
        """The statements in order, each tree with a name under that name."""
        made = []
        for _, s in sorted(self.placed, key=lambda x: x[0]):
            inner = s.expr.rebuilt(self._with_names)
            own = self.names.get(s.expr, s.name)
            made.append(replace(s, expr=inner if own == s.name else n.Ref(own)))
        return tuple(made)

    def _with_names(self, node: n.Node) -> n.Node:
        name = self.names.get(node)
        return node.rebuilt(self._with_names) if name is None else n.Ref(name)


def _by_size(body: tuple[Statement, ...]) -> list[list[n.Node]]:
    """The different trees in order of first use, those of one size together, largest first."""
    seen: dict[n.Node, None] = {}
    todo = [(s.expr, False) for s in reversed(body)]
    while todo:
        node, opened = todo.pop()
        if opened:
            seen[node] = None
        elif node not in seen:
            todo.append((node, True))
            todo += [(c, False) for c in reversed(node.children)]
    levels: dict[int, list[n.Node]] = {}
    for node in seen:
        levels.setdefault(node.weight, []).append(node)
    return [levels[size] for size in sorted(levels, reverse=True)]


def _is_worth_it(node: n.Node) -> bool:
    """A sign or a transpose costs nothing."""
    return not isinstance(node, (*n.LEAVES, n.Neg, n.Transpose, n.Compare))
