"""A model in which some latents have values: what rows are likely by."""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.algebra.indexed.build import add
from blrgen.read.model.values import Model
from blrgen.rule.model.exact import exact_blocks
from blrgen.rule.model.prepare import expected_blocks, expecting_of, prepared
from blrgen.rule.model.values import ModelDerivation, Update


def given_values(model: Model, names: Sequence[str]) -> ModelDerivation:
    """All other latents as exact blocks where these nodes have values: what rows are likely by.

    Refused where they are discrete, or where the others are in no family as a whole.
    """
    p = prepared(model, tuple(names))
    groups, blocks = exact_blocks(p, "em")
    q = expecting_of(blocks, groups)
    expected = tuple(q.of(f.total) for f in p.factors)
    return ModelDerivation(
        model, "em", p.factors, tuple(map(Update, expected_blocks(blocks, q))), (),
        tuple(part.statistic for b in blocks for part in b.parts),
        expected_joint=add(*expected), expected_factors=expected,
    )  # fmt: skip
