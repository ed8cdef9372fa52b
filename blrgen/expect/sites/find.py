"""Terms of a log joint that hold what is no statistic, as functions of one predictor each.

The factors of a term are grouped by the blocks that they share.  A group that is no statistic
of its block is a site: f of one linear predictor.  A known label that chooses an element of the
predictor goes into it, Σ_k g[n,k] f(u[n,k]) = f(Σ_k g[n,k] u[n,k]): one site a row, not one
for each of its labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count

from blrgen.algebra.indexed.build import (
    add,
    fresh,
    moved,
    multiplied,
    put,
    summed,
    summed_all,
    symbol,
)
from blrgen.algebra.indexed.calculus import NoDerivative, partial
from blrgen.algebra.indexed.normal import collected, normal
from blrgen.algebra.indexed.values import ZERO, Atom, Expression, Index, Range, Symbol, Term
from blrgen.expect.blocks.expectation import Expecting
from blrgen.expect.blocks.match import Factor as Power
from blrgen.expect.blocks.templates import holds, split
from blrgen.expect.blocks.values import Factor
from blrgen.expect.sites.closed import centre, closed, spread
from blrgen.expect.sites.lines import by_levels, in_line, lines_of, tailed
from blrgen.expect.sites.values import Line, Site

Places = tuple[Index, ...]
NAMES = "furs"  # of a function, its predictor, and what stands for it
CLOSED, QUADRATURE = "closed form", "quadrature"
NUMBER = ("no closed form is known of a function that is no statistic; one number of its own "
          "family, in which the gradient is the inverse Fisher matrix times Cov[T, f]")  # fmt: skip
LINE = "one predictor that is linear in Gaussian blocks, so Gaussian itself"


class NoRoute(Exception):
    """A function of latents whose expectation has no route here: the function, and why."""

    def __init__(self, value: Expression, nodes: tuple[str, ...], why: str) -> None:
        super().__init__(why)
        self.value, self.nodes, self.why = value, nodes, why


Of = Callable[[Expression, Expression, tuple[str, ...]], Line | None]
Together = Callable[[Expression, Expression, Index], bool]
CUBATURE = "cubature"
ELEMENTS = ("one predictor with elements, linear in Gaussian blocks, so Gaussian itself; products "
            "of rules up to three elements, points spread evenly beyond")  # fmt: skip


@dataclass
class Sites:
    """The sites of a log joint.

    `of` says what q of a predictor is: None of a Gaussian; NoRoute where there is no route.
    `together` says whether the elements of a predictor depend on one another under q.
    """

    q: Expecting
    of: Of
    together: Together
    taken: set[str]
    letters: Mapping[str, str] = field(default_factory=dict)  # of each axis
    found: dict[str, Site] = field(default_factory=dict)  # by the text of f

    @property
    def every(self) -> frozenset[str]:
        return frozenset(self.q.owner)

    def marked(self, f: Factor) -> Factor:
        """The factor with a known symbol in the place of each site."""
        made: list[tuple[Term, Fraction]] = []
        for term, c in f.total.terms:
            made += self.term(term, c, f)
        return Factor(f.node, collected(made), f.base, f.place)

    def term(self, term: Term, c: Fraction, f: Factor) -> list[tuple[Term, Fraction]]:
        """One term with its sites marked."""
        own, rest = split(term, self.every)
        groups = self.groups(own)
        ranges = list(term.bound)
        kept, marks = list(rest), []
        for group in groups:
            blocks = self.blocks_of(group)
            others = [x for x in rest]
            if len(blocks) == 1 and self.q.statistic(blocks[0], group, others, ranges):
                kept += group
                continue
            marks.append(group)
        for group in marks:
            kept, ranges = self.placed(group, kept, ranges, f)
        return normal(c, kept, ranges)

    def placed(
        self, group: list[Power], kept: list[Power], ranges: list[Range], f: Factor
    ) -> tuple[list[Power], list[Range]]:
        """The other factors with the site's mark; labels that choose its elements are in it."""
        value = collected(normal(Fraction(1), group, ()))
        for label, p in list(kept):
            inside = _chosen(label, p, value, kept, ranges)
            if inside is None:
                continue
            line = self.line_of(value)
            if line is None or inside not in line.letters:
                continue
            chosen = summed(multiplied(_one(label), line), inside)
            variable = "`u"
            function = in_line(value, self.every, line, Symbol(variable))
            if function is None or inside in function.letters:
                continue
            value = put(function, {variable: _always(chosen)})
            kept = [x for x in kept if x[0] != label]
            ranges = [r for r in ranges if r.index != inside]
        site, places = self.named(value, f)
        return [*kept, (Atom("symbol", site.name, places, symbol=site.mark), Fraction(1))], ranges

    def line_of(self, value: Expression) -> Expression | None:
        """The predictor, where there is one."""
        lines = lines_of(value, self.every)
        return lines[0] if len(lines) == 1 else None

    def groups(self, own: Sequence[Power]) -> list[list[Power]]:
        """The factors by the blocks that they share."""
        found: list[list[Power]] = []
        for factor in own:
            blocks = set(self.blocks_of([factor]))
            near = [g for g in found if blocks & set(self.blocks_of(g))]
            joined = [x for g in near for x in g] + [factor]
            found = [g for g in found if g not in near] + [joined]
        return found

    def blocks_of(self, group: Sequence[Power]) -> list[str]:
        """The blocks whose latents stand in the factors."""
        return list(dict.fromkeys(
            b for v, b in self.q.owner.items() if any(holds(a, frozenset([v])) for a, _ in group)
        ))  # fmt: skip

    def named(self, value: Expression, f: Factor) -> tuple[Site, Places]:
        """The site of a function, made once, and where it stands."""
        letters = value.letters
        plain = self.plain(letters)
        value = moved(value, plain)
        if value.key not in self.found:
            self.found[value.key] = self.made(value, tuple(plain.values()), f)
        return self.found[value.key], letters

    def plain(self, letters: Places) -> dict[Index, Index]:
        """The model's letter for the first place on each axis, another for each further one."""
        found: dict[Index, Index] = {}
        for k, i in enumerate(letters, 1):
            name = self.letters.get(i.axis, "")
            used = {x.name for x in found.values()}
            found[i] = Index(i.axis, name if name and name not in used else f"i{k}")
        return found

    def made(self, value: Expression, places: Places, f: Factor) -> Site:
        """A new site, with the derivatives of its function."""
        nodes = tuple(dict.fromkeys(v for v in self.q.owner if v in value.symbols()))
        line = self.line_of(value)
        if line is None:
            raise NoRoute(value, nodes, "it is a function of more than one linear predictor")
        number = self.fresh()
        variable = Symbol(f"u{number}")
        function = in_line(value, self.every, line, variable)
        inner = [i for i in line.letters if i not in places]
        if function is None and len(inner) == 1 and self.of(value, line, nodes) is None:
            function = in_line(value, self.every, line, variable, inner[0])
            if function is not None:
                k = self.letter(inner[0].axis, {i.name for i in places})
                line = moved(line, {inner[0]: k})
                site = Site(f"f{number}", nodes, places, value, line, function, variable, ZERO,
                            ZERO, CUBATURE, f"no closed form; {ELEMENTS}", None, f.node, f.place,
                            self.parts(line))  # fmt: skip
                return self.of_elements(site, k)
        if function is None or inner:
            raise NoRoute(value, nodes, "it sums over functions of its predictor's elements")
        own = self.of(value, line, nodes)
        function = tailed(function)
        if own is not None:
            return Site(f"f{number}", nodes, places, value, line, function, variable, ZERO, ZERO,
                        QUADRATURE, NUMBER, None, f.node, f.place, (), own)  # fmt: skip
        average, why = closed(function, variable)
        whole, by = (function, (variable, variable)) if average is None else (
            average, (centre(variable), spread(variable)))  # fmt: skip
        try:
            slope = partial(whole, by[0].name, ())
            bend = partial(slope if average is None else whole, by[1].name, ())
        except NoDerivative as e:
            raise NoRoute(value, nodes, f"the derivative of {e} has no name here") from None
        route = QUADRATURE if average is None else CLOSED
        because = f"no closed form ({why}); {LINE}" if average is None else LINE
        return Site(f"f{number}", nodes, places, value, line, function, variable, slope,
                    bend, route, because, average, f.node, f.place,
                    self.parts(line))  # fmt: skip

    def letter(self, axis: str, used: set[str]) -> Index:
        """The model's letter on an axis, or one that is free."""
        wishes = [self.letters.get(axis, "k"), *"kjlm"]
        return Index(axis, next(x for x in wishes if x not in used))

    def of_elements(self, site: Site, k: Index) -> Site:
        """The site with the derivatives by the elements of its predictor."""
        m = fresh(add(site.line, site.function), k.axis, k.name)
        try:
            slope = by_levels(partial(site.function, site.variable.name, (k,)))
            bend = by_levels(partial(slope, site.variable.name, (m,)))
        except NoDerivative as e:
            why = f"the derivative of {e} has no name here"
            raise NoRoute(site.value, site.nodes, why) from None
        if self.together(site.value, site.line, k):
            return replace(site, slope=slope, bend=bend, inner=(k, m))
        return replace(site, slope=slope, bend=moved(bend, {m: k}), inner=(k,))

    def parts(self, line: Expression) -> tuple[tuple[tuple[str, ...], Expression], ...]:
        """The predictor's terms by the blocks of their latents."""
        found = []
        for block in dict.fromkeys(self.q.owner.values()):
            names = frozenset(v for v, b in self.q.owner.items() if b == block)
            own = tuple((t, c) for t, c in line.terms if any(holds(a, names) for a, _ in t.factors))
            if own:
                found.append((tuple(sorted(names)), Expression(own)))
        return tuple(found)

    def fresh(self) -> int:
        """A number with which no name is one of the model's."""
        k = next(k for k in count(1) if not {f"{x}{k}" for x in NAMES} & self.taken)
        self.taken |= {f"{x}{k}" for x in NAMES}
        return k


def _chosen(
    label: Atom, p: Fraction, value: Expression, kept: Sequence[Power], ranges: Sequence[Range]
) -> Index | None:
    """The letter of a known label's values, where it runs over elements of f and nothing else."""
    s = label.symbol
    if s is None or not (s.one_hot and s.known) or p != 1:
        return None
    inside = label.indices[-1]
    if inside not in {r.index for r in ranges} or inside not in value.letters:
        return None
    others = [a for a, _ in kept if a != label]
    return None if any(inside in a.letters for a in others) else inside


def _always(e: Expression) -> Callable[[Places], Expression]:
    return lambda _: e


def _one(a: Atom) -> Expression:
    return collected(normal(Fraction(1), [(a, Fraction(1))], ()))


def at(e: Expression, site: Site, places: Places) -> Expression:
    """An expression of the site at other places."""
    return moved(e, dict(zip(site.places, places, strict=True)))


def valued(marked: Factor, sites: Sequence[Site], tangent: frozenset[str] = frozenset()) -> Factor:
    """The marked factor with E[f] for every site; its tangent where these latents stand in it."""

    def value(site: Site) -> Callable[[Places], Expression]:
        if not tangent & set(site.nodes):
            return lambda places: symbol(site.expected, *places)
        whole = add(*(
            summed_all(multiplied(symbol(s, *site.letters_of(s)), t),
                       site.letters_of(s)[len(site.places) :])
            for s, t in site.tangent(tangent)
        ))  # fmt: skip
        return lambda places: at(whole, site, places)

    total = put(marked.total, {s.name: value(s) for s in sites})
    return Factor(marked.node, total, marked.base, marked.place)
