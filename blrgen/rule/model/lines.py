"""A model's derivation line by line: log joint, conditionals, expectations, updates, objective."""

from __future__ import annotations

from collections.abc import Iterator

from blrgen.algebra.indexed.build import moved
from blrgen.algebra.indexed.values import Expression, Index
from blrgen.expect.blocks.values import Block, Part, Statistic
from blrgen.expect.factors.names import axis_of
from blrgen.expect.sites.values import Site
from blrgen.read.model.values import Model
from blrgen.rule.model.values import Arrival, Line, ModelDerivation, PointUpdate, Update
from blrgen.text.indexed import Mean, written


def letters_of(model: Model) -> dict[str, str]:
    """The letter that a model gives to each axis."""
    found: dict[str, str] = {}
    for p in model.plates:
        found.setdefault(axis_of(p.size), p.letter)
    return found


def said(d: ModelDerivation, e: Expression) -> str:
    """An expression with the model's letters, expectations of what they are of."""
    means = {
        s.name: Mean(s.places, s.value, tuple((g.symbol.name, g.places) for g in s.given))
        for s in d.statistics
    }
    return written(e, letters_of(d.model), means)


def places(letters: tuple[Index, ...]) -> str:
    """[n,k], or nothing."""
    return f"[{','.join(i.text for i in letters)}]" if letters else ""


def statistic_text(d: ModelDerivation, s: Statistic) -> str:
    """T as it is written."""
    return said(d, s.value)


def lines_of(d: ModelDerivation) -> tuple[Line, ...]:
    """Every line, in the order in which it is derived."""
    sites = (x for s in d.sites for x in _site(d, s))
    blocks = (x for u in d.updates for x in _block(d, u))
    points = (x for u in d.points for x in _points(d, u))
    return (*_joint(d), *sites, *blocks, *_elements(d), *_sums(d), *points, *_objective(d))


def brought(d: ModelDerivation, arrival: Arrival) -> list[tuple[Expression, Expression]]:
    """(statistic, coefficient) of what an element brings, the statistics at their elements."""
    t = Index(axis_of(d.model.plate(d.along).size), d.along)
    return [(moved(s.value, {t: t.moved(-lag)}), e) for s, lag, e in arrival.parts]


def _elements(d: ModelDerivation) -> Iterator[Line]:
    """What comes with one element of a chain."""
    because = "its statements alone, divided; what is indexed by the chain is the element's own"
    for x in d.arrivals:
        which = f"element {x.place}" if x.place else "a later element"
        for statistic, e in brought(d, x):
            yield Line(f"element-{x.place or 'later'}", f"what {which} brings",
                       f"coefficient of {said(d, statistic)}: {said(d, e)}", because)  # fmt: skip
        yield Line(f"element-{x.place or 'later'}", f"what {which} brings",
                   f"without the chain: {said(d, x.rest)}", because)  # fmt: skip


def _joint(d: ModelDerivation) -> Iterator[Line]:
    for k, f in enumerate(d.factors, 1):
        yield Line(f"log-joint-{k}", f"log p of {f.node}", said(d, f.total),
                   "⟨η(arguments), T⟩ − A(η) + log h of its family, over its plates")  # fmt: skip


def site_equations(d: ModelDerivation, s: Site) -> list[tuple[str, str]]:
    """f and its predictor, and what stands for it in the blocks' updates."""
    u, f, at = s.variable.name, s.name, places(s.places)
    if s.inner:
        return _elements_of(d, s)
    found = [(f"{f}({u})", said(d, s.function)), (f"{u}{at}", said(d, s.line))]
    if s.average is not None:
        found.append((f"E[{f}]", said(d, s.average)))
        named = f", with {u}_m = E[{u}] and {u}_v = Var[{u}]"
        found[-1] = (found[-1][0], found[-1][1] + named)
    if s.own is not None:
        names = ", ".join(f"{x.name}{at}" for x in s.firsts)
        return [*found, (names, f"Cov[T, T]^-1 Cov[T, {f}]")]
    for r, e in zip(s.firsts, s.means, strict=True):
        mean = f"E[{u}]" if len(s.means) == 1 else f"({said(d, e)})"
        found.append((f"{r.name}{at}", f"E[{f}'] - E[{f}'']*{mean}"))
    return [*found, (f"{s.second.name}{at}", f"E[{f}'']/2")]


def _elements_of(d: ModelDerivation, s: Site) -> list[tuple[str, str]]:
    """The same of a predictor with elements u_k."""
    u, f, k, last = s.variable.name, s.name, s.inner[0].name, s.inner[-1].name
    one, both = (places(s.letters_of(x)) for x in (s.firsts[0], s.second))
    found = [(f"{f}({u})", said(d, s.function)), (f"{u}{one}", said(d, s.line))]
    for r, e in zip(s.firsts, s.means, strict=True):
        mean = f"E[{u}[{last}]]" if len(s.means) == 1 else f"({said(d, s.at_last(e))})"
        bent = f"{s.second.name}{both}*{mean}"
        bent = f"sum({last}, {bent})" if len(s.inner) == 2 else bent
        found.append((f"{r.name}{one}", f"E[df/d{u}[{k}]] - 2*{bent}".replace("df/", f"d{f}/")))
    return [*found, (f"{s.second.name}{both}", f"E[d2{f}/d{u}[{k}]d{u}[{last}]]/2")]


def _site(d: ModelDerivation, s: Site) -> Iterator[Line]:
    """A function that is no statistic, and by which route its expectation is found."""
    for left, right in site_equations(d, s):
        yield Line(f"site-{s.name}", f"{s.name}, of {', '.join(s.nodes)}, in log p of {s.child}",
                   f"{left} = {right}", f"{s.route}: {s.because}")  # fmt: skip


def _block(d: ModelDerivation, update: Update) -> Iterator[Line]:
    block = update.block
    for part in block.parts:
        yield Line(f"conditional-{block.name}", f"full conditional of {block.name}",
                   f"coefficient of {statistic_text(d, part.statistic)}: "
                   f"{said(d, part.coefficient)}", _proof(block))  # fmt: skip
    title = f"{'draw' if update.drawn else 'update'} of {block.name}"
    because = "its expectation under the other blocks"
    if update.drawn:
        because = f"the coefficients at the other blocks' values, drawn from {block.family}"
    for part in block.parts:
        yield Line(f"update-{block.name}", title,
                   f"{natural_name(d, block, part)} = {_rated(d, update, part)}",
                   because, _named(update))  # fmt: skip


def _proof(block: Block) -> str:
    """Why the block is in its family."""
    how = {
        "element": "each element by itself",
        "banded": f"a Gaussian over {block.axis}, neighbours up to {block.lag} apart",
        "dense": f"one Gaussian over {block.axis}",
        "joint": "one Gaussian over its nodes",
        "labels": f"a chain of labels over {block.axis}, neighbours up to {block.lag} apart",
    }.get(block.kind, block.kind)
    return f"in {block.family}, {how}: multiplied back it gives the log joint (identity)"


def _rated(d: ModelDerivation, update: Update, part: Part) -> str:
    text = said(d, part.expected)
    if not update.rate or not update.scaled:
        return text
    name = natural_name(d, update.block, part)
    scale = f", each sum over {update.scaled} {update.scaled}/M times"
    return f"(1 - {update.rate})*{name} + {update.rate}*({text}){scale}"


def _named(update: Update) -> str:
    if update.drawn:
        return "draw"
    return f"rho = {update.rate}" if update.scaled else update.rate or "rho = 1"


def natural_name(d: ModelDerivation, block: Block, part: Part) -> str:
    """The natural parameter that goes with a statistic; of a pair its statistic itself."""
    s = part.statistic
    if len(s.positions) > 1:
        return f"pair({statistic_text(d, s)})"
    from blrgen.read.family import read_family

    own = {n.name: n for n in d.model.nodes}
    name = block.family
    if "," in name:
        name = own[s.nodes[0]].draws[0].family
    known = dict(d.model.families)
    family = known[name] if name in known else read_family(name)
    node = "" if len(block.nodes) == 1 else f"({','.join(s.nodes)})"
    return f"{family.natural[s.positions[0]].name}{node}{places(s.places)}"


def _sums(d: ModelDerivation) -> Iterator[Line]:
    """The expected statistics that points are in."""
    because = "a sum over rows, of data and expectations alone"
    for e in d.sums:
        text = f"{e.target}{places(e.places)} = {said(d, e.value)}"
        yield Line(f"statistic-{e.target}", "expected statistic", text, because, d.rate)


def _points(d: ModelDerivation, u: PointUpdate) -> Iterator[Line]:
    title = f"argmax over {' and '.join(u.names)}"
    for e in u.equations:
        yield Line(f"point-{e.target}", title,
                   f"{e.target}{places(e.places)} = {said(d, e.value)}",
                   u.because, "delta")  # fmt: skip
    if u.system is not None:
        for text in system_text(d, u):
            yield Line(f"point-{','.join(u.names)}", title, text, u.because, "delta")
    if u.stationary is not None:
        for x, g in zip(u.stationary.unknowns, u.stationary.slope, strict=True):
            yield Line(f"point-{x.name}", title, f"0 = {said(d, g)}",
                       f"{u.because}: Newton in {x.name}{places(x.places)}", "delta")  # fmt: skip


def system_text(d: ModelDerivation, u: PointUpdate) -> list[str]:
    """The equations of a linear system, one an unknown."""
    assert u.system is not None
    found = []
    shared = set(u.system.shared)
    for g, row in enumerate(u.system.matrix):
        sides = []
        for x, m in zip(u.system.unknowns, row, strict=True):
            over = [i for i in x.places if i not in shared]
            inner = tuple(i if i in shared else Index(i.axis, i.name + "'") for i in x.places)
            product = f"({said(d, m)})*{x.name}{places(inner)}"
            names = ", ".join(i.name + "'" for i in over)
            sides.append(f"sum({names}, {product})" if over else product)
        found.append(f"{' + '.join(sides)} = {said(d, u.system.right[g])}")
    return found


def _objective(d: ModelDerivation) -> Iterator[Line]:
    drawn = any(u.drawn for u in d.updates)
    because = "the log joint" if drawn else "the log joint's expectation plus the entropies"
    for title, text in objective_terms(d):
        yield Line("objective", title, text, because)


def objective_terms(d: ModelDerivation) -> list[tuple[str, str]]:
    """(what, expression): E[log p] of every statement, the entropy of every block with a q."""
    drawn = any(u.drawn for u in d.updates)
    found = [
        (f"log p({f.node})" if drawn else f"E[log p({f.node})]", said(d, e))
        for f, e in zip(d.factors, d.expected_factors, strict=True)
    ]
    for u in d.updates:
        if u.drawn:
            continue
        base = " - E[log h]" if u.block.base else ""
        found.append((f"H[q({u.block.name})]", f"A(eta) - <eta, E[T]>{base}"))
    return found
