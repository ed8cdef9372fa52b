"""log ∫ exp(Σ⟨c, T⟩ + log h): A of the family at the coefficients, element by element.

A statistic that leaves out the last component of a one-hot or count vector has coefficients
c_k up to a constant: its natural parameter is c_k − c_K, and c_K times the vector's sum is
outside.
"""

from __future__ import annotations

from functools import reduce

from blrgen.algebra.components import Head
from blrgen.algebra.indexed.build import add, multiplied, subtracted, summed
from blrgen.algebra.indexed.moving import moved
from blrgen.algebra.indexed.values import LAST, ZERO, Expression, Index
from blrgen.core import Family
from blrgen.expect.blocks.values import Block, Part
from blrgen.expect.factors.arguments import Reader
from blrgen.expect.factors.density import pieces
from blrgen.expect.factors.joint import argument
from blrgen.expect.factors.names import Table, axis_of
from blrgen.expect.factors.translate import Places, Translator, Value
from blrgen.read.model.values import Node


def normaliser(table: Table, block: Block, node: Node) -> Expression:
    """Σ over elements of measure · A(c), of a block whose elements are apart."""
    draw = node.draws[0]
    family = table.model.family(draw.family)
    axes = {name: axis_of(s) for name, s in draw.sizes}
    at = tuple(table.letter(x) for x in node.letters)
    element = block.parts[0].statistic.places[: element_count(block, family)]
    heads = [bool(t.atoms(Head)) for t in family.statistics]
    own: dict[str, Value] = {}
    outside = ZERO
    for part, p, head in zip(block.parts, family.natural, heads, strict=True):
        own[p.name] = parameter(part, element, head)
        if head:
            outside = add(outside, multiplied(own_last(part), total_of(part)))
    reader = Reader(table)
    for a in draw.arguments:
        if a.name in {p.name for p in family.fixed}:
            own[a.name] = argument(reader, a.value, ())
    value = add(Translator(own, axes).scalar(pieces(family).log_partition), outside)
    assert element[: len(at)] == at
    return reduce(summed, element, multiplied(value, block.measure))


def element_count(block: Block, family: Family) -> int:
    """How many of a statistic's places are its element's."""
    from blrgen.expect.blocks.block import statistic_axes

    rank = len(statistic_axes(family.natural[0].symbol, _Any()))
    return len(block.parts[0].statistic.places) - rank


class _Any(dict[str, str]):
    """Every size is an axis of some name."""

    def get(self, key: str, default: object = None) -> str:
        return key


def parameter(part: Part, element: Places, head: bool) -> Value:
    """The natural parameter as an array of its value's places."""
    inner = part.statistic.places[len(element) :]

    def value(places: Places) -> Expression:
        own = moved(part.coefficient, dict(zip(inner, places, strict=True)))
        return subtracted(own, own_last(part)) if head else own

    return value


def own_last(part: Part) -> Expression:
    """The coefficient of the last component."""
    k = part.statistic.places[-1]
    return moved(part.coefficient, {k: Index(k.axis, LAST)})


def total_of(part: Part) -> Expression:
    """What the components of the statistic sum to."""
    return summed(part.statistic.value, part.statistic.places[-1])
