"""Text → `Model`, or every mistake that can be found from the text alone, in its order."""

from __future__ import annotations

import re
from pathlib import Path

from blrgen.read.model import raw
from blrgen.read.model.declare import Declarer
from blrgen.read.model.domains import said_domain, support_domain
from blrgen.read.model.draws import Maker
from blrgen.read.model.expressions import Resolver
from blrgen.read.model.families import Families
from blrgen.read.model.graph import check_graph
from blrgen.read.model.groups import Group, targets
from blrgen.read.model.indices import Around
from blrgen.read.model.links import in_turn
from blrgen.read.model.mistakes import Broken, Mistake, Mistakes, ModelError
from blrgen.read.model.ranges import Finding, check_ranges
from blrgen.read.model.scope import Entry, Scope
from blrgen.read.model.settle import settle
from blrgen.read.model.syntax import read_syntax
from blrgen.read.model.values import (
    Const,
    Distribution,
    Domain,
    Expr,
    Letter,
    Literal,
    Model,
    Node,
    Place,
    Plate,
    Statement,
    draws,
)

_NAMED = re.compile(r"\s*(?:(?:plate|const|param|family)\s+)?\(?\s*([^\W\d]\w*)")


def read_model(text: str, name: str = "model", path: str = "") -> Model:
    """The model of a text; a `ModelError` with all mistakes where there are any."""
    model, mistakes, _ = examine(text, name, path)
    if mistakes or model is None:
        raise ModelError(path or name, mistakes)
    return model


def examine(
    text: str, name: str = "model", path: str = ""
) -> tuple[Model | None, tuple[Mistake, ...], tuple[Finding, ...]]:
    """The model where it could be built, the mistakes, and what could not be made sure."""
    mistakes = Mistakes()
    said = read_syntax(text, mistakes)
    scope = Scope(mistakes, Families(Path(path).parent if path else Path("."), mistakes))
    scope.failed = _failed(text, mistakes)
    building = Building(scope, said)
    model = building.model(name, path)
    findings: tuple[Finding, ...] = ()
    if model is not None:
        check_graph(model, scope, complete=not mistakes.found)
        findings = check_ranges(model, scope.sizes.settled(tuple(scope.partial)), mistakes)
    return model if not mistakes.found else None, mistakes.in_order(), findings


def _failed(text: str, mistakes: Mistakes) -> set[str]:
    """The names that broken statements begin with: they are not unknown."""
    rows = text.replace("\r\n", "\n").split("\n")
    found = set()
    for m in mistakes.found:
        for line in range(max(0, m.line - 5), m.line):
            if line < len(rows) and (match := _NAMED.match(rows[line])):
                found |= {match[1], *re.findall(r"[^\W\d]\w*", rows[line].split("~")[0])}
    return found


class Building:
    """A model while it is built: declarations, then expressions, then sizes."""

    def __init__(self, scope: Scope, said: list[raw.RawStatement]) -> None:
        self.scope, self.said, self.mistakes = scope, said, scope.mistakes
        self.declarer = Declarer(scope)
        self.made: dict[int, dict[int, Distribution | Expr]] = {}  # node → statement → what
        self.domains: dict[str, Domain] = {}
        self.defaults: dict[str, Expr] = {}
        self.failed = False

    def model(self, name: str, path: str) -> Model | None:
        """Everything resolved; None where nothing can be said of the whole."""
        self.declarer.declare(self.said)
        for said in self.said:
            self.mistakes.node = ""
            if isinstance(said, raw.RawPlate):
                self.attempt(lambda s=said: self.plate(s))
            elif isinstance(said, raw.RawConst | raw.RawParam):
                self.mistakes.node = said.target.name
                self.attempt(lambda s=said: self.given(s))
        for group, at in in_turn(self.declarer.groups, self.scope):
            self.mistakes.node = group.name
            self.attempt(lambda g=group, i=at: self.statement(g, i))
        self.mistakes.node = ""
        if not self.said:
            self.empty()
            return None
        built = Model(
            name, self.plates(), tuple(self.scope.size_names), self.constants(), self.nodes(),
            self.scope.families.used(), path,
        )  # fmt: skip
        return settle(built, self.scope)

    def empty(self) -> None:
        if not self.mistakes.found:
            self.mistakes.note(
                "nothing-observed", Place(1, 1), "the model is empty",
                instead="write a statement: x[n] ~ gaussian(0, 1) observed",
            )  # fmt: skip

    def attempt(self, do: object) -> None:
        try:
            do()  # type: ignore[operator]
        except Broken:
            self.failed = True

    def plate(self, said: raw.RawPlate) -> None:
        axis = self.scope.axes.get(said.letter)
        if axis is None or axis.said is not said or said.times is None:
            return
        around = Around(bound=(*axis.outer, said.letter), own=(f"the plate {said.letter}",))
        used = axis.used
        value = Resolver(self.scope, around).read(said.times)
        axis.used = used
        if value.shape:
            raise self.mistakes.broken(
                "size", value.place, "times takes a number for each element",
                instead=f"declare const c[{', '.join(around.bound)}] in integers >= 1",
            )  # fmt: skip
        axis.times = value

    def given(self, said: raw.RawConst | raw.RawParam) -> None:
        """The domain of a constant or param, and a constant's default."""
        entry = self.scope.entries.get(said.target.name)
        if entry is None or entry.place != said.place or entry.broken or entry.shape is None:
            return
        reader = Resolver(self.scope, Around(entry.letters, own=(entry.name,)))
        entry.domain = said_domain(reader, said.domain, entry.shape)
        if isinstance(said, raw.RawConst) and said.default is not None:
            value = reader.read(said.default)
            fits = self.scope.sizes.fit(value.shape, entry.shape)
            if not fits:
                self.mistakes.note(
                    "size", value.place,
                    f"the default of {entry.name} is {reader.words(value.shape)}, its domain has "
                    f"{reader.words(entry.shape)}",
                    instead="" if value.shape else "write c*ones(p), or zeros(p)",
                )  # fmt: skip
                return
            self.defaults[entry.name] = value

    def statement(self, group: Group, at: int) -> None:
        """One statement of a node."""
        said = group.statements[at]
        around = self.around(group, at)
        reader = Resolver(self.scope, around)
        if isinstance(said, raw.RawLink):
            value = reader.read(said.value)
            entry = group.entries[0]
            if entry.shape is None:
                entry.shape = value.shape
            elif not self.scope.sizes.fit(entry.shape, value.shape):
                reader.wrong("size", value.place, f"{group.name} is {reader.words(value.shape)} "
                             f"here, {reader.words(entry.shape)} elsewhere")  # fmt: skip
            self.made.setdefault(group.number, {})[at] = value
            return
        shapes = tuple(e.shape if e.shape is not None else () for e in group.entries)
        made = Maker(reader, shapes, group.kind == "latent").made(said.made)
        self.made.setdefault(group.number, {})[at] = made

    def around(self, group: Group, at: int) -> Around:
        indices = group.indices[at] if at < len(group.indices) else ()
        letters = tuple(x for x in indices if isinstance(x, str))
        first, literals = {}, {}
        if group.literal_axis >= 0 and group.letters:
            letter, here = group.letters[group.literal_axis], indices[group.literal_axis]
            if isinstance(here, int):
                literals[letter] = here
            else:
                first[letter] = group.first
        return Around(letters, first, group.names, self.need, literals)

    def need(self, entry: Entry, place: object) -> None:
        """A deterministic node whose shape is not known yet: said to be in a cycle elsewhere."""
        raise Broken(entry.name)

    # the values ---------------------------------------------------------------------------

    def plates(self) -> tuple[Plate, ...]:
        return tuple(
            Plate(a.letter, a.size, a.outer, a.times, a.said.place)
            for a in self.scope.axes.values()
        )

    def constants(self) -> tuple[Const, ...]:
        return tuple(
            Const(e.name, e.letters, e.domain, self.defaults.get(e.name), e.place)
            for e in self.scope.entries.values() if e.kind == "const" and e.domain is not None
        )  # fmt: skip

    def nodes(self) -> tuple[Node, ...]:
        found = [
            Node((e.name,), "param", e.letters, (e.domain,), place=e.place)
            for e in self.scope.entries.values() if e.kind == "param" and e.domain is not None
        ]  # fmt: skip
        found += [n for g in self.declarer.groups if (n := self.node(g)) is not None]
        return tuple(sorted(found, key=lambda n: n.place))

    def node(self, group: Group) -> Node | None:
        made = self.made.get(group.number, {})
        if group.broken or len(made) < len(group.statements):
            return None
        statements = tuple(self.values(group, at, made[at]) for at in range(len(group.statements)))
        return Node(
            group.names, group.kind, group.letters, self.node_domains(group, made[0]), statements,
            group.missing, place=targets(group.statements[0])[0].place,
        )  # fmt: skip

    def values(self, group: Group, at: int, made: Distribution | Expr) -> Statement:
        indices = tuple(Letter(x) if isinstance(x, str) else Literal(x) for x in group.indices[at])
        general = all(isinstance(x, str) for x in group.indices[at])
        first = group.first if general else 1
        without = tuple(x for x in group.literals if x > first) if general else ()
        return Statement(indices, made, first, without, group.statements[at].place)

    def node_domains(self, group: Group, made: Distribution | Expr) -> tuple[Domain, ...]:
        families = draws(made)
        if not families:
            assert not isinstance(made, tuple)
            shape = group.entries[0].shape or ()
            return (Domain("interval", shape, text="R"),)
        first = families[0]
        family = self.scope.families.read[first.family]
        assert family is not None
        values = {a.name: a.value for a in first.arguments}
        return tuple(support_domain(s, dict(first.sizes), values) for s in family.family.supports)
