"""Each block multiplied back: Σ c_j T_j + log h is all that the log joint has of its variables.

For mu of x[n] ~ gaussian(mu, 1/tau), mu ~ gaussian(m0, v0): the terms of the log joint in
which mu stands, less mu·(m0/v0 + Σ_n tau x[n]) and mu²·(−1/(2 v0) − N tau/2), are zero in the
normal form.  A node that is eliminated is put to the test where the labels are summed over;
the next node's joint has its normaliser in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.algebra.indexed.build import add, multiplied, of_atom, scaled, summed, symbol
from blrgen.algebra.indexed.values import Atom, Expression, Index
from blrgen.decide.proof import Proof
from blrgen.expect.blocks.block import block_of, element_measure
from blrgen.expect.blocks.divide import remainder
from blrgen.expect.blocks.eliminate import without
from blrgen.expect.blocks.templates import holds
from blrgen.expect.blocks.values import Block, Factor
from blrgen.expect.factors.names import table_of
from blrgen.rule.model.exact import text
from blrgen.rule.model.values import Arrival, ModelDerivation

EXISTS = "exists:"  # 1 for elements of ragged rows that there are
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
    return (*((u.block.name, found[u.block.name]) for u in d.updates), *map(of_element, d.arrivals))


def of_element(x: Arrival) -> tuple[str, Proof]:
    """What an element brings is what its statements say."""
    which = f"element {x.place}" if x.place else "a later element"
    claim = f"the statements of {which} are linear in statistics of the last elements"
    if x.proved:
        return which, Proof("identity", claim, IDENTITY)
    return which, Proof("refuted", claim, "multiplied back they are something else")


def left_over(d: ModelDerivation, block: Block, factors: Sequence[Factor]) -> Expression:
    """The terms with the block's variables that multiplying back does not give."""
    names = frozenset(x for node in block.nodes for x in d.model.node(node).names)
    base = block.base
    joint = add(*(f.total for f in factors), scaled(base, -1))
    own = Expression(
        tuple((t, c) for t, c in joint.terms if any(holds(a, names) for a, _ in t.factors))
    )
    return remainder(whole_rows(own), whole_rows(multiplied_back(d, block)), names)


def whole_rows(e: Expression) -> Expression:
    """An element of a ragged row is there where a later one is: the same with fewer factors."""
    terms = []
    for t, c in e.terms:
        there = [a for a, _ in t.factors if a.name.startswith(EXISTS)]
        implied = {a for a in there for b in there if _earlier(a, b)}
        if not implied:
            terms.append(Expression(((t, c),)))
            continue
        made = multiplied(*(of_atom(a, p) for a, p in t.factors if a not in implied))
        for r in t.bound:
            made = summed(made, Index(r.axis, r.name), r.low, r.high)
        terms.append(scaled(made, c))
    return add(*terms)


def _earlier(a: Atom, b: Atom) -> bool:
    """Whether a says of an earlier element of a row what b says of a later one."""
    if a.name != b.name or len(a.indices) != len(b.indices) or a.indices[:-1] != b.indices[:-1]:
        return False
    i, j = a.indices[-1], b.indices[-1]
    return (i.axis, i.name) == (j.axis, j.name) and i.shift < j.shift


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
