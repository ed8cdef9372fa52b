"""Latents of one group eliminated in turn: each given those that are left, then the last one.

Divide by h: its coefficients hold the labels z. A(Σ_k z_k c_k) = Σ_k z_k A(c_k) then stands
in h's place, and z divides what there is.  q(h, z) = q(h | z) q(z) is exact: h's block has a
letter more, the label's, and counts with q(z).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.algebra.indexed.build import add, delta, put, symbol
from blrgen.algebra.indexed.values import Expression, Index
from blrgen.expect.blocks.block import block_of
from blrgen.expect.blocks.normaliser import normaliser
from blrgen.expect.blocks.templates import holds
from blrgen.expect.blocks.values import Block, Factor, Given, Part
from blrgen.expect.factors.discrete import discrete_opened
from blrgen.expect.factors.names import Table
from blrgen.read.model.values import Node


def eliminated(
    table: Table, factors: Sequence[Factor], group: Sequence[Node]
) -> tuple[Block, ...] | None:
    """A block for each node, the last eliminated first; None where no order goes through."""
    if len(group) == 1:
        block = block_of(table, factors, group)
        fits = not block.remainder and block.kind != "coupled"
        return (block,) if fits else None
    for node in sorted(group, key=lambda n: _labels(table, n)):
        block = block_of(table, factors, [node])
        if block.remainder or block.kind != "element":
            continue
        others = [n for n in group if n is not node]
        labels = _given(table, block, others)
        if labels is None:
            continue
        rest = eliminated(table, without(table, factors, node, block), others)
        if rest is not None:
            return (*rest, conditional(block, labels))
    return None


def evidence(table: Table, factors: Sequence[Factor], order: Sequence[Node]) -> Expression:
    """log ∫ of the joint over nodes, summed out one after the other."""
    for node in order:
        factors = without(table, factors, node, block_of(table, factors, [node]))
    return add(*[f.total for f in factors])


def _labels(table: Table, node: Node) -> bool:
    """Discrete nodes are eliminated last."""
    return any(table.variables[v].symbol.one_hot for v in node.names)


def without(
    table: Table, factors: Sequence[Factor], node: Node, block: Block
) -> tuple[Factor, ...]:  # fmt: skip
    """The factors with the node summed out: its terms replaced by the normaliser."""
    names = frozenset(node.names)

    def free(e: Expression) -> Expression:
        kept = [(t, c) for t, c in e.terms if not any(holds(a, names) for a, _ in t.factors)]
        return Expression(tuple(kept))

    value = discrete_opened(normaliser(table, block, node))
    left = [replace(f, total=free(f.total)) for f in factors]
    return (*left, Factor(node.name, value, place=node.place))


def _given(table: Table, block: Block, others: Sequence[Node]) -> tuple[Given, ...] | None:
    """The labels in the coefficients, each at the element itself; None where they are not."""
    unknown = {v for n in others for v in n.names}
    element = block.parts[0].statistic.places
    found: dict[tuple[str, tuple[Index, ...]], Given] = {}
    for part in block.parts:
        for term, _ in part.coefficient.terms:
            bound = {r.name for r in term.bound}
            for a, _ in term.factors:
                names = {x for x in _names(a) if x in unknown}
                if not names:
                    continue
                if a.symbol is None or not a.symbol.one_hot:
                    return None
                leading = a.indices[:-1]
                if any(i.name in bound or i not in element for i in leading):
                    return None
                letter = Index(a.indices[-1].axis, f"{a.name}'")
                found[a.name, leading] = Given(a.symbol, (*leading, letter))
    return tuple(found[k] for k in sorted(found, key=str))


def _names(atom: object) -> set[str]:
    from blrgen.algebra.indexed.build import of_atom

    return set(of_atom(atom).symbols())  # type: ignore[arg-type]


def conditional(block: Block, labels: tuple[Given, ...]) -> Block:
    """The block given its labels: coefficients at each of their values."""
    if not labels:
        return block
    parts = []
    for part in block.parts:
        value = part.coefficient
        for g in labels:
            value = _chosen(value, g)
        s = part.statistic
        said = ", ".join(f"{g.symbol.name}[{','.join(i.text for i in g.places)}]" for g in labels)
        name = f"{s.name[:-1]} | {said}]"
        letters = tuple(g.places[-1] for g in labels)
        count = len(block.letters)
        places = (*s.places[:count], *letters, *s.places[count:])
        made = replace(s.symbol, name=name)
        statistic = replace(s, name=name, places=places, symbol=made, given=labels)
        parts.append(Part(statistic, value))
    return replace(block, parts=tuple(parts), given=labels)


def _chosen(e: Expression, g: Given) -> Expression:
    """e where the label is its letter's value."""
    *leading, k = g.places

    def value(indices: tuple[Index, ...]) -> Expression:
        if indices[:-1] == tuple(leading):
            return delta(indices[-1], k)
        return symbol(g.symbol, *indices)

    return put(e, {g.symbol.name: value})
