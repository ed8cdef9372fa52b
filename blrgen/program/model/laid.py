"""How numbers of several nodes, lags or plates lie end to end, and their natural parameters.

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
from blrgen.program.model.expressions import Equations
from blrgen.program.model.family import negated
from blrgen.program.model.member import Lowered, Member
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


class Laid(Band):
    """How they lie, and natural parameters; `members` are its nodes'."""

    def __init__(
        self, eq: Equations, member: Member, members: tuple[Member, ...],
        shared: tuple[Index, ...] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(eq, member)
        self.members = members
        self.chained = member.block.kind == "banded"
        self.lags = max(member.block.lag, 1) if self.chained else 1
        self.shared = self.apart() if shared is None else shared
        self.pieces = tuple(map(self.piece, members))
        self.stack: Stack | None = None

    def apart(self) -> tuple[Index, ...]:
        """The plates that all nodes have and no pair couples: one Gaussian for each of these."""
        plates = [set(m.element) for m in self.members]
        moves = (x for p in self.member.block.parts for x in p.statistic.shifts)
        coupled = {letter for letter, shift in moves if shift is None}
        return tuple(i for i in self.members[0].element if all(i in x for x in plates)
                     and i.name not in coupled and not self.is_along(i))  # fmt: skip

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

    def indices(self, places: tuple[Index, ...]) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        for i in places:
            found = (*found, self.eq.letter(i.axis, i.name, found))
        return found

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
