"""E[f] and r of a site whose predictor is one number x = g(t) of a family that is no Gaussian.

    log p(t) = Σ_j λ_j T_j(x) + log h(x) + log g′(t)
    t[q] = μ + σ sinh(s[q]),   p[q] = cosh(s[q]) p(t[q]) / sum(q, …)
    E[f] = sum(q, p[q] f(x[q])),   r = F⁻¹ c,   F = Cov[T, T],  c = Cov[T, f]

s[q] are equidistant, so that p falls like an exponential of an exponential and the rule
converges geometrically.  μ, σ are E[t] and the width of p there in a first pass, the mean and
the deviation of t by that pass in the second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blrgen.algebra.indexed.build import add, put, scaled, subtracted, symbol
from blrgen.algebra.indexed.calculus import partial
from blrgen.algebra.indexed.values import Expression
from blrgen.expect.sites.values import Line, Site
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader, named_reader
from blrgen.program.model.stable_sites import stable_at


@dataclass(frozen=True)
class Rule:
    """The axis of nodes, and the arrays sinh s, cosh s, cosh s by turns ±."""

    axis: str
    points: str
    weights: str
    signed: str


class ByNumber:
    """The equations of one site, and what is read of it from then on."""

    def __init__(
        self, site: Site, eq: Equations, readers: dict[str, Reader], rule: Rule,
        natural: Sequence[str],
    ) -> None:  # fmt: skip
        assert site.own is not None
        self.site, self.eq, self.readers, self.rule = site, eq, readers, rule
        self.own: Line = site.own
        self.natural = natural
        self.where: dict[str, str] = {}
        self.letters: tuple[str, ...] = ()
        for i in site.places:
            self.letters = (*self.letters, eq.letter(i.axis, i.name, self.letters))
            self.where[i.name] = self.letters[-1]
        self.element = tuple(self.where[i.name] for i in self.own.element)
        self.q = eq.letter(rule.axis, "q", self.letters)
        self.value = ""
        self.first: tuple[str, ...] = ()
        self.error = ""
        self.made()

    # -- small words -----------------------------------------------------------------------
    def let(self, what: str, letters: tuple[str, ...], e: n.Node) -> n.Node:
        name = self.eq.own(f"{self.site.name}_{what}")
        self.eq.let(a.Let(name, letters, e))
        return a.ref(name, *letters)

    def at(self, e: Expression, held: Mapping[str, n.Node]) -> n.Node:
        """An expression with t, or x, standing for a node."""
        before = dict(self.readers)
        self.readers.update({k: named_reader(x) for k, x in held.items()})
        found = self.eq.expr(e, self.where)
        self.readers.clear()
        self.readers.update(before)
        return stable_at(found)

    def total(self, e: n.Node) -> n.Node:
        return a.Red("sum", (self.q,), e)

    # -- q in t ----------------------------------------------------------------------------
    def in_t(self, e: Expression) -> Expression:
        """An expression in x as one in t."""
        names = [x for x in e.symbols() if x in self.site.nodes]
        return put(e, {x: lambda _: self.own.chart for x in names})

    def level(self, t: n.Node, times: int = 0) -> n.Node:
        """log p(t), or a derivative of it."""

        def turned(e: Expression) -> Expression:
            for _ in range(times):
                e = partial(e, self.own.variable.name, ())
            return e

        held = {self.own.variable.name: t}
        parts = [n.mul(a.ref(x, *self.element), self.at(turned(self.in_t(s)), held))
                 for x, s in zip(self.natural, self.own.statistics, strict=True)]  # fmt: skip
        rest = turned(add(self.own.base, self.own.jacobian))
        return n.add(*parts, self.at(rest, held))

    def begun(self) -> tuple[n.Node, n.Node]:
        """E[t], and the width of p there."""
        t = symbol(self.own.variable)
        combined = add(*(scaled(self.in_t(s), c) for s, c in
                         zip(self.own.statistics, self.own.combination, strict=True)))  # fmt: skip
        shift = subtracted(combined, t).number
        assert shift is not None
        means = [n.mul(n.Const(c), self.readers[x](tuple(map(a.Ix, self.element))))
                 for c, x in zip(self.own.combination, self.own.names, strict=True)
                 if c]  # fmt: skip
        centre = self.let("centre", self.element, n.Sub(n.add(*means), n.Const(shift)))
        bend = self.let("bend", self.element, n.neg(self.level(centre, 2)))
        safe = n.Select(n.Compare(">", bend, n.ZERO), bend, n.ONE)
        return centre, self.let("width", self.element, n.div(n.ONE, n.sqrt(safe)))

    def weighed(self, what: str, centre: n.Node, width: n.Node) -> tuple[n.Node, n.Node, n.Node]:
        """t[q], p[q] and p[q] by turns ±."""
        both = (*self.element, self.q)
        moved = n.add(centre, n.mul(width, a.ref(self.rule.points, self.q)))
        t = self.let(f"{what}_t", both, moved)
        level = self.let(f"{what}_level", both, self.level(t))
        top = self.let(f"{what}_top", self.element, a.Red("max", (self.q,), level))
        raw = self.let(f"{what}_raw", both, n.Call("exp", (n.Sub(level, top),)))
        weight = a.ref(self.rule.weights, self.q)
        whole = self.let(f"{what}_whole", self.element, self.total(n.mul(weight, raw)))
        p = self.let(f"{what}_p", both, n.div(n.mul(weight, raw), whole))
        turns = self.let(f"{what}_turns", both,
                         n.div(n.mul(a.ref(self.rule.signed, self.q), raw), whole))  # fmt: skip
        return t, p, turns

    # -- expectations ----------------------------------------------------------------------
    def made(self) -> None:
        t, p, _ = self.weighed("rough", *self.begun())
        centre = self.let("mean", self.element, self.total(n.mul(p, t)))
        spread = self.total(n.mul(p, n.Pow(n.Sub(t, centre), 2)))
        width = self.let("spread", self.element, n.sqrt(spread))
        t, p, turns = self.weighed("fine", centre, width)
        held = {self.own.variable.name: t}
        x = self.let("x", (*self.element, self.q), self.at(self.own.chart, held))
        inside = (*self.letters, self.q)
        f = self.let("f", inside, self.at(self.site.function, {self.site.variable.name: x}))
        value = self.let("value", self.letters, self.total(n.mul(p, f)))
        self.value = _name(value)
        gap = self.let("gap", inside, n.Sub(f, value))
        centred = [self.centred(k, s, p, held) for k, s in enumerate(self.own.statistics, 1)]
        right = [self.let(f"c{k}", self.letters, self.total(n.mul(p, x, gap)))
                 for k, x in enumerate(centred, 1)]  # fmt: skip
        pairs = [[n.mul(p, x, y) for y in centred] for x in centred]
        matrix = [[self.let("F", self.element, self.total(e)) for e in row] for row in pairs]
        self.first = tuple(_name(x) for x in self.solved(matrix, right))
        off = n.Call("abs", (self.total(n.mul(turns, gap)),))
        scale = n.add(n.ONE, n.Call("abs", (value,)))
        size = n.add(n.div(off, scale), n.Call("abs", (self.total(turns),)))
        own = self.let("rest", self.letters, size)
        self.error = _name(own) if not self.letters else _name(
            self.let("error", (), a.Red("max", self.letters, own)))  # fmt: skip

    def centred(self, k: int, s: Expression, p: n.Node, held: Mapping[str, n.Node]) -> n.Node:
        """T_j less its mean."""
        both = (*self.element, self.q)
        t = self.let(f"T{k}", both, self.at(self.in_t(s), held))
        mean = self.let(f"T{k}_mean", self.element, self.total(n.mul(p, t)))
        return self.let(f"T{k}_gap", both, n.Sub(t, mean))

    def solved(self, matrix: list[list[n.Node]], right: list[n.Node]) -> list[n.Node]:
        """F⁻¹ c by elimination; F is positive definite, so that no pivot is needed."""
        size = len(right)
        for k in range(size):
            for j in range(k + 1, size):
                share = self.let("share", self.element, n.div(matrix[j][k], matrix[k][k]))
                matrix[j] = [self.let("left", self.element, n.Sub(y, n.mul(share, x)))
                             for x, y in zip(matrix[k], matrix[j], strict=True)]  # fmt: skip
                right[j] = self.let("right", self.letters, n.Sub(right[j], n.mul(share, right[k])))
        found: list[n.Node] = []
        for k in reversed(range(size)):
            less = [n.mul(matrix[k][size - 1 - j], y) for j, y in enumerate(found)]
            top = n.Sub(right[k], n.add(*less)) if less else right[k]
            found.append(self.let(f"r{k + 1}", self.letters, n.div(top, matrix[k][k])))
        return list(reversed(found))


def _name(x: n.Node) -> str:
    assert isinstance(x, a.Ref)
    return x.name
