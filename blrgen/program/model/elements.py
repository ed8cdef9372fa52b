"""E[f(u)], r and s of a site whose predictor has elements u_k.

    m[n,k] = E[u_k],  C[n,k,l] = E[u_k u_l] − m[n,k] m[n,l],  C = L Lᵀ
    u[n,k,q] = m[n,k] + sum(l, L[n,k,l] z[q,l])
    E[f] = sum(q, w[q] f(u[n,:,q])),  E[∂_k f],  E[∂_k∂_l f]  likewise
    s = ½E[∂_k∂_l f],  r = E[∂_k f] − 2 sum(l, s[n,k,l] E[u_b,l]) of each block's part

z and w are those of a product of trapezoidal rules, or of points spread evenly where there are
too many elements for that.  Elements that are apart have a variance each, and no L.  A third
array, summed with f, is how much the rule of twice the step differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blrgen.algebra.indexed.values import Expression
from blrgen.expect.sites.values import Site
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader
from blrgen.program.model.names import Given
from blrgen.program.model.stable_sites import stable_at


@dataclass(frozen=True)
class Cloud:
    """Points in as many dimensions as an axis is long: their own axis, and three arrays."""

    elements: str  # the axis
    axis: str
    points: str
    weights: str
    wider: str


def cloud_of(given: Given, elements: str) -> Cloud:
    """Names that nothing of the model has."""
    own = (given.names.of(f"cloud_{elements}_{x}") for x in
           ("count", "points", "weights", "wider"))  # fmt: skip
    return Cloud(elements, *own)


class ByElements:
    """The equations of one site: `value`, `first` of each part, `second`, `error`."""

    def __init__(self, site: Site, eq: Equations, readers: dict[str, Reader], cloud: Cloud) -> None:
        self.site, self.eq, self.readers, self.cloud = site, eq, readers, cloud
        self.where: dict[str, str] = {}
        self.letters: tuple[str, ...] = ()
        for i in site.places:
            self.letters = (*self.letters, eq.letter(i.axis, i.name, self.letters))
            self.where[i.name] = self.letters[-1]
        inside = self.letters
        for i in site.inner:
            inside = (*inside, eq.letter(i.axis, i.name, inside))
            self.where[i.name] = inside[-1]
        self.inner = inside[len(self.letters) :]
        self.q = eq.letter(cloud.axis, "q", inside)
        self.made()

    def let(self, what: str, letters: tuple[str, ...], e: n.Node, structure: str = "dense") -> str:
        name = self.eq.own(f"{self.site.name}_{what}")
        self.eq.let(a.Let(name, letters, e, structure))
        return name

    def made(self) -> None:
        """All of them."""
        k = (*self.letters, self.inner[0])
        self.mean = self.let("mean", k, self.eq.expr(self.site.mean, self.where))
        line = self.lines(k)

        def reader(places: tuple[n.Node, ...]) -> n.Node:
            return a.Ref(line, (*map(a.Ix, self.letters), places[0], a.Ix(self.q)))

        at = (*self.letters, self.q)
        f = self.let("at", at, self.value(self.site.function, reader))
        self.value_name = self.let("value", self.letters, self.average(a.ref(f, *at)))
        slope = self.let("slope", k, self.average(self.value(self.site.slope, reader)))
        bend = self.average(self.value(self.site.bend, reader))
        both = (*self.letters, *self.inner)
        self.second = self.let("second", both, n.mul(n.HALF, bend))
        self.firsts = tuple(self.first(k, slope, e) for e in self.means())
        off = n.Call("abs", (self.average(a.ref(f, *at), self.cloud.wider),))
        scale = n.add(n.ONE, n.Call("abs", (a.ref(self.value_name, *self.letters),)))
        own = self.let("rest", self.letters, n.div(off, scale))
        self.error = own
        if self.letters:
            most = a.Red("max", self.letters, a.ref(own, *self.letters))
            self.error = self.let("error", (), most)

    def average(self, e: n.Node, weights: str = "") -> n.Node:
        return a.Red("sum", (self.q,), n.mul(a.ref(weights or self.cloud.weights, self.q), e))

    def value(self, e: Expression, reader: Callable[[tuple[n.Node, ...]], n.Node]) -> n.Node:
        """An expression in the predictor's elements at one point."""
        before = dict(self.readers)
        self.readers[self.site.variable.name] = reader
        found = self.eq.expr(e, {**self.where, "`q": self.q})  # no sum is over its letter
        self.readers.clear()
        self.readers.update(before)
        return stable_at(found)

    def lines(self, k: tuple[str, ...]) -> str:
        """The elements at all points."""
        square = self.eq.expr(self.site.square, self.where)
        mean = a.ref(self.mean, *k)
        if len(self.inner) == 1:
            apart = a.ref(self.let("square", k, n.Sub(square, n.Pow(mean, 2))), *k)
            spread = n.sqrt(n.Select(n.Compare(">", apart, n.ZERO), apart, n.ZERO))
            root = a.ref(self.let("spread", k, spread), *k)
            moved = n.mul(root, a.ref(self.cloud.points, self.q, self.inner[0]))
        else:
            other = (*self.letters, self.inner[1])
            both = (*self.letters, *self.inner)
            covariance = n.Sub(square, n.mul(mean, a.ref(self.mean, *other)))
            C = self.let("covariance", both, covariance, "spd")
            root_name = self.let("root", both, a.Lin("chol", (a.ref(C, *both),)), "lower")
            inside = n.mul(a.ref(root_name, *both), a.ref(self.cloud.points, self.q, both[-1]))
            moved = a.Red("sum", (both[-1],), inside)
        return self.let("line", (*k, self.q), n.add(mean, moved))

    def means(self) -> tuple[Expression | None, ...]:
        """E[u_b,k] of each part; None of the only one."""
        return (None,) if len(self.site.means) == 1 else self.site.means

    def first(self, k: tuple[str, ...], slope: str, e: Expression | None) -> str:
        """R of a part."""
        name = self.mean if e is None else self.let("part_mean", k, self.eq.expr(e, self.where))
        both = (*self.letters, *self.inner)
        last = (*self.letters, both[-1])
        bent = n.mul(n.TWO, a.ref(self.second, *both), a.ref(name, *last))
        if len(self.inner) == 2:
            bent = a.Red("sum", (both[-1],), bent)
        return self.let("first", k, n.Sub(a.ref(slope, *k), bent))
