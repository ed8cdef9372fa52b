"""Each block multiplied back: Σ c_j T_j + log h is all that the log joint has of its variables.

For mu of x[n] ~ gaussian(mu, 1/tau), mu ~ gaussian(m0, v0): the terms of the log joint in
which mu stands, less mu·(m0/v0 + Σ_n tau x[n]) and mu²·(−1/(2 v0) − N tau/2), are zero in the
normal form.  A node that is eliminated is put to the test where the labels are summed over;
the next node's joint has its normaliser in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.algebra.indexed.build import add, multiplied, scaled, summed, symbol
from blrgen.algebra.indexed.values import Expression
from blrgen.decide.proof import Proof
from blrgen.expect.blocks.block import block_of, element_measure
from blrgen.expect.blocks.divide import remainder
from blrgen.expect.blocks.eliminate import without
from blrgen.expect.blocks.templates import holds
from blrgen.expect.blocks.values import Block, Factor
from blrgen.expect.factors.names import table_of
from blrgen.rule.model.exact import text
from blrgen.rule.model.values import ModelDerivation

IDENTITY = "zero remainder in the normal form"


def prove_blocks(d: ModelDerivation) -> tuple[tuple[str, Proof], ...]:
    """One proof a block, in the order of the schedule."""
    table = table_of(d.model)
    factors: Sequence[Factor] = d.factors
    found: dict[str, Proof] = {}
    tangents = dict(d.tangents)
    for u in reversed(d.updates):
        block = u.block
        left = left_over(d, block, tangents.get(block.name, factors))
        claim = f"the log joint is linear in the statistics of {block.name}"
        own = {x for node in block.nodes for x in d.model.node(node).names}
        stood = ", ".join(s.name for s in d.sites if own & set(s.nodes))
        how = f"{IDENTITY}, with what has the gradient of E[f] for {stood}" if stood else IDENTITY
        if left:
            found[block.name] = Proof("refuted", claim, f"{text(table, left)} is left over")
        else:
            found[block.name] = Proof("identity", claim, how)
        if block.given:
            node = d.model.node(block.nodes[0])
            factors = without(table, factors, node, block_of(table, factors, [node]))
    return tuple((u.block.name, found[u.block.name]) for u in d.updates)


def left_over(d: ModelDerivation, block: Block, factors: Sequence[Factor]) -> Expression:
    """The terms with the block's variables that multiplying back does not give."""
    names = frozenset(x for node in block.nodes for x in d.model.node(node).names)
    base = block.base
    joint = add(*(f.total for f in factors), scaled(base, -1))
    own = Expression(
        tuple((t, c) for t, c in joint.terms if any(holds(a, names) for a, _ in t.factors))
    )
    return remainder(own, multiplied_back(d, block), names)


def multiplied_back(d: ModelDerivation, block: Block) -> Expression:
    """Σ over places of measure · c · T, the labels that it is given chosen."""
    labels = [symbol(g.symbol, *g.places) for g in block.given]
    measure = element_measure(table_of(d.model), [d.model.node(x) for x in block.nodes])
    terms = []
    for part in block.parts:
        e = multiplied(measure, *labels, part.coefficient, part.statistic.value)
        for i in part.statistic.places:
            e = summed(e, i)
        terms.append(e)
    return add(*terms)
