"""One entry point of a rule as equations with indices, the numbers of a step apart.

A rule that probes the loss has several (`blrgen.program.plan`).  Numbers are computed once a
step, before the body; `writes` are pairs (state, result), done when all is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.text import shown
from blrgen.program.expand import collected
from blrgen.program.program import Program, fresh
from blrgen.program.types import EACH, Type

WHOLE = (a.Red, a.Extent)  # numbers made of a whole array


@dataclass(frozen=True)
class Part:
    """Equations of one entry point; `rule` says what its quantities are."""

    rule: Program
    letters: tuple[a.Letter, ...]
    body: tuple[a.Let, ...]
    writes: tuple[tuple[str, str], ...] = ()
    numbers: tuple[a.Let, ...] = ()
    each: str = ""  # the axis of the entries of arrays of any shape

    @property
    def statements(self) -> tuple[a.Let, ...]:
        """All equations in their order."""
        return *self.numbers, *self.body

    @cached_property
    def sizes(self) -> dict[str, tuple[a.Size, ...]]:
        """The axes of every name; a number has none."""
        of = {x.name: x.size for x in self.letters}
        given = {v.name: axes(v.type, self.each) for v in self.rule.variables}
        return given | {s.name: tuple(of[x] for x in s.letters) for s in self.statements}

    @property
    def taken(self) -> set[str]:
        """Names that something has."""
        return {*self.sizes, *(x.name for x in self.letters), self.each}

    @property
    def body_reads(self) -> tuple[str, ...]:
        """What the body needs from outside it, its numbers included, in order of first use."""
        own = {s.name for s in self.body}
        found = [x for s in self.body for x in n.names(s.expr)]
        found += [local for _, local in self.writes]
        return tuple(dict.fromkeys(x for x in found if x not in own))

    @property
    def late(self) -> tuple[str, ...]:
        """Numbers of the body that are made of whole arrays, directly or through others."""
        found: dict[str, None] = {}
        for s in self.body:
            direct = any(isinstance(x, WHOLE) for x in n.walk(s.expr))
            if not s.letters and (direct or any(x in found for x in n.names(s.expr))):
                found[s.name] = None
        return tuple(found)

    @property
    def coupled(self) -> bool:
        """Whether some number is made of a whole array."""
        return any(is_whole(s) for s in self.body)

    def makes(self, name: str) -> bool:
        """Whether it is a result of the body."""
        return any(s.name == name for s in self.body)

    def own(self, name: str) -> tuple[str, ...]:
        """Letters for the axes of a name, one for each."""
        found: list[str] = []
        for size in self.sizes[name]:
            free = (x.name for x in self.letters if x.size == size and x.name not in found)
            found.append(next(free))
        return tuple(found)

    def ref(self, name: str) -> a.Ref:
        """The name at letters of its own."""
        return a.ref(name, *self.own(name))

    def mapped(self, change: Callable[[n.Node], n.Node]) -> Part:
        """The right-hand side of every equation of the body changed."""
        return replace(self, body=tuple(replace(s, expr=change(s.expr)) for s in self.body))

    def listed(self) -> str:
        """What is computed once, then by element, and what is written, line by line."""
        lines: list[str] = []
        for title, body in (("once", self.numbers), ("then", self.body)):
            if body:
                lines += [f"{title}:", *(shown(s, "    ") for s in body)]
        if self.writes:
            lines += ["write:", *(f"    {state} = {local}" for state, local in self.writes)]
        return "\n".join(lines)

    # -- what of it is emitted -------------------------------------------------------------
    def returning(self, outs: Collection[str]) -> a.Program:
        """What is computed, its numbers given; `outs` are handed out."""
        return self._program(self.body, outs, self.body_reads)

    def writing(self, arrays: Collection[str], outputs: Collection[str] = ()) -> a.Program:
        """What a pass over arrays does, its numbers given.

        What it writes to `arrays` is written at the end; `outputs` among them are never read
        and are handed out.
        """
        puts = [(x, y) for x, y in self.writes if x in arrays]
        names = {y: x for x, y in reversed(puts) if x in outputs and self.makes(y)}
        reads = [x for x in self.body_reads if x not in names.values()]
        reads += [x for x, _ in puts if x not in reads and x not in outputs]
        body = [replace(s, name=names.get(s.name, s.name), expr=a.renamed(s.expr, names))
                for s in self.body]  # fmt: skip
        made, writes, taken = {s.name for s in body}, [], set(self.sizes)
        for x, y in puts:
            own = x if x in outputs else names.get(y, y)
            if own not in made:  # a copy, of what is given or of what another output is
                own = x if x in outputs else fresh(f"{x}_next", taken | made)
                letters = self.own(x)
                body.append(a.Let(own, letters, a.ref(names.get(y, y), *letters)))
                made.add(own)
            writes += [] if x in outputs else [(x, own)]
        outs = tuple(x for x, _ in puts if x in outputs)
        return self._program(tuple(body), outs, reads, tuple(writes), every=True)

    def _program(
        self,
        body: tuple[a.Let, ...],
        outs: Collection[str],
        reads: Collection[str],
        writes: tuple[tuple[str, str], ...] = (),
        every: bool = False,
    ) -> a.Program:
        """A program of equations; it is given what it reads, of sizes an array that has them."""
        counted = {v.name for v in self.rule.of("size")}

        def change(e: n.Node) -> n.Node:
            return a.Extent(e.name) if isinstance(e, a.Ref) and e.name in counted else collected(e)

        definite = {x.args[0].name for s in body for x in n.walk(s.expr)
                    if isinstance(x, a.Lin) and x.op in ("chol", "solve")}  # fmt: skip
        lets = tuple(
            replace(s, expr=n.transform(s.expr, change),
                    structure="spd" if s.name in definite else s.structure)
            for s in body
        )  # fmt: skip
        read = {r.name for s in lets for r in a.refs(s.expr)} | set(outs)
        known = [x for x in reads if x not in counted and (every or x in read)]
        known += [] if every else self._counting(lets, known)
        given = tuple(self._quantity(x, definite) for x in known)
        made = {s.name for s in lets}
        return a.Program(self.letters, given, lets, tuple(x for x in outs if x in made), writes)

    def _counting(self, body: Collection[a.Let], known: Collection[str]) -> list[str]:
        """Arrays for sizes that stand in equations, where none that is read has them."""
        of = {x.name: str(x.size) for x in self.letters}
        nodes = [x for s in body for x in n.walk(s.expr)]
        counted = [x.axis for x in nodes if isinstance(x, a.Extent)]
        counted += [of[i.letter] for x in nodes if isinstance(x, a.Is)
                    for i in x.children[:1] if isinstance(i, a.Ix)]  # fmt: skip
        sizes, found = self.sizes, list[str]()
        held = (self.rule.parameter, *self.rule.of("state", "hyper"))
        for size in dict.fromkeys(counted):
            there = any(size in map(str, sizes[x]) for x in (*known, *found))
            if not (size.isdigit() or there):
                found.append(next(v.name for v in held if size in map(str, sizes[v.name])))
        return found

    def _quantity(self, name: str, definite: Collection[str]) -> a.Quantity:
        structure = structures(self.rule).get(name, "dense")
        return a.Quantity(name, self.sizes[name], "spd" if name in definite else structure)


def axes(kind: Type, each: str) -> tuple[a.Size, ...]:
    """The axes of a type: names, or how long they are."""
    return tuple(int(x) if x.isdigit() else each if x == EACH else x for x in kind.shape)


def next_of(part: Part) -> dict[str, str]:
    """Result → the state whose next value it is."""
    return {local: state for state, local in part.writes}


def structures(rule: Program) -> Mapping[str, str]:
    """What is known of the last two axes of the rule's quantities."""
    return {v.name: v.type.structure for v in rule.variables}


def is_whole(s: a.Let) -> bool:
    """Whether an equation is of a number that is made of a whole array."""
    return not s.letters and (
        isinstance(s.expr, a.Red) or any(isinstance(x, a.Extent) for x in n.walk(s.expr))
    )
