"""All latents as one exact block: groups of nodes that terms join, each divided as a whole."""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.expect.blocks.eliminate import eliminated
from blrgen.expect.blocks.library import holding
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import Table
from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.values import Node
from blrgen.rule.model.prepare import Prepared, divided_blocks, refused
from blrgen.text.indexed import written


class NotConjugate(ModelError):
    """A block's full conditional is in no family: another algorithm may hold it."""


def exact_groups(p: Prepared) -> list[list[Node]]:
    """Latents that stand in a term together, directly or through others."""
    groups: list[list[Node]] = []
    sets = [set(symbols) for symbols in _symbols(p)]
    for node in p.latents:
        near = {x for s in sets if s & set(node.names) for x in s}
        touching = [g for g in groups if any(set(n.names) & near for n in g)]
        joined = [n for g in touching for n in g] + [node]
        groups = [g for g in groups if g not in touching] + [joined]
    order = {n.name: k for k, n in enumerate(p.latents)}
    return [sorted(g, key=lambda n: order[n.name]) for g in groups]


def _symbols(p: Prepared) -> list[dict[str, object]]:
    """The names in each term of the log joint."""
    from fractions import Fraction

    from blrgen.algebra.indexed.values import Expression

    return [dict(Expression(((t, Fraction(1)),)).symbols()) for t, _ in p.joint.terms]


def exact_blocks(p: Prepared, flag: str) -> tuple[list[list[Node]], tuple[Block, ...]]:
    """The groups and their blocks; refused where a group is in no family as a whole."""
    groups: list[list[Node]] = []
    blocks: list[Block] = []
    for group in exact_groups(p):
        own, found = _group(p, group, flag)
        groups += own
        blocks += found
    return groups, tuple(blocks)


def _group(
    p: Prepared, group: list[Node], flag: str
) -> tuple[list[list[Node]], tuple[Block, ...]]:  # fmt: skip
    """One block of all its nodes, or a block each, eliminated in turn."""
    groups = [group]
    blocks = divided_blocks(p, groups)
    for block in blocks:
        if len(group) > 1 and (block.remainder or block.kind == "coupled"):
            turn = eliminated(p.table, p.factors, group)
            if turn is not None:
                by_name = {n.name: n for n in group}
                return [[by_name[b.name]] for b in turn], turn
            names = " and ".join(n.name for n in group)
            raise refused(
                p.model, group[-1], f"--{flag} needs {names} as one exact block",
                f"{_joining(p, group)} joins them, and no family here holds it",
                _hint(p),
            )  # fmt: skip
        check(p, group, block, f"--{flag}")
    return groups, blocks


def _hint(p: Prepared) -> str:
    """Mean field, where every latent by itself is conjugate."""
    blocks = divided_blocks(p, [[n] for n in p.latents])
    if any(b.remainder or b.kind == "coupled" for b in blocks):
        return ""
    return "--vmp takes them as a block each"


def _joining(p: Prepared, group: Sequence[Node]) -> str:
    """The first term in which two of the nodes stand."""
    from fractions import Fraction

    from blrgen.algebra.indexed.values import Expression

    for term, c in p.joint.terms:
        one = Expression(((term, Fraction(c)),))
        names = set(one.symbols())
        if sum(bool(names & set(n.names)) for n in group) > 1:
            return f"the term {text(p.table, one)}"
    return "a term"


def text(table: Table, e: object) -> str:
    """An expression with the model's letters."""
    letters = {table.letter(x.letter).axis: x.letter for x in table.model.plates}
    return written(e, letters)  # type: ignore[arg-type]


def _as_labels(p: Prepared, group: Sequence[Node]) -> str:
    """A chain of numbers 0 and 1 can be summed as one of labels."""
    names = [v for n in group for v in n.names]
    binary = all(p.table.variables[v].symbol.binary for v in names)
    if not binary or not any(n.chain is not None for n in group):
        return ""
    return "write it as a categorical over two classes: a chain of labels can be summed"


def joined_by_something(p: Prepared, group: Sequence[Node], block: Block) -> None:
    """Nodes that no term has together are refused as one block: each is one by itself."""
    several = {s for part in block.parts for s in (part.statistic.nodes,)}
    apart = all(len(set(nodes)) == 1 for nodes in several) and len(several) > 1
    if block.kind == "element" and apart and not block.remainder:
        names = ",".join(n.name for n in group)
        raise refused(
            p.model, group[0], f"--block {names} joins nothing",
            "no term of the log joint has more than one of them",
            "leave --block out: each is a block by itself",
        )  # fmt: skip


def check(p: Prepared, group: Sequence[Node], block: Block, flag: str) -> None:
    """A block that is not conjugate is refused with the edge and the term that breaks it."""
    names = ",".join(block.nodes)
    if block.remainder:
        r = block.remainder[0]
        child = next((n for n in p.model.nodes if n.name == r.child), group[0])
        other = holding(p.table, p.factors, group, without=(block.family,))
        hint = f"; {other.family} holds it" if other is not None else ""
        error = refused(
            p.model, child, f"{flag} does not apply to {names}",
            f"the edge {names} -> {r.child} is not conjugate: {text(p.table, r.value)} is no "
            f"statistic of {block.family}{hint}",
        )  # fmt: skip
        raise NotConjugate(error.file, error.mistakes)
    if block.kind == "coupled":
        pair = next(q for q in block.parts if len(q.statistic.positions) > 1)
        raise refused(
            p.model, group[0], f"{flag} does not apply to {names}",
            f"its elements are coupled by {text(p.table, pair.statistic.value)}, and their joint "
            f"density is in no family that can be summed",
            _as_labels(p, group),
        )  # fmt: skip
