"""Gaussians over several nodes, lags or plates at once: what is known of them.

How their numbers lie is in `laid`.
"""

from __future__ import annotations

from blrgen.errors import UserError
from blrgen.expect.blocks.values import Part, Statistic
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Reader
from blrgen.program.model.family import negated
from blrgen.program.model.laid import Laid, Nodes, Piece, Where
from blrgen.program.model.member import Lowered, Member, named


class Stacked(Laid):
    """A Gaussian block whose numbers are laid end to end."""

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
