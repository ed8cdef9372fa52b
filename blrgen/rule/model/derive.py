"""A model and an algorithm → its derivation: the rule with named choices, nothing else.

Every algorithm divides the same log joint.  They differ in what is one block, what is a
point, and which ρ a block is visited with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from blrgen.algebra.indexed.build import add
from blrgen.algebra.indexed.calculus import NoDerivative
from blrgen.algebra.indexed.rules import Outside
from blrgen.algebra.indexed.values import Expression
from blrgen.expect.blocks.values import Block, Factor, Statistic
from blrgen.expect.sites.values import Site
from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.values import Model, Node
from blrgen.rule.model import choices
from blrgen.rule.model.arrivals import arrivals
from blrgen.rule.model.chosen import with_families
from blrgen.rule.model.edges import edges_of
from blrgen.rule.model.exact import NotConjugate, check, exact_blocks, joined_by_something, text
from blrgen.rule.model.labels import labels_can_be_summed
from blrgen.rule.model.nonconjugate import expected_sites, parted
from blrgen.rule.model.points import point_updates
from blrgen.rule.model.prepare import (
    Prepared,
    divided_blocks,
    expected_blocks,
    expecting_of,
    points_of,
    prepared,
    refused,
)
from blrgen.rule.model.rows import expected_statistics
from blrgen.rule.model.values import Choice, ModelDerivation, PointUpdate, Update

RATE = "rho_t"
_UNKNOWN = "unknown and has no prior"
PARTS = {  # of a step of a block that is not conjugate
    "ncvmp": "rho = 1, halved where the objective falls",
    "cvi": "rho < 1 on r and s, the conjugate part exact",
}


@dataclass(frozen=True)
class Options:
    """What a user may say beside the algorithm."""

    point: tuple[str, ...] = ()
    joined: tuple[tuple[str, ...], ...] = ()  # --block a,b
    schedule: tuple[str, ...] = ()
    q: tuple[tuple[str, str], ...] = ()  # (node, family)
    inner: int | None = None  # the most rounds over local blocks in a step


def derive_model(model: Model, algorithm: str, options: Options | None = None) -> ModelDerivation:
    """The algorithm of a model; one that does not apply is refused with the reason."""
    options = options or Options()
    make = ALGORITHMS.get(algorithm)
    if make is None:
        raise refused(model, None, f"no algorithm is called {algorithm}",
                      f"known: {', '.join(sorted(ALGORITHMS))}")  # fmt: skip
    if options.inner is not None and algorithm != "svi":
        raise refused(model, None, "--inner belongs to --svi",
                      f"a step of --{algorithm} has no rounds over local blocks")  # fmt: skip
    labels_can_be_summed(model, algorithm)
    try:
        p = with_families(prepared(model, options.point), options.q)
        return make(p, options)
    except NotConjugate as error:
        raise _hinted(p, options, error) from None
    except Outside as error:
        raise refused(
            model,
            None,
            f"--{algorithm} cannot be derived for lags like these",
            str(error),
            "write a state of several numbers that has lag 1",
        ) from error


def _hinted(p: Prepared, options: Options, error: ModelError) -> ModelError:
    """The refusal with --ncvmp, where that derives."""
    (mistake,) = error.mistakes
    try:
        ncvmp(p, options)
    except (ModelError, Outside):
        return ModelError(error.file, (mistake,))
    how = "--ncvmp takes the gradient of its expectation"
    return ModelError(error.file, (replace(mistake, instead=how),))


def _finished(
    p: Prepared, algorithm: str, groups: Sequence[Sequence[Node]], blocks: Sequence[Block],
    options: Options, made: Sequence[Choice], factors: Sequence[Factor] | None = None,
) -> ModelDerivation:  # fmt: skip
    """Expectations, points, edges: what all algorithms share."""
    q = expecting_of(blocks, groups)
    expected = tuple(q.of(f.total) for f in (p.factors if factors is None else factors))
    joint = add(*expected)
    ready = expected_blocks(blocks, q)
    updates = tuple(Update(b) for b in _scheduled(p, ready, options))
    points: tuple[PointUpdate, ...] = ()
    if p.points and algorithm != "gibbs":
        points = _points(p, joint)
    statistics = tuple(part.statistic for b in ready for part in b.parts)
    statistics += tuple(q.unnamed.values())
    return ModelDerivation(
        p.model, algorithm, p.factors, updates, points, statistics, expected_joint=joint,
        expected_factors=expected,
        edges=edges_of(p, ready), choices=tuple(made),
    )  # fmt: skip


def _points(p: Prepared, joint: Expression) -> tuple[PointUpdate, ...]:
    """The updates of the points; a function without a derivative is refused."""
    try:
        return point_updates(points_of(p), joint)
    except NoDerivative as e:
        raise refused(p.model, p.points[0], "the points cannot be maximised over",
                      f"the expected log joint holds {e}, whose derivative has no name here",
                      ) from None  # fmt: skip


def _scheduled(p: Prepared, blocks: Sequence[Block], options: Options) -> list[Block]:
    """In reverse order of the statements, or as the user says."""
    if not options.schedule:
        last = list(reversed(blocks))
        return sorted(last, key=lambda b: bool(b.given))  # labels before what is given them
    by_name = {x: b for b in blocks for n in b.nodes for x in (b.name, n, *p.model.node(n).names)}
    missing = [n for n in options.schedule if n not in by_name]
    if missing:
        raise refused(p.model, None, f"--schedule: {missing[0]} is no block",
                      f"the blocks are {', '.join(b.name for b in blocks)}")  # fmt: skip
    chosen = list(dict.fromkeys(by_name[n].name for n in options.schedule))
    left = [b.name for b in blocks if b.name not in chosen]
    if left:
        raise refused(p.model, None, f"--schedule leaves out {left[0]}",
                      "every block is visited once a step", f"add {left[0]}")  # fmt: skip
    return [by_name[n] for n in chosen]


def _names(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple(n.name for n in nodes)


def _exact(p: Prepared, flag: str, options: Options) -> ModelDerivation:
    groups, blocks = exact_blocks(p, flag)
    made = [choices.exact(_names(p.latents))] if p.latents else []
    if p.points:
        made.append(choices.delta(_names(p.points)))
    return _finished(p, flag, groups, blocks, options, made)


def conjugate(p: Prepared, options: Options) -> ModelDerivation:
    """One exact step: all latents as exact blocks, no points."""
    return _without_points(p, "conjugate", options)


def _without_points(p: Prepared, flag: str, options: Options) -> ModelDerivation:
    if p.points:
        said = p.points[0].kind != "param"
        raise refused(p.model, p.points[0], f"--{flag} has no points",
                      f"{p.points[0].name} is {'a point by --point' if said else _UNKNOWN}",
                      f"--em finds it, or {'leave --point out' if said else 'give it a prior'}",
                      )  # fmt: skip
    return _exact(p, flag, options)


def em(p: Prepared, options: Options, flag: str = "em") -> ModelDerivation:
    """All latents exact given the points, then the joint argmax over the points."""
    if not p.points:
        raise refused(p.model, None, f"--{flag} has nothing to maximise over",
                      "the model has no param, and --point names none",
                      "--point NAME makes a latent a point")  # fmt: skip
    return _exact(p, flag, options)


def online_em(p: Prepared, options: Options) -> ModelDerivation:
    """EM on averages of expected statistics over steps."""
    axis = batch_axis(p, "--online-em")
    letters = {x.letter for x in p.model.plates if p.table.letter(x.letter).axis == axis}
    for node in p.points:
        if letters & set(node.letters):
            raise refused(p.model, node, f"--online-em does not apply to {node.name}",
                          f"it has a place for each of {axis}, of which a step sees some",
                          "--em finds all of them")  # fmt: skip
    made = expected_statistics(em(p, options, "online-em"), axis)
    unknown = {v: n for n in p.points for v in n.names}
    for e in made.sums:
        held = [unknown[x] for x in e.value.symbols() if x in unknown]
        if held:
            raise refused(p.model, held[0], f"--online-em does not apply to {held[0].name}",
                          f"its equation needs every row again: {text(p.table, e.value)}",
                          )  # fmt: skip
    return replace(
        made, algorithm="online-em", batch=axis, rate=RATE,
        updates=tuple(replace(u, local=True) for u in made.updates),
        choices=(*made.choices, choices.minibatch(_names(p.points), axis),
                 choices.decaying(_names(p.points))),
    )  # fmt: skip


def _groups(p: Prepared, options: Options) -> list[list[Node]]:
    """A statement a block, those of --block joined at the place of the first."""
    by_name = {n.name: n for n in p.latents}
    whole = {x: n.name for n in p.latents for x in (n.name, *n.names)}
    given = [tuple(dict.fromkeys(whole.get(x, x) for x in group)) for group in options.joined]
    joined = {name: group for group in given for name in group}
    for name in joined:
        if name not in by_name:
            raise refused(p.model, None, f"--block: {name} is no latent node",
                          f"the latents are {', '.join(by_name)}")  # fmt: skip
    groups: list[list[Node]] = []
    for node in p.latents:
        group = joined.get(node.name)
        if group is None:
            groups.append([node])
        elif not any(n.name in group for g in groups for n in g):
            groups.append([by_name[n] for n in group])
    return groups


def _mean_field(p: Prepared, flag: str, options: Options) -> ModelDerivation:
    groups = _groups(p, options)
    blocks = divided_blocks(p, groups)
    for group, block in zip(groups, blocks, strict=True):
        joined_by_something(p, group, block)
        check(p, group, block, f"--{flag}")
    made = [choices.exact(_names(p.latents))]
    if len(blocks) > 1:
        made.append(choices.mean_field(_names(p.latents)))
    if p.points:
        made.append(choices.delta(_names(p.points)))
    return _finished(p, flag, groups, blocks, options, made)


def vmp(p: Prepared, options: Options) -> ModelDerivation:
    """Mean field, ρ = 1 block by block."""
    return _mean_field(p, "vmp", options)


def nonconjugate(p: Prepared, flag: str, options: Options) -> ModelDerivation:
    """Mean field with blocks that are not conjugate: those go a part ρ of the way."""
    groups = _groups(p, options)
    blocks = divided_blocks(p, groups)
    for group, block in zip(groups, blocks, strict=True):
        joined_by_something(p, group, block)
    found = parted(p, groups, blocks, flag)
    made = [choices.sites(found.sites)] if found.sites else []
    plain = [b for b in found.blocks if not _stepped(p, b, found.sites)]
    if plain:
        made.append(choices.exact([x for b in plain for x in b.nodes]))
    if len(found.blocks) > 1:
        made.append(choices.mean_field(_names(p.latents)))
    if p.points:
        made.append(choices.delta(_names(p.points)))
    d = _finished(p, flag, groups, found.blocks, options, made, found.factors)
    q = expecting_of(found.blocks, groups)
    sites = expected_sites(found.sites, q)
    means = tuple(Statistic(s.expected.name, s.nodes, s.places, s.value, (), s.expected)
                  for s in sites)  # fmt: skip
    updates = tuple(
        replace(u, rate=PARTS[flag]) if _stepped(p, u.block, sites) else u for u in d.updates
    )
    return replace(d, sites=sites, tangents=found.tangents, updates=updates,
                   statistics=(*d.statistics, *means))  # fmt: skip


def _stepped(p: Prepared, b: Block, sites: Sequence[Site]) -> bool:
    """Whether the block's latents stand in a site."""
    own = {v for n in p.latents if n.name in b.nodes for v in n.names}
    return any(own & set(s.nodes) for s in sites)


def ncvmp(p: Prepared, options: Options) -> ModelDerivation:
    """ρ = 1, halved where the objective falls."""
    return nonconjugate(p, "ncvmp", options)


def cvi(p: Prepared, options: Options) -> ModelDerivation:
    """ρ < 1 on what is not conjugate, the conjugate part exact."""
    return nonconjugate(p, "cvi", options)


def svi(p: Prepared, options: Options) -> ModelDerivation:
    """Local blocks to their fixed point, global ones with ρ_t on a minibatch."""
    axis = batch_axis(p, "--svi")
    if p.points:
        raise refused(p.model, p.points[0], f"--svi does not apply to {p.points[0].name}",
                      "it is a point: it has no natural parameter to go a part ρ of the way",
                      "--online-em averages what points are found from")  # fmt: skip
    made = _mean_field(p, "svi", options)
    letters = {x.letter for x in p.model.plates if p.table.letter(x.letter).axis == axis}
    local = [u for u in made.updates if letters & set(u.block.letters)]
    rest = [u for u in made.updates if not letters & set(u.block.letters)]
    if not rest:
        raise refused(p.model, p.latents[0] if p.latents else None,
                      "--svi has no global block here",
                      f"every latent has a place for each of {axis}, so that no step over some "
                      "rows says anything of the others", "--vmp does each of them")  # fmt: skip
    names = tuple(u.block.name for u in rest)
    updates = [replace(u, local=True) for u in local]
    updates += [replace(u, rate=RATE, scaled=axis) for u in rest]
    extra = (choices.minibatch(names, axis), choices.decaying(names))
    return replace(made, updates=tuple(updates), batch=axis, rate=RATE, inner=options.inner,
                   choices=(*made.choices, *extra))  # fmt: skip


def batch_axis(p: Prepared, flag: str) -> str:
    """The outermost plate of what is observed; a chain along it cannot be cut."""
    observed = [n for n in p.model.nodes if n.kind == "observed" and n.letters]
    if not observed:
        raise refused(p.model, None, f"{flag} needs rows", "nothing observed has a plate")
    letter = observed[0].letters[0]
    for node in observed:
        if node.letters[0] != letter:
            raise refused(p.model, node, f"{flag} needs one outermost plate of what is observed",
                          f"{observed[0].name} has {letter}, {node.name} has not")  # fmt: skip
    for node in p.model.nodes:
        if node.chain is not None and node.chain.letter == letter:
            raise refused(p.model, node, f"{flag} does not apply to {node.name}",
                          f"a chain along {letter} is one sequence, no rows")  # fmt: skip
    return p.table.letter(letter).axis


def gibbs(p: Prepared, options: Options) -> ModelDerivation:
    """Every block drawn from its full conditional."""
    if p.points:
        name, said = p.points[0].name, p.points[0].kind != "param"
        raise refused(p.model, p.points[0], "--gibbs does not apply",
                      f"{name} is a point by --point: it has no draws" if said else
                      f"{name} has no prior to be drawn with",
                      "leave --point out, or use --em" if said else
                      f"write {name} ~ …, or use --em")  # fmt: skip
    made = _mean_field(p, "gibbs", options)
    return replace(
        made, choices=(choices.draws(_names(p.latents)),), statistics=(),
        updates=tuple(Update(_at_values(u.block), drawn=True) for u in made.updates),
        expected_joint=p.joint, expected_factors=tuple(f.total for f in p.factors),
    )  # fmt: skip


def _at_values(block: Block) -> Block:
    """The block where all others have values: its coefficients as they stand."""
    return replace(block, parts=tuple(replace(x, expected=x.coefficient) for x in block.parts))


def filtering(p: Prepared, options: Options) -> ModelDerivation:
    """The exact step, one element of a chain at a time."""
    chains = [n for n in p.latents if n.chain is not None]
    if not chains:
        raise refused(p.model, None, "--filter needs a chain", "no latent refers to an earlier t")
    for node in p.latents:
        if node.chain is None or node.chain.letter != chains[0].chain.letter:  # type: ignore[union-attr]
            raise refused(p.model, node, "--filter does not apply",
                          f"{node.name} does not run along {chains[0].chain.letter}: it would "  # type: ignore[union-attr]
                          "have to be known")  # fmt: skip
    letter = chains[0].chain.letter  # type: ignore[union-attr]
    for node in p.model.nodes:
        if node.kind == "observed" and letter not in node.letters:
            raise refused(p.model, node, "--filter does not apply",
                          f"{node.name} does not run along {letter}: no step would bring it",
                          "--conjugate takes all of the data at once")  # fmt: skip
    p = prepared(_may_be_missing(p.model), options.point)
    made = _without_points(p, "filter", options)
    own = arrivals(p, letter, [u.block for u in made.updates])
    return replace(made, along=letter, arrivals=own)


def _may_be_missing(model: Model) -> Model:
    """The model in which a step may bring nothing seen; labels are always there."""

    def seen(node: Node) -> Node:
        free = all(d.kind not in ("one-hot", "labels") for d in node.domains)
        return replace(node, missing=True) if node.kind == "observed" and free else node

    return replace(model, nodes=tuple(map(seen, model.nodes)))


ALGORITHMS: dict[str, Callable[[Prepared, Options], ModelDerivation]] = {
    "conjugate": conjugate, "em": em, "online-em": online_em, "vmp": vmp, "cavi": vmp,
    "svi": svi, "ncvmp": ncvmp, "cvi": cvi, "gibbs": gibbs, "filter": filtering,
}  # fmt: skip
