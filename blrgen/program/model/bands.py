"""Gaussian chains: elimination forward, substitution backward.

log q = Σ_t h_t·x_t − ½ x_tᵀ J_t x_t + Σ_{t>1} x_tᵀ C_t x_{t−1} − A: the coefficients of the
divided log joint.  With K_t = J̃_t⁻¹ C_{t+1}ᵀ, x_t is integrated out into what follows:

    J̃_t = J_t − C_t K_{t−1}        h̃_t = h_t + C_t g_{t−1}        g_t = J̃_t⁻¹ h̃_t
    A = Σ_t ½ h̃_t·g_t − ½ log |J̃_t| + ½ d log 2π
    m_t = g_t + K_t m_{t+1}        V_t = J̃_t⁻¹ + K_t V_{t+1} K_tᵀ
    Cov(x_t, x_{t+1}) = K_t V_{t+1}

From the last on: m = g, V = J̃⁻¹.
"""

from __future__ import annotations

from fractions import Fraction

from blrgen.algebra.indexed import Expression, Index
from blrgen.algebra.indexed.build import scaled
from blrgen.expect.blocks.values import Statistic
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Reader
from blrgen.program.model.family import negated
from blrgen.program.model.member import Lowered, named, symmetrised
from blrgen.program.model.values import DEFINITE, REAL

Letters = tuple[str, ...]


class Band(Lowered):
    """A chain of one Gaussian node with lag 1, its elements numbers or vectors."""

    def letters(self) -> None:
        """Letters of everything."""
        along = next(i for i in self.member.element if i.axis == self.member.block.axis)
        places = {i: self.eq.letter(i.axis, i.name, ()) for i in self.member.element}
        self.t = places[along]
        self.outer = tuple(places[i] for i in self.member.element if i != along)
        self.i: Letters = ()
        self.j: Letters = ()
        self.third: Letters = ()
        for x in self.member.statistics[0].places[len(self.member.element) :]:
            used = (*self.outer, self.t)
            self.i = (self.eq.letter(x.axis, "i", used),)
            self.j = (self.eq.letter(x.axis, "j", (*used, *self.i)),)
            self.third = (self.eq.letter(x.axis, "h", (*used, *self.i, *self.j)),)
        self.front = (*self.outer, self.t)

    def natural(self, stem: str) -> tuple[str, ...]:
        """h, J, C."""
        self.letters()
        expected = {p.statistic: p.expected for p in self.member.block.parts}
        first, second = self.member.statistics
        h = self.coefficient(f"{stem}_h", first.places, expected[first], self.i)
        e = scaled(expected[second], -2)
        if self.i:
            e = symmetrised(e, second.places[-2], second.places[-1])
        kind = "spd" if self.i else "dense"
        matrix = self.coefficient(f"{stem}_J", second.places, e, (*self.i, *self.j), kind)
        pair = self.pair
        joined = self.coefficient(f"{stem}_C", pair.places, expected[pair], (*self.i, *self.j))
        return h, matrix, joined

    @property
    def pair(self) -> Statistic:
        """The statistic of neighbours."""
        found = (p.statistic for p in self.member.block.parts)
        return next(s for s in found if len(s.positions) == 2)

    # -- in a state -------------------------------------------------------------------------
    def kept_as(self) -> tuple[tuple[str, Letters, str], ...]:
        self.letters()
        return self.of_front()

    def of_front(self) -> tuple[tuple[str, Letters, str], ...]:
        """h, J and, along a chain, C."""
        both = (*self.front, *self.i, *self.j)
        found = (("h", (*self.front, *self.i), REAL), ("J", both, DEFINITE if self.i else REAL))
        return (*found, ("C", both, REAL)) if self.t else found

    def independent(self, state: dict[str, tuple[str, ...]], stem: str) -> tuple[str, ...]:
        """Each element's own natural parameters, and nothing between them."""
        self.letters()
        h, half = self.natural_of_state(next(iter(state.values())), f"{stem}_own")
        assert self.geometry is not None
        turned = self.member.family.natural[1].symbol in negated(self.geometry)
        at = (*self.front, *self.i, *self.j)
        value = n.mul(n.Const.of(2 if turned else -2), a.ref(half, *at))
        matrix = self.let(f"{stem}_J", at, value, "spd" if self.i else "dense")
        return h, matrix, self.let(f"{stem}_C", at, n.ZERO)

    def paired(self, natural: tuple[str, ...]) -> list[n.Node]:
        """h·E[x] − ½ J·E[xxᵀ] + C·E[x_t x_(t−1)ᵀ]."""
        t, i, j = self.front, self.i, self.j

        def total(letters: Letters, *factors: n.Node) -> n.Node:
            return a.Red("sum", letters, n.mul(*factors)) if letters else n.mul(*factors)

        h, matrix, *joined = natural
        whole = (*t, *i, *j)
        moments = a.ref(self.square, *whole)
        square = total(whole, n.HALF, self.there(), a.ref(matrix, *whole), moments)
        out = [total((*t, *i), a.ref(h, *t, *i), a.ref(self.middle, *t, *i)), n.neg(square)]
        for name in joined:
            out.append(total(whole, a.ref(name, *whole), a.ref(self.both, *whole)))
        return out

    def there(self) -> n.Node:
        """1 at numbers of the model."""
        return n.ONE

    @property
    def elements(self) -> tuple[Index, ...]:
        return tuple(i for i in self.member.element if i.axis != self.member.block.axis)

    def coefficient(
        self, stem: str, places: tuple[Index, ...], e: Expression, own: Letters,
        structure: str = "dense",
    ) -> str:  # fmt: skip
        """An array of all elements' coefficients."""
        name = self.eq.own(stem)
        count = len(places) - len(own)
        element = {i.name: self.eq.letter(i.axis, i.name, ()) for i in places[:count]}
        where = element | dict(zip((i.name for i in places[count:]), own, strict=True))
        letters = (*element.values(), *own)
        self.eq.let(a.Let(name, letters, self.eq.expr(e, where), structure))
        return name

    # -- forward and backward -------------------------------------------------------------
    def readers(self, natural: tuple[str, ...], stem: str) -> dict[str, Reader]:
        self.forward(natural, stem)
        self.backward(stem)
        t, i, j = self.front, self.i, self.j
        square = n.add(a.ref(self.spread, *t, *i, *j),
                       n.mul(a.ref(self.middle, *t, *i), a.ref(self.middle, *t, *j)))  # fmt: skip
        kind = "sym" if i else "dense"
        self.square = self.let(f"{stem}_square", (*t, *i, *j), square, kind)
        self.last = (self.middle, self.square)
        self.both = self.previous(f"{stem}_neighbours", self.joint, True)
        first, two = self.member.statistics
        return {first.name: named(self.middle), two.name: named(self.square),
                self.pair.name: named(self.both)}  # fmt: skip

    def let(self, stem: str, letters: Letters, e: n.Node, structure: str = "dense") -> str:
        name = self.eq.own(stem)
        self.eq.let(a.Let(name, letters, e, structure))
        return name

    def solved(self, name: str, matrix: str, right: str, t: Letters, i: Letters,
               j: Letters, w: Letters = ()) -> a.Let:  # fmt: skip
        """name = matrix⁻¹ right, at the letters i and w of the right side."""
        below, above = a.ref(matrix, *t, *i, *j), a.ref(right, *t, *i, *w)
        expr: n.Node = a.Lin("solve", (below, above)) if i else n.div(above, below)
        return a.Let(name, (*t, *i, *w), expr)

    def forward(self, natural: tuple[str, ...], stem: str) -> None:
        h, matrix, joined = natural
        t, i, j, w = self.front, self.i, self.j, self.third
        before: tuple[n.Node, ...] = (*map(a.Ix, self.outer), a.Lag(self.t, -1))
        ahead = self.following(f"{stem}_ahead", joined)
        names = ("left", "right", "gain", "shift", "inverse", "volume")
        left, right, gain, shift, inverse, volume = (self.eq.own(f"{stem}_{x}") for x in names)
        same = self.eq.once("same", a.Let("", (*i, *j), a.Is(a.Ix(i[0]), a.Ix(j[0])))) if i else ""

        def total(e: n.Node) -> n.Node:
            return a.Red("sum", w, e) if w else e

        here = a.ref(joined, *t, *i, *w)
        less = total(n.mul(here, a.Ref(gain, (*before, *map(a.Ix, (*w, *j))))))
        more = total(n.mul(here, a.Ref(shift, (*before, *map(a.Ix, w)))))
        own, level = a.ref(matrix, *t, *i, *j), a.ref(h, *t, *i)
        inverted = (
            a.Let(inverse, (*t, *i, *j),
                  a.Lin("solve", (a.ref(left, *t, *i, *w), a.ref(same, *i, *j))), "spd")
            if i else a.Let(inverse, t, n.div(n.ONE, a.ref(left, *t)))
        )  # fmt: skip
        size = (a.Lin("logdet", (a.ref(left, *t, *i, *j),)) if i
                else n.Call("log", (a.ref(left, *t),)))  # fmt: skip
        body = (
            a.Let(left, (*t, *i, *j), n.Sub(own, less), "spd" if i else "dense", first=own),
            a.Let(right, (*t, *i), n.add(level, more), first=level),
            self.solved(gain, left, ahead, t, i, w, j),
            self.solved(shift, left, right, t, i, j),
            inverted,
            a.Let(volume, t, size),
        )
        self.recurrence(self.t, body)
        self.left, self.gain, self.shift, self.inverse = left, gain, shift, inverse
        pieces = n.mul(a.ref(right, *t, *i), a.ref(shift, *t, *i))
        square = a.Red("sum", (self.t, *i), pieces)
        volumes = a.Red("sum", (self.t,), n.Sub(a.ref(volume, *t), self.around()))
        self.total = self.let(f"{stem}_A", self.outer, n.mul(n.HALF, n.Sub(square, volumes)))

    def around(self) -> n.Node:
        """d log 2π of one element."""
        return n.mul(self.count(), n.Call("log", (n.mul(n.Const.of(2), n.Named("pi")),)))

    def count(self) -> n.Node:
        """How many numbers an element has."""
        if not self.i:
            return n.ONE
        size = self.eq.letters[self.i[0]].size
        return n.Const.of(size) if isinstance(size, int) else a.Extent(size)

    def recurrence(self, letter: str, body: tuple[a.Let, ...]) -> None:
        """The equations along the chain, for each row that it is ragged under."""
        under = self.eq.letters[letter].under
        s = a.Seq(letter, body)
        self.eq.body.append(a.Seq(under, (s,)) if under else s)

    def sampled(self, stem: str, normals: str) -> str:
        """x_u = g_u + L_u⁻ᵀ ε_u + K_u x_{u+1}, of standard normals ε: a draw of the chain.

        What goes forward has been written.
        """
        u = self.eq.along(self.t, True)
        t, i, j, w = self.front, self.i, self.j, self.third
        noise = a.ref(normals, *t, *i)
        if i:
            root = self.let(f"{stem}_root", (*t, *i, *j),
                            a.Lin("chol", (a.ref(self.left, *t, *i, *j),)), "lower")  # fmt: skip
            spread: n.Node = a.Lin("ltsolve", (a.ref(root, *t, *i, *j), a.ref(normals, *t, *i)))
        else:
            spread = n.div(noise, n.sqrt(a.ref(self.left, *t)))
        alone = self.let(f"{stem}_alone", (*t, *i), spread)
        at = (*self.outer, u)
        level = n.add(a.ref(self.shift, *at, *i), a.ref(alone, *at, *i))
        value = self.eq.own(f"{stem}_value")
        later = a.Ref(value, (*map(a.Ix, self.outer), a.Lag(u, 1), *map(a.Ix, w)))
        product = n.mul(a.ref(self.gain, *at, *i, *w), later)
        come = n.add(level, a.Red("sum", w, product) if w else product)
        self.recurrence(u, (a.Let(value, (*at, *i), come, first=level),))
        return value

    @property
    def places(self) -> Letters:
        """The letters of a draw."""
        return (*self.front, *self.i)

    def backward(self, stem: str) -> None:
        """m, V, Cov of neighbours, E[x_u x_{u+1}ᵀ]."""
        u = self.eq.along(self.t, True)
        t, i, j, w = (*self.outer, u), self.i, self.j, self.third
        after: tuple[n.Node, ...] = (*map(a.Ix, self.outer), a.Lag(u, 1))
        names = ("m", "V", "cross", "joint")
        middle, spread, cross, joint = (self.eq.own(f"{stem}_{x}") for x in names)

        def total(e: n.Node) -> n.Node:
            return a.Red("sum", w, e) if w else e

        gain = a.ref(self.gain, *t, *i, *w)
        later = total(n.mul(gain, a.Ref(middle, (*after, *map(a.Ix, w)))))
        along = total(n.mul(gain, a.Ref(spread, (*after, *map(a.Ix, (*w, *j))))))
        wide = total(n.mul(a.ref(cross, *t, *i, *w), a.ref(self.gain, *t, *j, *w)))
        own, level = a.ref(self.inverse, *t, *i, *j), a.ref(self.shift, *t, *i)
        means = n.mul(a.ref(middle, *t, *i), a.Ref(middle, (*after, *map(a.Ix, j))))
        body = (
            a.Let(middle, (*t, *i), n.add(level, later), first=level),
            a.Let(cross, (*t, *i, *j), along, first=n.ZERO),
            a.Let(spread, (*t, *i, *j), n.add(own, wide), "spd" if i else "dense", first=own),
            a.Let(joint, (*t, *i, *j), n.add(a.ref(cross, *t, *i, *j), means), first=n.ZERO),
        )
        self.recurrence(u, body)
        self.middle, self.spread, self.cross, self.joint = middle, spread, cross, joint
        self.kept(stem)

    def kept(self, stem: str) -> None:
        """Cov(x[t], x[t+1]) at the later of the two."""
        name = self.previous(f"{stem}_lagged", self.cross, False)
        self.pairs = {self.member.block.name: (name,)}

    def following(self, stem: str, joined: str) -> str:
        """C_{t+1}ᵀ at t, 0 at the last."""
        u = self.eq.along(self.t, True)
        i, j = self.i, self.j
        later = a.Ref(joined, (*map(a.Ix, self.outer), a.Lag(u, 1), *map(a.Ix, (*j, *i))))
        name = self.eq.own(stem)
        made = a.Let(name, (*self.outer, u, *i, *j), later, first=n.ZERO)
        self.recurrence(u, (made,))
        return name

    def previous(self, stem: str, of: str, turned: bool) -> str:
        """An array of neighbours at the later of the two, 0 at the first."""
        i, j = self.i, self.j
        places = (*j, *i) if turned else (*i, *j)
        earlier = a.Ref(of, (*map(a.Ix, self.outer), a.Lag(self.t, -1), *map(a.Ix, places)))
        name = self.eq.own(stem)
        made = a.Let(name, (*self.front, *i, *j), earlier, first=n.ZERO)
        self.recurrence(self.t, (made,))
        return name

    # -- what follows ---------------------------------------------------------------------
    def partition(self, natural: tuple[str, ...], stem: str) -> str:
        return self.total

    def working(self, natural: tuple[str, ...], stem: str) -> tuple[str, ...]:
        """Of the marginals, by the family's chart."""
        t, i, j, w = self.front, self.i, self.j, self.third
        assert self.geometry is not None
        turned = self.member.family.natural[1].symbol in negated(self.geometry)
        if i:
            same = self.eq.once("same", a.Let("", (*i, *j), a.Is(a.Ix(i[0]), a.Ix(j[0]))))
            solve = a.Lin("solve", (a.ref(self.spread, *t, *i, *w), a.ref(same, *i, *j)))
            precision = self.let(f"{stem}_precision", (*t, *i, *j), solve, "spd")
        else:
            inverse = n.div(n.ONE, a.ref(self.spread, *t))
            precision = self.let(f"{stem}_precision", t, inverse)
        product = n.mul(a.ref(precision, *t, *i, *j), a.ref(self.middle, *t, *j))
        first = self.let(f"{stem}_1", (*t, *i), a.Red("sum", j, product) if j else product)
        half = n.mul(n.Const(Fraction(1, 2)), a.ref(precision, *t, *i, *j))
        second = self.let(f"{stem}_2", (*t, *i, *j), half if turned else n.neg(half),
                          "spd" if turned else "sym" if i else "dense")  # fmt: skip
        return self.inline("working", self.named((first, second)), stem)
