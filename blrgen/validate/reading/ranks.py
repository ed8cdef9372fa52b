"""Elementwise rules: every rank, for every length or at lengths; every path against the rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.errors import UserError
from blrgen.limits import LENGTH as LARGEST
from blrgen.validate.reading import arguments
from blrgen.validate.reading.branches import paths
from blrgen.validate.reading.elementwise import Elementwise
from blrgen.validate.reading.graph import Node, reachable
from blrgen.validate.reading.machine import Bounds, Machine
from blrgen.validate.reading.reader import Reader
from blrgen.validate.reading.signals import NeedsSizes, PythonRaises, Refused, Unchecked
from blrgen.validate.reading.values import Array, Num, Whole

Shape = tuple[int, ...]
Entry = tuple[Node, int, Callable[[Node], Node]]  # a value, its place, names for conditions
LEAST = 5  # lengths that are read even if no constant meets one
RANKS = (1, 2, 0)
MOST_AXES = 6


@dataclass
class Shown:
    """What was proved, refuted or not compared of one rank."""

    rank: int
    proofs: dict[str, list[Proof]] = field(default_factory=dict)
    sizes: str = ""
    taken: bool = True
    raised: list[tuple[Proof, Machine]] = field(default_factory=list)  # of single numbers, apart

    @property
    def refuted(self) -> bool:
        """Whether something of it is."""
        return any(p.level == "refuted" for ps in self.proofs.values() for p in ps)

    def add(self, state: str, proof: Proof) -> None:
        self.proofs.setdefault(state, []).append(proof)


class Ranks(Reader):
    """What a reading does for elementwise rules."""

    axes: int = 0  # the largest number that a number of axes was compared with

    # elementwise rules ------------------------------------------------------------------------
    def ranks(self) -> list[Shown]:
        self.element = Elementwise(self.rule, self.graph, self.numbers)
        self.graph.elementwise = True
        found = [self._tried(r) for r in RANKS]
        self._for_arrays(found)
        rank = max(RANKS)
        while rank <= self.axes and not any(s.refuted for s in found):
            rank += 1
            if rank > MOST_AXES:
                raise Refused(f"a number of axes compared with more than {MOST_AXES - 1}", 1)
            found.append(self._tried(rank))
        return found

    def _for_arrays(self, found: list[Shown]) -> None:
        """Code for arrays may raise for single numbers on some ways: these it does not take."""
        arrays = any(s.taken for s in found if s.rank)
        for shown in found:
            if not shown.raised:
                continue
            if arrays and all(p.proved for ps in shown.proofs.values() for p in ps):
                shown.taken = False
                self.notes.add("single numbers, for which it raises on some ways, are not compared")
                continue
            for proof, mc in shown.raised:
                for n in self.matching.states:
                    shown.add(n, replace(proof, claim=f"{n}_next"))
                self.blame(proof, mc, None)

    def _tried(self, rank: int) -> Shown:
        """One rank; a construct without meaning leaves it, and only it, not compared."""
        try:
            return self._rank(rank)
        except Refused as error:
            shown = Shown(rank)
            for n, p in self.refused(error).proofs:
                shown.add(n, p)
            self.construct = self.construct or error
            return shown

    def _rank(self, rank: int) -> Shown:
        """One rank: for every length, else at sizes."""
        made = arguments.Elements(self.rule, self.graph, (1,) * rank, generic=True)
        shown, bounds = Shown(rank), Bounds()
        ambiguous = False
        try:
            found = self._paths(made, generic=True, bounds=bounds)
            self.axes = max(self.axes, bounds.axes)
            if rank:
                self._busy(found)
            ambiguous = any(p.machine.ambiguous for p in found)
            self._judge(shown, found, rank, lambda n, x: [(_only(x), 0, _same)])
        except NeedsSizes as error:
            self.axes = max(self.axes, bounds.axes)
            if rank > 2:
                what = f"{error.what} for arrays of {rank} axes"
                raise Refused(what, error.line) from None
            if rank > 1 and self._beyond(rank):
                shown.taken = False
                return shown
            return self._at_sizes(Shown(rank))
        except UserError as error:
            raise UserError(error.what, where=self.path, why=error.why, how=error.how) from error
        if rank and ambiguous:
            self._single(shown, rank)
        return shown

    def _beyond(self, rank: int) -> bool:
        """Whether compiled code reads beyond the end of arrays of this rank: it is not for them."""
        machine = self.machine(generic=False, decide=self.element.decide)
        machine.racing = True
        try:
            self.call(
                machine, arguments.Elements(self.rule, self.graph, (2,) * rank, generic=False)
            )
        except Unchecked as error:
            self.notes.add(
                f"line {error.line}: {error.what} for arrays of rank {rank}, which are not compared"
            )
            return True
        except (Refused, NeedsSizes, PythonRaises, UserError):
            return False
        return False

    def _busy(self, found: list[Any]) -> None:
        """Refuse a function that neither returns nor changes anything."""
        results = [p.result for p in found if p.raised is None]
        if results and all(r.idle for r in results):
            states = ", ".join(self.matching.states)
            raise UserError(
                f"{self.function} returns nothing and changes none of its arguments",
                where=self.path,
                how=f"return the next {states} or update the arrays in place",
            )

    def _paths(self, made: Any, *, generic: bool, bounds: Bounds) -> list[Any]:
        def start(given: list[bool]) -> Machine:
            return self.machine(
                generic=generic, given=given, bounds=bounds, decide=self.element.decide
            )

        return list(paths(start, lambda mc: self.call(mc, made)))

    def _single(self, shown: Shown, rank: int) -> None:
        """What is ambiguous for arrays has a meaning for arrays of one element."""
        try:
            one = self._one_size(Shown(rank), (1,) * rank, Bounds(), {})
        except NeedsSizes as error:
            raise Refused(error.what, error.line) from None
        if one.taken:
            for n, proofs in one.proofs.items():
                for p in proofs:
                    if not p.proved:
                        shown.add(n, p)
                        shown.taken = True

    def _judge(self, shown: Shown, found: list[Any], rank: int, entries: Any) -> None:
        """Every path against the rule; a rank on which Python always raises is not taken."""
        if all(p.raised is not None or (rank == 0 and p.result.nothing) for p in found):
            shown.taken = False
            return
        for path in found:
            mc = path.machine
            if path.raised is not None:
                proof = self.element.impossible(path.conditions, path.raised.what, path.raised.line)
                if proof is not None and rank == 0:
                    shown.raised.append((proof, mc))
                elif proof is not None:
                    for n in self.matching.states:
                        shown.add(n, replace(proof, claim=f"{n}_next"))
                    self.blame(proof, mc, None)
                continue
            self._values(shown, path, rank, entries)

    def _values(self, shown: Shown, path: Any, rank: int, entries: Any) -> None:
        result: arguments.Outcome = path.result
        mc = path.machine
        for n in self.matching.states:
            for x in [result.values[n], *([result.in_place[n]] if n in result.in_place else [])]:
                for node, i, own in self._entries(n, x, rank, entries):
                    effects = [own(e) for e in dict.fromkeys(mc.effects) if e.number is None]
                    effects = effects if n == self.matching.states[0] else []
                    conditions = [(own(c), v) for c, v in path.conditions]
                    proof = self.element.compare(n, node, conditions, effects, i)
                    if rank == 0 and proof.level == "refuted":
                        proof = replace(proof, detail=f"{proof.detail}, for single numbers")
                    shown.add(n, proof)
                    self.blame(proof, mc, result)
        self.manners(shown, result)

    def manners(self, shown: Shown, result: arguments.Outcome) -> None:
        """An input that is changed, memory that is shared: not compared, and named."""
        why = ""
        if result.inputs_changed:
            why = f"it changes its argument {', '.join(result.inputs_changed)} in place"
        why = why or result.shared
        if why:
            for n in self.matching.states:
                shown.add(n, Proof(NOT_COMPARED, f"{n}_next", why))

    def _entries(self, n: str, x: Any, rank: int, entries: Any) -> Iterable[Entry]:
        if isinstance(x, Num | Whole) and rank == 0:
            x = Array(
                np.array(
                    [self.graph.number(x.value) if isinstance(x, Whole) else x.node, None],
                    dtype=object,
                )[:1]
            )
            return [(x.data[0], 0, _same)]
        if (
            not isinstance(x, Array)
            or x.rank != rank
            or x.kind == "b"
            or x.axes not in (None, tuple(range(rank)))
        ):
            raise Refused(
                f"a new {n} that has not the shape of {n}", self.f.node.lineno if self.f else 0
            )
        return entries(n, x)  # type: ignore[no-any-return]

    def blame(self, proof: Proof, mc: Machine, result: Any) -> None:
        if proof.level == "refuted" and self.wrong is None:
            self.wrong = (mc, result)

    # at sizes ----------------------------------------------------------------------------------
    def _at_sizes(self, shown: Shown) -> Shown:
        """Lengths up to beyond every constant that one met."""
        bounds = Bounds()
        classes: dict[Any, int] = {}
        done = 0
        lengths: list[int] = []
        raising: list[Shape] = []
        limit = LEAST
        try:
            while done < limit and not shown.refuted:
                done += 1
                for shape in _shapes(shown.rank, done):
                    part = self._one_size(shown, shape, bounds, classes)
                    if not part.taken:
                        raising.append(shape)
                    elif done not in lengths:
                        lengths.append(done)
                limit = bounds.largest(LEAST)
                if limit > LARGEST:
                    what = f"a length that meets a constant beyond {LARGEST}"
                    raise Refused(what, self.f.node.lineno if self.f else 0)
        except NeedsSizes as error:
            raise Refused(error.what, error.line) from None
        shown.taken = bool(lengths)
        shown.sizes = f"lengths 1…{done}"
        if raising and lengths:
            self._partly(shown, raising, lengths)
        if (
            shown.taken
            and not shown.refuted
            and max(classes.values(), default=1) > max(1, done - 2)
        ):
            why = "how an element is computed depends on the length"
            for n in self.matching.states:
                shown.add(n, Proof(NOT_COMPARED, f"{n}_next", why))
        return shown

    def _partly(self, shown: Shown, raising: list[Shape], lengths: list[int]) -> None:
        """A rank with lengths on which Python raises is not taken; of vectors that is no proof.

        Code for vectors may run on matrices of one column, and code for numbers on one element.
        """
        wrong = [p for ps in shown.proofs.values() for p in ps if not p.proved]
        if shown.rank == 1 and lengths != [1]:
            why = f"Python raises for arrays of shape {raising[0]}, and not for all"
            for n in self.matching.states:
                shown.add(n, Proof(NOT_COMPARED, f"{n}_next", why))
        elif not wrong:
            shown.taken = False

    def _one_size(
        self, shown: Shown, shape: Shape, bounds: Bounds, classes: dict[Any, int]
    ) -> Shown:
        made = arguments.Elements(self.rule, self.graph, shape, generic=False)
        found = self._paths(made, generic=False, bounds=bounds)
        part = Shown(len(shape))

        def entries(n: str, x: Array) -> list[Entry]:
            if x.data.shape != shape:
                raise Refused(
                    f"a new {n} that has not the shape of {n}", self.f.node.lineno if self.f else 0
                )
            out = {}
            for index in np.ndindex(*shape):
                own = self.own(x.data.item(index), index)
                classes.setdefault((n, own.index), max(shape))
                out[own.index, index if several else ()] = (own, 0, self._named(index))
            return list(out.values())

        several = any(p.conditions or p.machine.effects for p in found)
        self.axes = max(self.axes, bounds.axes)
        self._judge(part, found, len(shape), entries)
        for n, proofs in part.proofs.items():
            for p in proofs:
                shown.add(n, p)
        shown.taken = part.taken
        shown.raised += part.raised
        return shown if part.taken else part

    def _named(self, index: Shape) -> Callable[[Node], Node]:
        return lambda n: self.own(n, index)

    def own(self, n: Node, index: Shape) -> Node:
        """A value with the symbols of its own element named as those that stand for all."""
        tag = "".join(f"_{i}" for i in index)
        arrays = {q.name for q in self.rule.quantities if self.element.elements.is_array(q)}
        own = {a + tag: a for a in arrays}
        memo: dict[int, Node] = {}
        for x in reachable([n]):
            if x.op == "symbol" and x.data in own:
                memo[x.index] = self.graph.symbol(own[x.data])
            elif x.args and any(memo[a.index] is not a for a in x.args):
                if x.op == "entry":
                    raise Refused("linear algebra in an elementwise rule", x.line)
                memo[x.index] = self.graph.make(x.op, [memo[a.index] for a in x.args], x.data)
            else:
                memo[x.index] = x
        return memo[n.index]

    # sums over components ------------------------------------------------------------------------
    def coupled(self) -> Shown:
        """Rules with sums over the components of a vector: at several lengths."""
        self.graph.elementwise = False
        shown = Shown(1, sizes="lengths 2…4")
        bounds = Bounds()
        for count in (2, 3, 4):
            self.element = Elementwise(self.rule, self.graph, self.numbers, count)
            made = arguments.Elements(self.rule, self.graph, (count,), generic=False)
            try:
                found = self._paths(made, generic=False, bounds=bounds)
            except NeedsSizes as error:
                raise Refused(error.what, error.line) from None

            def entries(n: str, x: Array, count: int = count) -> list[Entry]:
                if x.data.shape != (count,):
                    raise Refused(f"a new {n} that has not the shape of {n}")
                _no_hidden_counts(list(x.data))
                return [(x.data[i], i, _same) for i in range(count)]

            self._judge(shown, found, 1, entries)
        if bounds.largest(1) > 4:
            raise Refused("a length that meets a constant", self.f.node.lineno if self.f else 0)
        return shown


def _no_hidden_counts(nodes: list[Node]) -> None:
    """Refuse an order between numbers, which may be lengths in disguise."""
    for x in reachable(nodes):
        if x.op in ("max", "min", "abs", "sign", "lt", "le", "eq", "ne") and all(
            a.number is not None for a in x.args
        ):
            raise Refused("an order of numbers that may be lengths", x.line)


def _same(n: Node) -> Node:
    return n


def _only(x: Array) -> Node:
    return x.data.reshape(-1)[0]  # type: ignore[no-any-return]


def _shapes(rank: int, n: int) -> list[Shape]:
    """The shapes whose largest length is n."""
    if rank == 1:
        return [(n,)]
    few = {k for k in (1, 2, 3) if k <= n}
    if n <= 3:
        return [s for s in product(few, repeat=2) if max(s) == n]
    return [(n, 2), (2, n), (1, n), (n, 1)]
