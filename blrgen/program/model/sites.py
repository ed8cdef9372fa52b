"""Sites of a log joint: E[f(u)], r and s at q as it stands.

    m[n] = E[u],  v[n] = E[u²] − m²
    u[n,q] = m[n] + √v[n] z[q]
    E[f] = sum(q, w[q] f(u[n,q])),  E[f'],  E[f'']  likewise
    s = ½E[f''],  r = E[f'] − E[f'']E[u_b] of each block's part

z and w are those of the trapezoidal rule for N(0, 1), which converges geometrically for a
function without a singularity near the line.  Σ_q (−1)^q w f'' is how much the rule of twice
the step differs, and says how far z[q] must be from z[q+1].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from blrgen.algebra.indexed.values import Expression, Symbol
from blrgen.expect.sites.closed import centre, spread
from blrgen.expect.sites.values import Site
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.elements import ByElements, Cloud
from blrgen.program.model.expressions import Equations, Reader, named_reader
from blrgen.program.model.member import named
from blrgen.program.model.names import Given
from blrgen.program.model.numbers import ByNumber, Rule
from blrgen.program.model.stable_sites import stable_at
from blrgen.program.model.stochastic import RATE

Where = dict[str, str]


@dataclass(frozen=True)
class Nodes:
    """The rule's arrays, over an axis of their own; `signed` are its weights by turns ±."""

    axis: str
    points: str
    weights: str
    signed: str
    wide: tuple[str, str, str]  # sinh s, cosh s, and cosh s by turns ±

    @property
    def arrays(self) -> tuple[str, ...]:
        return (self.points, self.weights, self.signed, *self.wide)

    @property
    def rule(self) -> Rule:
        """The rule for one number on the whole line."""
        return Rule(self.axis, *self.wide)


def nodes_of(given: Given) -> Nodes:
    """Names that nothing of the model has."""
    count, *own = (given.names.of(f"node_{x}") for x in
                   ("count", "points", "weights", "signed", "far", "stretch", "turns"))  # fmt: skip
    return Nodes(count, own[0], own[1], own[2], (own[3], own[4], own[5]))


class Evaluated:
    """The equations of one site, and what is read of it from then on."""

    def __init__(
        self, site: Site, eq: Equations, readers: dict[str, Reader], nodes: Nodes,
        kept: tuple[str, ...] = (), natural: Sequence[str] = (), cloud: Cloud | None = None,
    ) -> None:  # fmt: skip
        self.site, self.eq, self.readers, self.nodes = site, eq, readers, nodes
        self.kept = kept  # arrays of r and s as they were, to be averaged with
        self.next: tuple[str, ...] = ()
        self.error = ""  # how far the rule is from one of half as many points
        self.where: Where = {}
        self.letters: tuple[str, ...] = ()
        for i in site.places:
            self.letters = (*self.letters, eq.letter(i.axis, i.name, self.letters))
            self.where[i.name] = self.letters[-1]
        if cloud is not None:
            found = ByElements(site, eq, readers, cloud)
            self.error = found.error
            self.read(found.value_name, (*found.firsts, found.second))
            return
        if site.own is not None:
            self.by_number(natural)
            return
        self.mean = self.let("mean", eq.expr(site.mean, self.where))
        square = self.let("square", eq.expr(site.square, self.where))
        apart = n.Sub(self.at(square), n.Pow(self.at(self.mean), 2))
        inside = n.Select(n.Compare(">", apart, n.ZERO), apart, n.ZERO)
        self.variance = self.let("variance", inside)
        (self.by_quadrature if site.average is None else self.in_closed_form)()

    def let(self, what: str, e: n.Node) -> str:
        name = self.eq.own(f"{self.site.name}_{what}")
        self.eq.let(a.Let(name, self.letters, e))
        return name

    def at(self, name: str) -> n.Node:
        return a.ref(name, *self.letters)

    def value(self, e: Expression, held: Mapping[str, n.Node]) -> n.Node:
        """An expression with some symbols standing for numbers at this site's letters."""
        before = dict(self.readers)
        for name, node in held.items():
            self.readers[name] = named_reader(node)
        found = self.eq.expr(e, self.where)
        self.readers.clear()
        self.readers.update(before)
        return stable_at(found)

    def in_closed_form(self) -> None:
        site = self.site
        assert site.average is not None
        m, v = self.at(self.mean), self.at(self.variance)
        held = {centre(site.variable).name: m, spread(site.variable).name: v}
        value = self.let("value", self.value(site.average, held))
        slope = self.let("slope", self.value(site.slope, held))
        second = self.let("second", self.value(site.bend, held))
        self.known(value, slope, second)

    def by_quadrature(self) -> None:
        """Sums over the nodes of one row."""
        site, nodes = self.site, self.nodes
        q = self.eq.letter(nodes.axis, "q", self.letters)
        line = self.eq.own(f"{site.name}_line")
        m, v = self.at(self.mean), self.at(self.variance)
        moved = n.add(m, n.mul(n.sqrt(v), a.ref(nodes.points, q)))
        self.eq.let(a.Let(line, (*self.letters, q), moved))
        held = {site.variable.name: a.ref(line, *self.letters, q)}

        def average(e: n.Node, weights: str = nodes.weights) -> n.Node:
            return a.Red("sum", (q,), n.mul(a.ref(weights, q), e))

        bent = self.eq.own(f"{site.name}_bend")  # for two sums
        self.eq.let(a.Let(bent, (*self.letters, q), self.value(site.bend, held)))
        bend = a.ref(bent, *self.letters, q)
        value = self.let("value", average(self.value(site.function, held)))
        slope = self.let("slope", average(self.value(site.slope, held)))
        second = self.let("second", n.mul(n.HALF, average(bend)))
        twice = n.Call("abs", (n.mul(v, average(bend, nodes.signed)),))
        # by the slope, which every block needs; the value is needed for the objective alone
        scale = n.add(n.ONE, n.Call("abs", (self.at(slope),)))
        own = self.let("rest", n.div(twice, scale))
        self.error = own if not self.letters else self.eq.own(f"{site.name}_error")
        if self.letters:
            self.eq.let(a.Let(self.error, (), a.Red("max", self.letters, self.at(own))))
        self.known(value, slope, second)

    def by_number(self, natural: Sequence[str]) -> None:
        """One number of a family that is no Gaussian."""
        found = ByNumber(self.site, self.eq, self.readers, self.nodes.rule, natural)
        self.error = found.error
        self.read(found.value, found.first)

    def known(self, value: str, slope: str, second: str) -> None:
        """r of each part and s, from E[f'] and ½E[f'']."""
        site = self.site
        means = [self.mean] if len(site.means) == 1 else [
            self.let("part_mean", self.eq.expr(e, self.where)) for e in site.means]  # fmt: skip
        twice = n.mul(n.TWO, self.at(second))
        firsts = [self.let("first", n.Sub(self.at(slope), n.mul(self.at(m), twice))) for m in means]
        self.read(value, (*firsts, second))

    def read(self, value: str, found: tuple[str, ...]) -> None:
        """What the updates read."""
        if self.kept:
            rate = a.ref(RATE)
            found = self.next = tuple(
                self.blended(s, was, new, rate)
                for s, was, new in zip(self.site.symbols, self.kept, found, strict=True)
            )
        self.readers[self.site.expected.name] = named(value)
        for symbol, name in zip(self.site.symbols, found, strict=True):
            self.readers[symbol.name] = named(name)

    def blended(self, s: Symbol, was: str, new: str, rate: n.Node) -> str:
        """A part ρ of the way, at all letters of r or s."""
        at = self.letters
        for i in self.site.letters_of(s)[len(at) :]:
            at = (*at, self.eq.letter(i.axis, i.name, at))
        name = self.eq.own(f"{self.site.name}_part")
        stays = n.mul(n.Sub(n.ONE, rate), a.ref(was, *at))
        self.eq.let(a.Let(name, at, n.add(stays, n.mul(rate, a.ref(new, *at)))))
        return name
