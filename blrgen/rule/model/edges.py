"""The edges of a model's graph, conjugate or with the term that breaks them."""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.expect.blocks.values import Block
from blrgen.rule.model.exact import text
from blrgen.rule.model.prepare import Prepared
from blrgen.rule.model.values import Edge


def edges_of(p: Prepared, blocks: Sequence[Block]) -> tuple[Edge, ...]:
    """From every unknown that stands in a statement's factor to the node it makes."""
    owner = {v: n.name for n in (*p.latents, *p.points) for v in n.names}
    broken = {
        (node, r.child): text(p.table, r.value)
        for b in blocks for r in b.remainder for node in b.nodes
    }  # fmt: skip
    found: dict[tuple[str, str], Edge] = {}
    for f in p.factors:
        for name in f.total.symbols():
            parent = owner.get(name)
            if parent is None or parent == f.node:
                continue
            term = broken.get((parent, f.node), "")
            found[parent, f.node] = Edge(parent, f.node, not term, term)
    return tuple(found[k] for k in sorted(found))
