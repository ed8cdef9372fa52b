"""Gaussians over all elements along an axis: w[j] of dot(w[:], X[n]), one precision matrix.

log q = h·w − ½ wᵀ P w − A with P[i,j] = −2 c_j δ_ij − (c_ij + c_ji), of the coefficients c_j of
w_j² and c_ij of w_i w_j:

    m = P⁻¹ h        V = P⁻¹        A = ½ h·m − ½ log |P| + ½ d log 2π
"""

from __future__ import annotations

from fractions import Fraction

from blrgen.algebra.indexed import Index
from blrgen.algebra.indexed.build import scaled
from blrgen.errors import UserError
from blrgen.expect.blocks.values import Part
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Reader
from blrgen.program.model.family import negated
from blrgen.program.model.member import Lowered, named
from blrgen.program.model.values import DEFINITE, REAL


class Dense(Lowered):
    """One node of numbers, its elements along one axis coupled."""

    @property
    def along(self) -> Index:
        """The letter of the axis."""
        return next(i for i in self.member.element if i.axis == self.member.block.axis)

    @property
    def elements(self) -> tuple[Index, ...]:
        return tuple(i for i in self.member.element if i != self.along)

    @property
    def pair(self) -> Part:
        """The statistic of two elements."""
        block = self.member.block
        found = [p for p in block.parts if len(p.statistic.positions) == 2]
        vector = len(self.member.statistics[0].places) > len(self.member.element)
        if len(found) != 1 or len(block.nodes) != 1 or vector:
            raise UserError(f"no programs yet for the block {block.name}: coupled elements of "
                            "several nodes, or vectors")  # fmt: skip
        return found[0]

    def let(self, stem: str, letters: tuple[str, ...], e: n.Node, kind: str = "dense") -> str:
        name = self.eq.own(stem)
        self.eq.let(a.Let(name, letters, e, kind))
        return name

    def opened(self) -> None:
        """Letters for an element, and for its place among those it is coupled with."""
        axis = self.along.axis
        self.outer = tuple(self.eq.letter(i.axis, i.name, ()) for i in self.elements)
        self.i = self.eq.letter(axis, "i", self.outer)
        self.j = self.eq.letter(axis, "j", (*self.outer, self.i))
        self.w = self.eq.letter(axis, "h", (*self.outer, self.i, self.j))

    # -- in a state -----------------------------------------------------------------------
    def kept_as(self) -> tuple[tuple[str, tuple[str, ...], str], ...]:
        self.opened()
        return ("h", (*self.outer, self.i), REAL), ("P", (*self.outer, self.i, self.j), DEFINITE)

    def independent(self, state: dict[str, tuple[str, ...]], stem: str) -> tuple[str, ...]:
        """Each element's own natural parameters, and nothing between them."""
        assert self.geometry is not None
        self.opened()
        own = self.natural_of_state(next(iter(state.values())), f"{stem}_own")
        turned = self.member.family.natural[1].symbol in negated(self.geometry)
        letters = (self.eq.letter(x.axis, x.name, ()) for x in self.member.element)
        swap = {x: a.Ix(self.i if e == self.along else x)
                for x, e in zip(letters, self.member.element, strict=True)}  # fmt: skip
        level, half = (a.swapped(a.ref(x, *swap), swap) for x in own)
        same = a.Is(a.Ix(self.i), a.Ix(self.j))
        square = n.mul(same, n.Const.of(2 if turned else -2), half)
        h = self.let(f"{stem}_h", (*self.outer, self.i), level)
        return h, self.let(f"{stem}_P", (*self.outer, self.i, self.j), square, "spd")

    def paired(self, natural: tuple[str, ...]) -> list[n.Node]:
        """h·E[w] − ½ P·E[wwᵀ]."""
        level, matrix = natural
        o, i, j = self.outer, self.i, self.j
        own = n.mul(a.ref(level, *o, i), a.ref(self.middle, *o, i))
        both = n.mul(n.HALF, a.ref(matrix, *o, i, j), a.ref(self.both, *o, i, j))
        return [a.Red("sum", (*o, i), own), n.neg(a.Red("sum", (*o, i, j), both))]

    # -- λ --------------------------------------------------------------------------------
    def natural(self, stem: str) -> tuple[str, ...]:
        """h and P."""
        pair, (first, second) = self.pair, self.member.statistics
        expected = {p.statistic: p.expected for p in self.member.block.parts}
        axis = self.along.axis
        self.opened()
        around = dict(zip((i.name for i in self.elements), self.outer, strict=True))
        row = {**around, self.along.name: self.i}
        level = self.let(f"{stem}_h", (*self.outer, self.i), self.eq.expr(expected[first], row))
        one, two = (i for i in pair.statistic.places if i.axis == axis)
        both = {i.name: x for i, x in zip(pair.statistic.places, self.outer, strict=False)
                if i.axis != axis}  # fmt: skip
        sides = [self.eq.expr(scaled(expected[pair.statistic], -1),
                              {**around, **both, one.name: x, two.name: y})
                 for x, y in ((self.i, self.j), (self.j, self.i))]  # fmt: skip
        own = self.eq.expr(scaled(expected[second], -2), row)
        same = a.Is(a.Ix(self.i), a.Ix(self.j))
        matrix = self.let(f"{stem}_P", (*self.outer, self.i, self.j),
                          n.add(n.mul(same, own), *sides), "spd")  # fmt: skip
        return level, matrix

    def forward(self, natural: tuple[str, ...], stem: str) -> None:
        """m, and A."""
        level, matrix = natural
        o, i, j = self.outer, self.i, self.j
        self.matrix = matrix
        solve = a.Lin("solve", (a.ref(matrix, *o, i, j), a.ref(level, *o, i)))
        self.middle = self.let(f"{stem}_m", (*o, i), solve)
        product = n.mul(a.ref(level, *o, i), a.ref(self.middle, *o, i))
        volume = self.let(f"{stem}_volume", o, a.Lin("logdet", (a.ref(matrix, *o, i, j),)))
        around = n.Call("log", (n.mul(n.Const.of(2), n.Named("pi")),))
        size = self.eq.letters[i].size
        count: n.Node = n.Const.of(size) if isinstance(size, int) else a.Extent(str(size))
        whole = n.add(a.Red("sum", (i,), product), n.neg(a.ref(volume, *o)), n.mul(count, around))
        self.total = self.let(f"{stem}_A", o, n.mul(n.HALF, whole))

    def readers(self, natural: tuple[str, ...], stem: str) -> dict[str, Reader]:
        self.forward(natural, stem)
        o, i, j = self.outer, self.i, self.j
        same = self.eq.once("same", a.Let("", (i, j), a.Is(a.Ix(i), a.Ix(j))))
        inverse = a.Lin("solve", (a.ref(self.matrix, *o, i, self.w), a.ref(same, i, j)))
        self.spread = self.let(f"{stem}_V", (*o, i, j), inverse, "spd")
        square = n.add(a.ref(self.spread, *o, i, j),
                       n.mul(a.ref(self.middle, *o, i), a.ref(self.middle, *o, j)))  # fmt: skip
        both = self.both = self.let(f"{stem}_both", (*o, i, j), square, "sym")
        self.variance = self.let(f"{stem}_v", (*o, i), a.Red("sum", (j,), n.mul(
            a.Is(a.Ix(i), a.Ix(j)), a.ref(self.spread, *o, i, j))))  # fmt: skip
        own = n.add(a.ref(self.variance, *o, i), n.Pow(a.ref(self.middle, *o, i), 2))
        second = self.let(f"{stem}_square", (*o, i), own)
        self.last = (self.middle, second)
        first, two = self.member.statistics
        return {first.name: named(self.middle), two.name: named(second),
                self.pair.statistic.name: named(both)}  # fmt: skip

    def sampled(self, stem: str, normals: str) -> str:
        """w = m + L⁻ᵀ ε, P = L Lᵀ, of standard normals ε; what goes forward has been written."""
        o, i, j = self.outer, self.i, self.j
        root = self.let(f"{stem}_root", (*o, i, j),
                        a.Lin("chol", (a.ref(self.matrix, *o, i, j),)), "lower")  # fmt: skip
        spread = a.Lin("ltsolve", (a.ref(root, *o, i, j), a.ref(normals, *o, i)))
        alone = self.let(f"{stem}_alone", (*o, i), spread)
        value = n.add(a.ref(self.middle, *o, i), a.ref(alone, *o, i))
        return self.let(f"{stem}_value", (*o, i), value)

    @property
    def places(self) -> tuple[str, ...]:
        """The letters of a draw."""
        return (*self.outer, self.i)

    # -- what follows ---------------------------------------------------------------------
    def partition(self, natural: tuple[str, ...], stem: str) -> str:
        return self.total

    def working(self, natural: tuple[str, ...], stem: str) -> tuple[str, ...]:
        """Of the marginals, by the family's chart."""
        assert self.geometry is not None
        t = (*self.outer, self.i)
        letters = tuple(self.eq.letter(x.axis, x.name, ()) for x in self.member.element)
        precision = n.div(n.ONE, a.ref(self.variance, *t))
        half = n.mul(n.Const(Fraction(1, 2)), precision)
        turned = self.member.family.natural[1].symbol in negated(self.geometry)
        parts = (n.mul(precision, a.ref(self.middle, *t)), half if turned else n.neg(half))
        swap = dict(zip(t, map(a.Ix, letters), strict=True))
        made = [self.let(f"{stem}_{k}", letters, a.swapped(e, swap))
                for k, e in enumerate(parts, 1)]  # fmt: skip
        return self.inline("working", self.named((made[0], made[1])), stem)
