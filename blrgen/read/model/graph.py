"""What the graph of a model must be: no circles, all of it used, all of it seen by data.

Circles are looked for element by element on a few elements along every chain: x[t] after
x[t-1] is none, a[t] after b[t] after a[t] is one.
"""

from __future__ import annotations

from itertools import product
from typing import TypeAlias

from blrgen.core import Family
from blrgen.read.model.links import way_back
from blrgen.read.model.mistakes import Mistakes
from blrgen.read.model.scope import Scope
from blrgen.read.model.values import (
    Choose,
    Draw,
    Index,
    Letter,
    Literal,
    Model,
    Node,
    Place,
    Point,
    Ref,
    Statement,
)
from blrgen.read.model.walk import refs

MAX_ELEMENTS = 9  # looked at along a chain
MAX_MOVING = 4  # letters of a node that are told apart
_DISCRETE = ("integers", "finite", "one-hot", "counts")
Element: TypeAlias = tuple[int, tuple[int, ...]]  # a node's number and its place along chains


def check_graph(model: Model, scope: Scope, *, complete: bool) -> None:
    """Note cycles, mixed measures, and (where all of the text could be read) what is not used."""
    mistakes = scope.mistakes
    constants(model, mistakes)
    _cycles(model, mistakes)
    for node in model.nodes:
        for statement in node.statements:
            if isinstance(statement.made, Choose):
                _measures(model, node, statement.made, mistakes)
    if any(m.kind == "syntax" for m in mistakes.found):
        return
    unused(scope)
    if complete:
        _seen(model, mistakes)


def constants(model: Model, mistakes: Mistakes) -> None:
    """What is given depends on nothing that is found, and on no constant in a circle."""
    names = {c.name for c in model.constants}
    needs: dict[str, set[str]] = {}
    said = [
        (c.name, e, c.place)
        for c in model.constants for e in (c.default, c.domain.lower, c.domain.upper)
    ]  # fmt: skip
    said += [("", p.times, p.place) for p in model.plates]
    said += [
        (n.name, e, n.place)
        for n in model.nodes if n.kind == "param" for e in (n.domains[0].lower, n.domains[0].upper)
    ]  # fmt: skip
    for name, e, _ in said:
        for ref in refs(e) if e is not None else ():
            if ref.name not in names:
                mistakes.note(
                    "domain", ref.place, f"{ref.name} is not known here",
                    why="defaults, ends of domains and counts are made of constants and sizes",
                    instead=f"declare {ref.name} as a constant", node=name,
                )  # fmt: skip
            elif name in names:
                needs.setdefault(name, set()).add(ref.name)
    told: set[str] = set()
    for c in model.constants:
        way = way_back(c.name, needs) if c.name not in told else []
        if way:
            told |= set(way)
            mistakes.note(
                "cycle", c.place, f"{c.name} depends on itself", why=" → ".join([*way, c.name]),
                instead="give one of them without the others", node=c.name,
            )  # fmt: skip


def unused(scope: Scope) -> None:
    """Plates and constants that nothing refers to."""
    for axis in scope.axes.values():
        if not axis.used:
            scope.mistakes.note(
                "unused", axis.said.place, f"the plate {axis.letter} is not used",
                why="nothing runs along it", instead="leave it out, or index a node with it",
                node="",
            )  # fmt: skip
    for entry in scope.entries.values():
        if entry.kind == "const" and not entry.used:
            scope.mistakes.note(
                "unused", entry.place, f"the constant {entry.name} is not used",
                why="no statement refers to it", instead="leave it out", node=entry.name,
            )  # fmt: skip


def _seen(model: Model, mistakes: Mistakes) -> None:
    """Every latent and every param has an observed node behind it.

    A deterministic one need not: it may be there to be read off, such as a difference of means.
    """
    owner = {name: i for i, n in enumerate(model.nodes) for name in n.names}
    parents = [{owner[r] for r in parents_of(n) if r in owner} for n in model.nodes]
    reached = {i for i, n in enumerate(model.nodes) if n.kind == "observed"}
    if not reached:
        mistakes.note(
            "nothing-observed", _place(model), "nothing is observed",
            why="without data every posterior is its prior",
            instead="write observed behind the statement of the data", node="",
        )  # fmt: skip
        return
    todo = list(reached)
    while todo:
        for parent in parents[todo.pop()] - reached:
            reached.add(parent)
            todo.append(parent)
    for i, node in enumerate(model.nodes):
        if i not in reached and node.kind != "deterministic":
            mistakes.note(
                "unidentified", node.place, f"nothing observed depends on {node.name}",
                why="nothing moves it" if node.kind == "param" else "its posterior is its prior",
                instead="leave it out, or use it in a statement of data", node=node.name,
            )  # fmt: skip


def _place(model: Model) -> Place:
    return model.nodes[-1].place if model.nodes else Place(1, 1)


def parents_of(node: Node) -> list[str]:
    """The names that a node's statements refer to, each once, in order; itself left out."""
    names = (r.name for s in node.statements for r in refs(s.made))
    return [n for n in dict.fromkeys(names) if n not in node.names]


def is_discrete(family: Family) -> bool:
    """Whether the family counts: a density beside counting measure."""
    return all(s.kind in _DISCRETE for s in family.supports)


def _measures(model: Model, node: Node, made: Choose, mistakes: Mistakes) -> None:
    """All distributions of a choose count, or all have densities; points beside counts only."""
    families = [b for b in made.branches if isinstance(b, Draw)]
    kinds = {is_discrete(model.family(d.family)) for d in families}
    for branch in made.branches:
        if isinstance(branch, Point) and False in kinds:
            mistakes.note(
                "measure", branch.place, "a point mass beside a density",
                why=f"{families[0].family} is continuous: the two have no common measure",
                instead="point(c) is allowed beside discrete families, such as poisson",
                node=node.name,
            )  # fmt: skip
    if len(kinds) > 1:
        odd = next(d for d in families if is_discrete(model.family(d.family))
                   != is_discrete(model.family(families[0].family)))  # fmt: skip
        mistakes.note(
            "measure", odd.place, f"{odd.family} beside {families[0].family}",
            why="one counts, the other has a density: the two have no common measure",
            instead="choose between distributions of one kind", node=node.name,
        )  # fmt: skip


# Cycles -----------------------------------------------------------------------------------


def _cycles(model: Model, mistakes: Mistakes) -> None:
    """Note each circle of elements once, at the first of its nodes."""
    edges = _edges(model)
    state: dict[Element, int] = {}
    said: set[frozenset[int]] = set()
    for start in edges:
        if state.get(start):
            continue
        path: list[Element] = []
        stack = [(start, iter(edges[start]))]
        state[start] = 1
        path.append(start)
        while stack:
            at, rest = stack[-1]
            to = next(rest, None)
            if to is None:
                state[at] = 2
                path.pop()
                stack.pop()
            elif state.get(to) == 1:
                circle = path[path.index(to) :]
                nodes = list(dict.fromkeys(n for n, _ in circle))
                if frozenset(nodes) not in said:
                    said.add(frozenset(nodes))
                    _note_cycle(model, nodes, mistakes)
            elif not state.get(to) and to in edges:
                state[to] = 1
                path.append(to)
                stack.append((to, iter(edges[to])))


def _note_cycle(model: Model, nodes: list[int], mistakes: Mistakes) -> None:
    first = min(nodes)
    turned = nodes[nodes.index(first) :] + nodes[: nodes.index(first)]
    names = [model.nodes[n].name for n in turned]
    node = model.nodes[first]
    why, how = " ← ".join([*names, names[0]]), "one of them must not depend on the others"
    if len(names) == 1:
        earlier = [*node.letters[:-1], f"{node.letters[-1]}-1"] if node.letters else []
        why = "at the same element"
        how = f"refer to an earlier one: {node.names[0]}[{','.join(earlier)}]" if earlier else ""
    mistakes.note(
        "cycle", node.place, f"{node.name} depends on itself", why=why, instead=how,
        node=node.name,
    )  # fmt: skip


def _edges(model: Model) -> dict[Element, list[Element]]:
    """Every element (a few along each chain) → the elements that its statement refers to."""
    owner = {name: i for i, n in enumerate(model.nodes) for name in n.names}
    moving = _moving(model)
    last = min(MAX_ELEMENTS, 2 + max((m for m in moving.values()), default=0))
    along = [[x for x in n.letters if x in moving][:MAX_MOVING] for n in model.nodes]
    if max(map(len, along), default=0) > 2:
        last = min(last, 5)
    found: dict[Element, list[Element]] = {}
    for i, node in enumerate(model.nodes):
        for at in product(range(1, last + 1), repeat=len(along[i])):
            here = dict(zip(along[i], at, strict=True))
            statement = _statement(node, here)
            if statement is None:
                continue
            to: dict[Element, None] = {}
            for ref in refs(statement.made):
                if ref.name in owner:
                    other = owner[ref.name]
                    places = _places(ref, model.nodes[other], along[other], here, last)
                    to |= dict.fromkeys((other, p) for p in places)
            found[i, at] = list(to)
    return found


def _moving(model: Model) -> dict[str, int]:
    """Letters that are shifted or have literals somewhere, and how far."""
    found: dict[str, int] = {}
    for node in model.nodes:
        for s in node.statements:
            for letter, index in zip(node.letters, s.indices, strict=True):
                if isinstance(index, Literal):
                    found[letter] = max(found.get(letter, 1), index.value)
            for ref in refs(s.made):
                for i in ref.indices:
                    if isinstance(i, Letter) and i.shift:
                        found[i.name] = max(found.get(i.name, 1), -i.shift)
    return found


def _statement(node: Node, here: dict[str, int]) -> Statement | None:
    """The statement that makes an element."""
    general = None
    for s in node.statements:
        literal = [
            here.get(letter) == index.value
            for letter, index in zip(node.letters, s.indices, strict=True)
            if isinstance(index, Literal)
        ]
        if literal and all(literal):
            return s
        if not literal:
            general = s
    return general


def _places(
    ref: Ref, node: Node, along: list[str], here: dict[str, int], last: int
) -> list[tuple[int, ...]]:
    """The elements of a node that a reference may mean."""
    options: list[list[int]] = []
    for letter, index in zip(node.letters, ref.indices, strict=False):
        if letter in along:
            options.append(_options(index, here, last))
    return [p for p in product(*options) if all(1 <= x <= last for x in p)]


def _options(index: Index, here: dict[str, int], last: int) -> list[int]:
    match index:
        case Letter(name=name, shift=shift) if name in here:
            return [here[name] + shift]
        case Literal(value=value):
            return [value]
        case _:
            return list(range(1, last + 1))
