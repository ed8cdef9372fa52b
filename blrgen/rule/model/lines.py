"""A model's derivation line by line: log joint, conditionals, expectations, updates, objective."""

from __future__ import annotations

from collections.abc import Iterator

from blrgen.algebra.indexed.values import Expression, Index
from blrgen.expect.blocks.values import Block, Part, Statistic
from blrgen.expect.factors.names import axis_of
from blrgen.expect.sites.values import Site
from blrgen.read.model.values import Model
from blrgen.rule.model.values import Line, ModelDerivation, PointUpdate, Update
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
    return (*_joint(d), *sites, *blocks, *_sums(d), *points, *_objective(d))


def _joint(d: ModelDerivation) -> Iterator[Line]:
    for k, f in enumerate(d.factors, 1):
        yield Line(f"log-joint-{k}", f"log p of {f.node}", said(d, f.total),
                   "⟨η(arguments), T⟩ − A(η) + log h of its family, over its plates")  # fmt: skip


def site_equations(d: ModelDerivation, s: Site) -> list[tuple[str, str]]:
    """f and its predictor, and what stands for it in the blocks' updates."""
    u, f, at = s.variable.name, s.name, places(s.places)
    found = [(f"{f}({u})", said(d, s.function)), (f"{u}{at}", said(d, s.line))]
    if s.average is not None:
        found.append((f"E[{f}]", said(d, s.average)))
        named = f", with {u}_m = E[{u}] and {u}_v = Var[{u}]"
        found[-1] = (found[-1][0], found[-1][1] + named)
    first, second = f"{s.first.name}{at}", f"{s.second.name}{at}"
    return [*found, (first, f"E[{f}'] - E[{f}'']*E[{u}]"), (second, f"E[{f}'']/2")]


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
    for part in block.parts:
        yield Line(f"update-{block.name}", f"update of {block.name}",
                   f"{natural_name(d, block, part)} = {_rated(d, update, part)}",
                   "its expectation under the other blocks", _named(update))  # fmt: skip


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
    for title, text in objective_terms(d):
        yield Line("objective", title, text, "the log joint's expectation plus the entropies")


def objective_terms(d: ModelDerivation) -> list[tuple[str, str]]:
    """(what, expression): E[log p] of every statement, the entropy of every block."""
    found = [
        (f"E[log p({f.node})]", said(d, e))
        for f, e in zip(d.factors, d.expected_factors, strict=True)
    ]
    for u in d.updates:
        base = " - E[log h]" if u.block.base else ""
        found.append((f"H[q({u.block.name})]", f"A(eta) - <eta, E[T]>{base}"))
    return found
