"""Gaussians over several nodes, lags or plates at once: their numbers laid end to end.

    x[t] of p numbers, w[t]         s = (x_1, …, x_p, w) along one axis of p + 1 places
    lags up to 2                    two neighbours are one piece: s = (x_t, x_(t+1))
    b[j] for all j, and a           s = (b_1, …, b_J, a), one precision matrix

Each coefficient of a pair of statistics goes to its place: with G the sum of all of them, at
(s, s'), the precision is J = −(G + Gᵀ).  What couples a piece with the one before it is C.
Then a chain of pieces is eliminated as one of vectors is, and without a chain it is solved
once; a piece that reaches behind the end holds numbers of precision 1 that nothing reads.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.algebra.indexed import Index
from blrgen.errors import UserError
from blrgen.expect.blocks.values import Part, Statistic
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.bands import Band
from blrgen.program.model.expressions import Reader
from blrgen.program.model.family import negated
from blrgen.program.model.member import Lowered, Member, named
from blrgen.program.model.names import size_of
from blrgen.program.model.values import Stack, Tie

Nodes = tuple[n.Node, ...]


@dataclass(frozen=True)
class Piece:
    """A node of the block: where its numbers stand, and which of their axes are its own."""

    member: Member
    places: tuple[Index, ...]  # of E[x]: plates, then the axes of its value
    outer: tuple[Index, ...]
    along: Index | None

    @property
    def node(self) -> str:
        return self.member.block.nodes[0]

    @property
    def own(self) -> tuple[Index, ...]:
        """The places that are laid end to end."""
        return tuple(i for i in self.places if i not in self.outer and i != self.along)


@dataclass(frozen=True)
class Where:
    """A statistic's places: those of its first number, then of its second, as positions."""

    first: int  # which piece
    second: int
    lag: int
    ties: tuple[tuple[int, int, int], ...]  # (own axis of the first, of the second, shift)
    free: tuple[int, ...]  # own axes of the second that have a place of their own


class Stacked(Band):
    """A Gaussian block whose numbers are laid end to end; `members` are its nodes'."""

    def __init__(self, eq: object, member: Member, members: tuple[Member, ...]) -> None:
        super().__init__(eq, member)  # type: ignore[arg-type]
        self.members = members
        self.chained = member.block.kind == "banded"
        self.lags = max(member.block.lag, 1) if self.chained else 1
        plates = [set(m.element) for m in members]
        self.shared = tuple(i for i in members[0].element
                            if all(i in x for x in plates) and not self.is_along(i))  # fmt: skip
        self.pieces = tuple(map(self.piece, members))
        self.stack: Stack | None = None

    def is_along(self, i: Index) -> bool:
        return self.chained and i.axis == self.member.block.axis

    def piece(self, m: Member) -> Piece:
        along = next((i for i in m.element if self.is_along(i)), None)
        return Piece(m, m.statistics[0].places, self.shared, along)

    @property
    def elements(self) -> tuple[Index, ...]:
        """One Gaussian for each of these."""
        return self.shared

    # -- where everything goes -------------------------------------------------------------
    def where(self, part: Part) -> Where | None:
        """Where a quadratic statistic's coefficient goes; None of a linear one."""
        s = part.statistic
        k = self.number(s.nodes[0])
        if len(s.positions) == 2:
            return self.of_pair(s, k, self.number(s.nodes[-1]))
        if s.positions[0] == 0:
            return None
        count = len(self.pieces[k].own)
        extra = len(s.places) - len(self.pieces[k].places)
        tied = tuple((p, p, 0) for p in range(count - extra))
        return Where(k, k, 0, tied, tuple(range(count - extra, count)))

    def number(self, node: str) -> int:
        return next(k for k, p in enumerate(self.pieces) if p.node == node)

    def of_pair(self, s: Statistic, k: int, m: int) -> Where:
        """Ties are plates on which the second is as far from the first as `shifts` says."""
        first, second = self.pieces[k], self.pieces[m]
        shifts = dict(s.shifts)
        ties, free, lag = [], [], 0
        names = [i.name for i in first.own]
        for i in second.places:
            shift = shifts.get(i.name)
            if self.is_along(i):
                lag = -(shift or 0)
            elif i in second.own:
                q = second.own.index(i)
                if shift is None or i.name not in names:
                    free.append(q)
                else:
                    ties.append((names.index(i.name), q, shift))
        return Where(k, m, lag, tuple(ties), tuple(free))

    def laid(self, stem: str) -> Stack:
        """The axis and its arrays, as the constructor makes them."""
        along = self.axis_along
        if self.lags > 1 and along in self.eq.ragged:
            raise UserError(f"no programs yet for {self.member.block.name}: "
                            "lags over 1 in rows of different lengths")  # fmt: skip
        found = {w: None for w in map(self.where, self.member.block.parts) if w is not None}
        ties = tuple(Tie(w.first, w.second, w.lag, w.ties) for w in found)
        parts = tuple(tuple(size_of(i.axis) for i in p.own) for p in self.pieces)
        name = self.eq.own(f"{stem}_places")
        stack = Stack(name, parts, ties, along if self.lags > 1 else "", self.lags)
        self.eq.taken |= {x.name for x in stack.arrays}
        return stack

    @property
    def axis_along(self) -> str:
        return self.member.block.axis if self.chained else ""

    def at(self, k: int, back: int, t: Nodes, own: Nodes) -> n.Node:
        """The place on the stack of a number of piece k, `back` before the piece's last."""
        assert self.stack is not None
        name = self.stack.place(k, back if self.lags > 1 else 0)
        return a.At(a.Ref(name, (*(t if self.lags > 1 else ()), *(own or (a.Num(0),)))))

    # -- λ -----------------------------------------------------------------------------------
    def natural(self, stem: str) -> tuple[str, ...]:
        """h, J and C of the whole."""
        self.opened(self.stack or self.laid(stem))
        self.made = {p.statistic.name: self.array(p, stem) for p in self.member.block.parts}
        return self.placed(stem)

    def kept_as(self) -> tuple[tuple[str, tuple[str, ...], str], ...]:
        self.opened(self.stack or self.laid("_".join(self.member.block.nodes)))
        return self.of_front()

    def independent(self, state: dict[str, tuple[str, ...]], stem: str) -> tuple[str, ...]:
        """Each node's own natural parameters at their places, and nothing between them."""
        assert self.stack is not None
        self.opened(self.stack)
        self.made = {}
        for p in self.pieces:
            own = Lowered(self.eq, p.member)
            assert own.geometry is not None
            first, second = p.member.statistics
            one, two = own.natural_of_state(state[p.node], f"{stem}_{p.node}")
            if p.member.family.natural[1].symbol in negated(own.geometry):
                at = self.indices(second.places)
                two = self.let(f"{stem}_{p.node}_2", at, n.neg(a.ref(two, *at)))
            self.made |= {first.name: one, second.name: two}
        return self.placed(stem)

    def opened(self, stack: Stack) -> None:
        """Letters for everything that stands on the stack."""
        self.stack, self.outer = stack, ()
        for i in self.shared:
            self.outer = (*self.outer, self.eq.letter(i.axis, i.name, self.outer))
        self.t, self.front = "", self.outer
        if self.chained:
            self.element = self.eq.letter(self.axis_along, "t", self.outer)
            axis = self.stack.pieces if self.lags > 1 else self.axis_along
            self.t = self.eq.letter(axis, "t", self.outer)
            self.front = (*self.outer, self.t)
        self.i = (self.eq.letter(self.stack.name, "i", self.front),)
        self.j = (self.eq.letter(self.stack.name, "j", (*self.front, *self.i)),)
        self.third = (self.eq.letter(self.stack.name, "h", (*self.front, *self.i, *self.j)),)

    def placed(self, stem: str) -> tuple[str, ...]:
        """Every coefficient at its places."""
        i, j = self.i, self.j
        h = self.let(f"{stem}_h", (*self.front, *i), n.add(*self.linear()))
        inside = n.add(*self.quadratic(False))
        whole = self.let(f"{stem}_G", (*self.front, *i, *j), inside)
        turned = a.ref(whole, *self.front, *j, *i)
        precision = n.neg(n.add(a.ref(whole, *self.front, *i, *j), turned))
        if self.lags > 1 and self.stack is not None:  # behind the end
            gone = n.Sub(n.ONE, a.ref(self.stack.there, self.t, *i))
            precision = n.add(precision, n.mul(gone, a.Is(a.Ix(i[0]), a.Ix(j[0]))))
        matrix = self.let(f"{stem}_J", (*self.front, *i, *j), precision, "spd")
        if not self.chained:
            return h, matrix
        return h, matrix, self.let(f"{stem}_C", (*self.front, *i, *j),
                                   n.add(*self.quadratic(True)))  # fmt: skip

    def array(self, part: Part, stem: str) -> str:
        """A coefficient at its own places."""
        return self.eq.equation(self.eq.own(f"{stem}_c"), part.statistic.places,
                                part.expected).name  # fmt: skip

    def front_of(self, p: Piece, row: str) -> Nodes:
        """The places of a piece's plates: outer ones, and the element of the chain."""
        out: list[n.Node] = []
        for i in p.places:
            if i in self.shared:
                out.append(a.Ix(self.outer[self.shared.index(i)]))
            elif i == p.along:
                out.append(self.when(row))
            else:
                out.append(a.At(a.Ref(self.stack_own(p, i), (a.Ix(row),))))
        return tuple(out)

    def when(self, row: str) -> n.Node:
        """The element of the chain that a place of the piece belongs to."""
        assert self.stack is not None
        if self.lags == 1:
            return a.Ix(self.t)
        return a.At(a.ref(self.stack.when, self.t, row))

    def stack_own(self, p: Piece, i: Index) -> str:
        assert self.stack is not None
        return self.stack.own(self.pieces.index(p), p.own.index(i))

    def linear(self) -> list[n.Node]:
        """Coefficients of E[x] at the places of the stack."""
        found: list[n.Node] = []
        for k, p in enumerate(self.pieces):
            part = next(x for x in self.member.block.parts if x.statistic.nodes[0] == p.node
                        and x.statistic.positions == (0,))  # fmt: skip
            found.append(self.first_order(k, self.made[part.statistic.name]))
        return found

    def first_order(self, k: int, name: str) -> n.Node:
        """A coefficient of E[x] of node k, at the places of the stack."""
        assert self.stack is not None
        (i,) = self.i
        value = a.Ref(name, self.front_of(self.pieces[k], i))
        return n.mul(self.weight(self.stack.owner(k), i), value)

    def second_order(self, w: Where, name: str, tie: str) -> n.Node:
        """A coefficient of a pair, at two places of the stack."""
        (i,), (j,) = self.i, self.j
        first, second = self.pieces[w.first], self.pieces[w.second]
        own = [a.At(a.Ref(self.stack_own(second, second.own[q]), (a.Ix(j),))) for q in w.free]
        value = a.Ref(name, (*self.front_of(first, i), *own))
        return n.mul(self.weight(tie, i, j), value)

    def weight(self, name: str, *letters: str) -> n.Node:
        """1 where the places are those of the piece, and not behind the end of the chain."""
        assert self.stack is not None
        ones = [a.ref(name, *letters)]
        if self.lags > 1:
            ones += [a.ref(self.stack.there, self.t, x) for x in letters[:1]]
        return n.mul(*ones)

    def quadratic(self, across: bool) -> list[n.Node]:
        """Coefficients of all pairs at their two places: in a piece, or with the one before."""
        assert self.stack is not None
        found: list[n.Node] = []
        for part in self.member.block.parts:
            w = self.where(part)
            if part.statistic.name not in self.made:
                continue
            if w is None or (w.lag == 0 if across else w.lag >= self.lags):
                continue
            tie = self.stack.tie(Tie(w.first, w.second, w.lag, w.ties), across)
            found.append(self.second_order(w, self.made[part.statistic.name], tie))
        return found or [n.ZERO]

    # -- E[T] --------------------------------------------------------------------------------
    def readers(self, natural: tuple[str, ...], stem: str) -> dict[str, Reader]:
        if self.chained:
            self.forward(natural, stem)
            self.backward(stem)
            self.both = self.previous(f"{stem}_neighbours", self.joint, True)
            self.lagged = self.previous(f"{stem}_lagged", self.cross, True)
        else:
            self.solve(natural, stem)
        t, i, j = self.front, self.i, self.j
        square = n.add(a.ref(self.spread, *t, *i, *j),
                       n.mul(a.ref(self.middle, *t, *i), a.ref(self.middle, *t, *j)))  # fmt: skip
        self.square = self.let(f"{stem}_square", (*t, *i, *j), square, "sym")
        found = {}
        for part in self.member.block.parts:
            s, w = part.statistic, self.where(part)
            name = self.mean(s, stem) if w is None else self.second(s, w, stem)
            found[s.name] = named(name)
        self.pairs_of_nodes(stem)
        return found

    def kept(self, stem: str) -> None:
        """Pairs are kept node by node."""

    def there(self) -> n.Node:
        """0 behind the end of the chain."""
        if self.lags == 1 or self.stack is None:
            return n.ONE
        return a.ref(self.stack.there, self.t, *self.i)

    def count(self) -> n.Node:
        """How many numbers of a piece are those of the model."""
        if self.lags == 1:
            return super().count()
        assert self.stack is not None
        return a.Red("sum", self.i, a.ref(self.stack.there, self.t, *self.i))

    def solve(self, natural: tuple[str, ...], stem: str) -> None:
        """m = J⁻¹h, V = J⁻¹, A = ½ h·m − ½ log |J| + ½ d log 2π."""
        h, matrix = natural
        t, i, j, w = self.front, self.i, self.j, self.third
        same = self.eq.once("same", a.Let("", (*i, *j), a.Is(a.Ix(i[0]), a.Ix(j[0]))))
        self.middle, self.spread = self.eq.own(f"{stem}_m"), self.eq.own(f"{stem}_V")
        self.eq.let(self.solved(self.middle, matrix, h, t, i, j))
        solve = a.Lin("solve", (a.ref(matrix, *t, *i, *w), a.ref(same, *i, *j)))
        self.eq.let(a.Let(self.spread, (*t, *i, *j), solve, "spd"))
        volume = self.let(f"{stem}_volume", t, a.Lin("logdet", (a.ref(matrix, *t, *i, *j),)))
        square = a.Red("sum", i, n.mul(a.ref(h, *t, *i), a.ref(self.middle, *t, *i)))
        whole = n.add(square, n.neg(a.ref(volume, *t)), self.around())
        self.total = self.let(f"{stem}_A", t, n.mul(n.HALF, whole))

    def indices(self, places: tuple[Index, ...]) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        for i in places:
            found = (*found, self.eq.letter(i.axis, i.name, found))
        return found

    def mean(self, s: Statistic, stem: str) -> str:
        """E[x] at its own places."""
        k = self.number(s.nodes[0])
        letters = self.indices(s.places)
        front, own = self.split(k, letters)
        t = self.time(k, letters)
        value = a.Ref(self.middle, (*front, self.at(k, 0, t, own)))
        return self.let(f"{stem}_of", letters, value)

    def split(self, k: int, letters: tuple[str, ...]) -> tuple[Nodes, Nodes]:
        """The outer places with the piece of the chain, and the node's own."""
        p = self.pieces[k]
        by_place = dict(zip(p.places, letters, strict=False))
        outer: Nodes = tuple(a.Ix(by_place[i]) for i in self.shared)
        if p.along is not None:
            t = by_place[p.along]
            assert self.stack is not None
            outer = (*outer, a.At(a.ref(self.stack.piece, t)) if self.lags > 1 else a.Ix(t))
        return outer, tuple(a.Ix(by_place[i]) for i in p.own)

    def time(self, k: int, letters: tuple[str, ...]) -> Nodes:
        p = self.pieces[k]
        return tuple(a.Ix(x) for i, x in zip(p.places, letters, strict=False) if i == p.along)

    def second(self, s: Statistic, w: Where, stem: str) -> str:
        """E[x xᵀ] at its own places: in a piece, or with the one before."""
        letters = self.indices(s.places)
        front, own = self.split(w.first, letters)
        t = self.time(w.first, letters)
        count = len(self.pieces[w.first].places)
        rest = iter(letters[count:])
        ties = {q: (p, shift) for p, q, shift in w.ties}
        other: list[n.Node] = []
        for q in range(len(self.pieces[w.second].own)):
            if q in ties:
                p, shift = ties[q]
                if shift:
                    raise UserError(f"no programs yet for {self.member.block.name}: one Gaussian "
                                    "over all of a chain, with neighbours in it")  # fmt: skip
                other.append(own[p])
            else:
                other.append(a.Ix(next(rest)))
        one, two = self.at(w.first, 0, t, own), self.at(w.second, w.lag, t, tuple(other))
        return self.let(f"{stem}_both", letters, self.chosen(w.lag, t, (*front, one, two)))

    def chosen(
        self, lag: int, t: Nodes, index: Nodes, moments: tuple[str, str] = ("", "")
    ) -> n.Node:
        """An entry of the piece's own moments, or of those with the piece before."""
        inside, across = moments if moments[0] else (self.square, getattr(self, "both", ""))
        if lag == 0:
            return a.Ref(inside, index)
        if self.lags == 1:
            return a.Ref(across, index)
        assert self.stack is not None
        near = n.Compare(">", a.Ref(self.stack.near(lag), t), n.ZERO)
        return n.Select(near, a.Ref(inside, index), a.Ref(across, index))

    # -- what follows --------------------------------------------------------------------------
    def pairs_of_nodes(self, stem: str) -> None:
        """Cov(x[t], x[t+1]) of every node with itself, kept at the later of the two."""
        for k, p in enumerate(self.pieces):
            if p.along is None:
                continue
            letters = self.indices(p.places)
            front, own = self.split(k, letters)
            used = letters
            later: tuple[str, ...] = ()
            for i in p.own:
                later = (*later, self.eq.letter(i.axis, "j", (*used, *later)))
            t = self.time(k, letters)
            one = self.at(k, 1, t, own)
            two = self.at(k, 0, t, tuple(map(a.Ix, later)))
            value = self.chosen(1, t, (*front, two, one), (self.spread, self.lagged))
            self.pairs[p.node] = (self.let(f"{stem}_next", (*letters, *later), value),)

    def outcomes(self, natural: tuple[str, ...], stem: str) -> list[tuple[Member, tuple[str, ...]]]:
        """The working parameters of every node's marginals."""
        return [(p.member, self.marginal(k, p, stem)) for k, p in enumerate(self.pieces)]

    def marginal(self, k: int, p: Piece, stem: str) -> tuple[str, ...]:
        """q of one node's elements, by its family's chart."""
        first, second = p.member.statistics
        where = self.where(Part(second, p.member.block.parts[0].coefficient))
        assert where is not None
        letters = self.indices(first.places)
        whole = self.indices(second.places)
        front, own = self.split(k, letters)
        t = self.time(k, letters)
        one = self.at(k, 0, t, own)
        middle = self.let(f"{stem}_{p.node}_m", letters, a.Ref(self.middle, (*front, one)))
        lowered = Lowered(self.eq, p.member)
        assert lowered.geometry is not None
        turned = p.member.family.natural[1].symbol in negated(lowered.geometry)
        if len(whole) == len(letters):
            spread = a.Ref(self.spread, (*front, one, one))
            precision = self.let(f"{stem}_{p.node}_precision", letters, n.div(n.ONE, spread))
            product: n.Node = n.mul(a.ref(precision, *letters), a.ref(middle, *letters))
        else:
            precision = self.inverted(k, p, stem, whole)
            (j,) = whole[len(letters) :]
            swap = a.swapped(a.ref(middle, *letters), {letters[-1]: a.Ix(j)})
            product = a.Red("sum", (j,), n.mul(a.ref(precision, *whole), swap))
        one_name = self.let(f"{stem}_{p.node}_1", letters, product)
        half = n.mul(n.HALF, a.ref(precision, *whole))
        kind = "dense" if len(whole) == len(letters) else "spd" if turned else "sym"
        two_name = self.let(f"{stem}_{p.node}_2", whole, half if turned else n.neg(half), kind)
        return lowered.inline("working", lowered.named((one_name, two_name)), f"{stem}_{p.node}")

    def inverted(self, k: int, p: Piece, stem: str, whole: tuple[str, ...]) -> str:
        """The precision of a marginal of vectors."""
        *letters, i, j = whole
        front, own = self.split(k, (*letters, i))
        t = self.time(k, (*letters, i))
        two = self.at(k, 0, t, (*own[:-1], a.Ix(j)))
        entry = a.Ref(self.spread, (*front, self.at(k, 0, t, own), two))
        spread = self.let(f"{stem}_{p.node}_V", whole, entry, "spd")
        axis = str(self.eq.letters[i].size)
        third = self.eq.letter(axis, "h", whole)
        same = self.eq.once("same", a.Let("", (i, j), a.Is(a.Ix(i), a.Ix(j))))
        solve = a.Lin("solve", (a.ref(spread, *letters, i, third), a.ref(same, i, j)))
        return self.let(f"{stem}_{p.node}_precision", whole, solve, "spd")
