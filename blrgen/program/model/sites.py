"""Sites of a log joint: E[f(u)], r and s at q as it stands.

    m[n] = E[u],  v[n] = E[u²] − m²
    u[n,q] = m[n] + √v[n] z[q]
    E[f] = sum(q, w[q] f(u[n,q])),  E[f'],  E[f'']  likewise
    s = ½E[f''],  r = E[f'] − E[f'']m

z and w are those of the trapezoidal rule for N(0, 1), which converges geometrically for a
function without a singularity near the line.  Σ_q (−1)^q w f'' is how much the rule of twice
the step differs, and says how far z[q] must be from z[q+1].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from blrgen.algebra.indexed.values import Expression
from blrgen.expect.sites.closed import centre, spread
from blrgen.expect.sites.values import Site
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.model.expressions import Equations, Reader, named_reader
from blrgen.program.model.member import named
from blrgen.program.model.names import Given
from blrgen.program.model.stochastic import RATE
from blrgen.program.stable import stable_form

Where = dict[str, str]


@dataclass(frozen=True)
class Nodes:
    """The rule's arrays, over an axis of their own; `signed` are its weights by turns ±."""

    axis: str
    points: str
    weights: str
    signed: str

    @property
    def arrays(self) -> tuple[str, ...]:
        return (self.points, self.weights, self.signed)


def nodes_of(given: Given) -> Nodes:
    """Names that nothing of the model has."""
    return Nodes(*(given.names.of(f"node_{x}") for x in ("count", "points", "weights", "signed")))


class Evaluated:
    """The equations of one site, and what is read of it from then on."""

    def __init__(
        self, site: Site, eq: Equations, readers: dict[str, Reader], nodes: Nodes,
        kept: tuple[str, ...] = (),
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
        return n.transform(stable_form(found), _of_one_exponential)

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

        bend = self.value(site.bend, held)
        value = self.let("value", average(self.value(site.function, held)))
        slope = self.let("slope", average(self.value(site.slope, held)))
        second = self.let("second", n.mul(n.HALF, average(bend)))
        twice = n.Call("abs", (n.mul(v, average(bend, nodes.signed)),))
        scale = n.add(n.ONE, n.Call("abs", (self.at(value),)))
        own = self.let("rest", n.div(twice, scale))
        self.error = own if not self.letters else self.eq.own(f"{site.name}_error")
        if self.letters:
            self.eq.let(a.Let(self.error, (), a.Red("max", self.letters, self.at(own))))
        self.known(value, slope, second)

    def known(self, value: str, slope: str, second: str) -> None:
        """What the updates read."""
        m = self.at(self.mean)
        first = self.let("first", n.Sub(self.at(slope), n.mul(n.TWO, m, self.at(second))))
        found: tuple[str, ...] = (first, second)
        if self.kept:
            rate = a.ref(RATE)
            found = self.next = tuple(
                self.let("part", n.add(n.mul(n.Sub(n.ONE, rate), self.at(was)),
                                       n.mul(rate, self.at(new))))
                for was, new in zip(self.kept, found, strict=True)
            )  # fmt: skip
        self.readers[self.site.expected.name] = named(value)
        for symbol, name in zip((self.site.first, self.site.second), found, strict=True):
            self.readers[symbol.name] = named(name)


def _of_one_exponential(x: n.Node) -> n.Node:
    """softplus and logistic in e^−|x|, which f, f' and f'' then share; neither overflows."""
    if not isinstance(x, n.Call) or x.name not in ("softplus", "logistic"):
        return x
    (arg,) = x.args
    turned = isinstance(arg, n.Neg)
    arg = arg.arg if isinstance(arg, n.Neg) else arg
    small = n.Call("exp", (n.neg(n.Call("abs", (arg,))),))
    if x.name == "softplus":
        above = n.Call("max", (n.neg(arg) if turned else arg, n.ZERO))
        return n.add(above, n.Call("log1p", (small,)))
    below = n.Compare("<", arg, n.ZERO)
    top = n.Select(below, n.ONE, small) if turned else n.Select(below, small, n.ONE)
    return n.div(top, n.add(n.ONE, small))
