"""Blocks that are not conjugate: λ = conjugate part + ∇_μ E_q[what is left of the log joint].

What is left is a sum of sites f(u).  In the division of a block r u_b + s u_b² stands for each
of them, whose expectation has the same derivatives by q: the division is exact as it is for a
conjugate block, and λ depends on q through r and s.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from blrgen.algebra.indexed.values import Expression, Index
from blrgen.expect.blocks.block import block_of
from blrgen.expect.blocks.expectation import Expecting
from blrgen.expect.blocks.values import Block, Factor
from blrgen.expect.sites.find import NoRoute, Sites, valued
from blrgen.expect.sites.numbers import one_number
from blrgen.expect.sites.values import Line, Site
from blrgen.read.model.values import Node
from blrgen.rule.model.exact import check, text
from blrgen.rule.model.lines import letters_of
from blrgen.rule.model.prepare import Prepared, expecting_of, refused


@dataclass(frozen=True)
class Parted:
    """The blocks with tangents for their sites, and the log joint with E[f] for each site."""

    blocks: tuple[Block, ...]
    sites: tuple[Site, ...]
    factors: tuple[Factor, ...]
    tangents: tuple[tuple[str, tuple[Factor, ...]], ...]  # by block: what it was divided from


def parted(
    p: Prepared, groups: Sequence[Sequence[Node]], blocks: Sequence[Block], flag: str
) -> Parted:
    """The sites of all blocks found, and the blocks divided with tangents in their place."""
    q = expecting_of(blocks, groups)
    names = {c.name for c in p.model.constants} | {x for n in p.model.nodes for x in n.names}
    sites = Sites(q, lambda value, line, nodes: _law(p, value, line, nodes, blocks),
                  lambda value, line, k: _together(p, value, line, k, blocks), names,
                  letters_of(p.model))  # fmt: skip
    try:
        marked = [sites.marked(f) for f in p.factors]
    except NoRoute as e:
        raise _no_route(p, e, flag) from None
    found = tuple(sites.found.values())
    _no_points(p, found, flag)
    made: list[Block] = []
    tangents = []
    for group, block in zip(groups, blocks, strict=True):
        own = frozenset(v for n in group for v in n.names)
        factors = tuple(valued(f, found, own) for f in marked)
        divided = block_of(p.table, factors, group)
        check(p, group, divided, f"--{flag}")
        made.append(replace(divided, remainder=block.remainder))
        tangents.append((divided.name, factors))
    values = tuple(valued(f, found) for f in marked)
    return Parted(tuple(made), found, values, tuple(tangents))


def _no_route(p: Prepared, e: NoRoute, flag: str) -> Exception:
    """A function whose expectation is not found here."""
    node = next((n for n in p.model.nodes if set(e.nodes) & set(n.names)), None)
    return refused(p.model, node, f"--{flag} has no expectation of {text(p.table, e.value)}",
                   e.why)  # fmt: skip


def _no_points(p: Prepared, sites: Sequence[Site], flag: str) -> None:
    """A point inside a site would need the slope of its expectation."""
    for site in sites:
        for node in p.points:
            if set(node.names) & set(site.value.symbols()):
                raise refused(
                    p.model, node, f"--{flag} does not apply to {node.name}",
                    f"it is a point, and stands in {text(p.table, site.value)}, whose "
                    "expectation is found in numbers",
                    f"write {node.name} ~ … with a prior",
                )  # fmt: skip


def _law(
    p: Prepared, value: Expression, line: Expression, nodes: tuple[str, ...],
    blocks: Sequence[Block],
) -> Line | None:  # fmt: skip
    """What q of the predictor is: None of a Gaussian, else one number of a block's family."""
    for name in nodes:
        node = next(n for n in p.latents if name in n.names)
        block = next(b for b in blocks if node.name in b.nodes)
        if is_gaussian(block, len(node.names)):
            continue
        found = one_number(p.table, node, block, line)
        if isinstance(found, str) or len(nodes) > 1:
            why = found if isinstance(found, str) else "it stands beside other latents"
            raise NoRoute(value, nodes, f"q({block.name}) is no Gaussian but {block.family}: {why}")
        return found
    return None


def _together(
    p: Prepared, value: Expression, line: Expression, k: Index, blocks: Sequence[Block]
) -> bool:
    """Whether the elements of a predictor are those of one vector, and not of a plate."""
    found = set()
    for t, _ in line.terms:
        for a, _ in t.factors:
            node = next((n for n in p.latents if a.name in n.names), None)
            if node is None:
                continue
            block = next(b for b in blocks if node.name in b.nodes)
            if block.kind != "element" or block.given:
                raise NoRoute(value, (node.name,), "its elements are joined to others under q")
            found.add(k not in a.indices[: len(node.letters)])
    if len(found) != 1:
        names = tuple(x for n in p.latents for x in n.names if x in line.symbols())
        raise NoRoute(value, names, "its elements are partly those of a vector, partly apart")
    return found.pop()


def is_gaussian(block: Block, names: int = 1) -> bool:
    """Whether q of the block is a Gaussian over all reals: T of degrees 1 and 2."""
    single = [q.statistic for q in block.parts if len(q.statistic.positions) == 1]
    if names != 1 or {s.positions[0] for s in single} != {0, 1} or len(block.nodes) != 1:
        return False
    first, second = single
    terms = [s.value.terms for s in (first, second)]
    if any(len(t) != 1 for t in terms) or len(terms[0][0][0].factors) != 1:
        return False
    ((atom, once),) = terms[0][0][0].factors
    s = atom.symbol
    free = s is not None and s.lower is None and s.upper is None and s.total is None
    if s is None or not free or s.one_hot or s.binary or once != 1:
        return False
    left = {a.name for a, _ in terms[1][0][0].factors}
    return left == {atom.name} and sum(k for _, k in terms[1][0][0].factors) == 2


def expected_sites(sites: Sequence[Site], q: Expecting) -> tuple[Site, ...]:
    """The sites with E[u] and E[u²]."""
    return tuple(
        s if s.own is not None
        else replace(s, mean=q.of(s.line), square=q.of(s.squared(s.line)),
                     means=tuple(q.of(part) for _, part in s.parts))
        for s in sites
    )  # fmt: skip
