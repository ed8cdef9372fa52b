"""Blocks as what writes their equations: by what joins their elements, and node by node."""

from __future__ import annotations

from dataclasses import replace

from blrgen.expect.blocks.values import Block
from blrgen.program.model.bands import Band
from blrgen.program.model.chains import Labels
from blrgen.program.model.dense import Dense
from blrgen.program.model.expressions import Equations
from blrgen.program.model.member import Lowered, Member
from blrgen.program.model.stacked import Stacked
from blrgen.read.family import read_family
from blrgen.read.model.values import Model


def lowered_of(eq: Equations, model: Model, block: Block) -> Lowered:
    """The equations' writer of a block, by what joins its elements."""
    if block.kind == "element":
        return Lowered(eq, member_of(model, block))
    if block.kind == "labels":
        return Labels(eq, member_of(model, block))
    members = tuple(member_of(model, of_node(model, block, x)) for x in block.nodes)
    pairs = sum(len(p.statistic.positions) > 1 for p in block.parts)
    last = members[0].element[-1:]
    plain = block.kind == "banded" and last and last[0].axis == block.axis
    if plain and len(members) == pairs == block.lag == 1:
        return Band(eq, members[0])
    one = members[0]
    if block.kind == "dense" and len(members) == pairs == 1 and not one.own(0):
        return Dense(eq, one)
    return Stacked(eq, replace(members[0], block=block), members)


def of_node(model: Model, block: Block, node: str) -> Block:
    """What a block says of one of its nodes."""
    if len(block.nodes) == 1:
        return block
    family = model.node(node).draws[0].family
    parts = tuple(p for p in block.parts if p.statistic.nodes == (node,))
    return replace(block, nodes=(node,), family=family, parts=parts)


def member_of(model: Model, block: Block) -> Member:
    """The block's family and what its variable is."""
    known = dict(model.families)
    family = known.get(block.family) or read_family(block.family)
    names = variables_of(model, block)
    domains = [d for node in block.nodes for d in model.node(node).domains]
    return Member(block, family, len(names) == 1 and domains[0].kind == "one-hot")


def variables_of(model: Model, block: Block) -> tuple[str, ...]:
    """The variables of all of a block's nodes."""
    return tuple(x for node in block.nodes for x in model.node(node).names)
