"""What every algorithm of a model starts from: factors, who is a block, who is a point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from blrgen.algebra.indexed.build import add, multiplied, symbol
from blrgen.algebra.indexed.values import Expression, Index
from blrgen.expect.blocks.block import block_of
from blrgen.expect.blocks.expectation import Expecting, expecting, with_expectations
from blrgen.expect.blocks.values import Block, Factor
from blrgen.expect.factors.joint import log_joint
from blrgen.expect.factors.names import Table, table_of
from blrgen.read.model.mistakes import Mistake, ModelError
from blrgen.read.model.values import Model, Node, Place
from blrgen.rule.model.points import Point

_SPARE = "ijlmrsuvwabcdefgh"


@dataclass(frozen=True)
class Prepared:
    """A model with its log joint, the latents that keep a q, and the points."""

    model: Model
    table: Table
    factors: tuple[Factor, ...]
    latents: tuple[Node, ...]
    points: tuple[Node, ...]

    @property
    def joint(self) -> Expression:
        """The log joint."""
        return add(*[f.total for f in self.factors])


def prepared(model: Model, point: Sequence[str] = ()) -> Prepared:
    """The log joint; `point` names latents that are points too."""
    free = [n for n in model.nodes if n.kind in ("latent", "param")]
    for name in point:
        if not any(name in (n.name, *n.names) for n in free):
            known = ", ".join(n.name for n in model.nodes if n.kind == "latent")
            raise refused(model, None, f"{name} is no latent node", f"the latents are {known}",
                          "name one of them in --point")  # fmt: skip
    points = tuple(n for n in free if n.kind == "param" or _named(n, point))
    latents = tuple(n for n in free if n not in points)
    for node in points:
        whole = [d for d in node.domains if d.kind in ("one-hot", "counts", "finite") or d.whole]
        if whole:
            raise refused(model, node, f"{node.name} cannot be a point",
                          "its values are discrete: a slope says nothing of them",
                          "leave it a latent node")  # fmt: skip
    return Prepared(model, table_of(model), log_joint(model), latents, points)


def _named(node: Node, names: Sequence[str]) -> bool:
    """Whether a node is meant: by its name, or by one of its variables."""
    return node.name in names or any(x in names for x in node.names)


def refused(model: Model, node: Node | None, text: str, why: str, instead: str = "") -> ModelError:
    """An algorithm that does not apply, at the node that stands in its way."""
    place = node.place if node is not None else Place()
    name = node.name if node is not None else ""
    mistake = Mistake("not-applicable", place.line, place.column, name, text, why, instead)
    return ModelError(model.path or model.name, (mistake,))


def divided_blocks(p: Prepared, groups: Sequence[Sequence[Node]]) -> tuple[Block, ...]:
    """Each group of nodes as a block, its coefficients in the other nodes."""
    return tuple(block_of(p.table, p.factors, group) for group in groups)


def expecting_of(blocks: Sequence[Block], groups: Sequence[Sequence[Node]]) -> Expecting:
    """What E_q of anything needs: all blocks divided."""
    variables = {
        b.name: tuple(v for n in g for v in n.names) for b, g in zip(blocks, groups, strict=True)
    }
    return expecting(blocks, variables)


def expected_blocks(blocks: Sequence[Block], q: Expecting) -> tuple[Block, ...]:
    """The blocks with the expectations of their coefficients under all others."""
    return tuple(replace(b, parts=with_expectations(b, q), measure=weighted(b, q)) for b in blocks)


def weighted(b: Block, q: Expecting) -> Expression:
    """How much an element counts: given labels, with their probability."""
    weights = [symbol(g.symbol, *g.places) for g in b.given]
    return multiplied(b.measure, *(q.of(w) for w in weights)) if weights else b.measure


def points_of(p: Prepared) -> tuple[Point, ...]:
    """The points' symbols at letters: one letter an axis, the same in all of them."""
    pool: dict[str, list[str]] = {}
    for plate in p.model.plates:
        pool.setdefault(p.table.letter(plate.letter).axis, []).append(plate.letter)
    spare = iter(x for x in _SPARE if x not in {y for names in pool.values() for y in names})
    found = []
    for node in p.points:
        for name, domain in zip(node.names, node.domains, strict=True):
            v = p.table.variables[name]
            used = [p.table.letter(x) for x in node.letters]
            for axis in v.shape:
                names = pool.setdefault(axis, [])
                letter = next((x for x in names if Index(axis, x) not in used), None)
                if letter is None:
                    letter = next(spare)
                    names.append(letter)
                used.append(Index(axis, letter))
            found.append(Point(v.symbol, tuple(used), domain.kind))
    return tuple(found)
