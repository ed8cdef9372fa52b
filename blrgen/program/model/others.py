"""Algorithms without a step of all blocks: draws of each block, filters element by element."""

from __future__ import annotations

from blrgen.program.model.blocks import member_of
from blrgen.program.model.filtering import filtered
from blrgen.program.model.gibbs import gibbs
from blrgen.program.model.titles import TITLES, equations, title_of
from blrgen.program.model.values import ModelProgram
from blrgen.rule.model.values import ModelDerivation


def by_draws(d: ModelDerivation, name: str) -> ModelProgram:
    """Values in place of parameters: every block drawn."""
    return gibbs(d, name, lambda block: member_of(d.model, block), title_of(d), equations(d))


def by_element(d: ModelDerivation, name: str) -> ModelProgram:
    """The programs of a filter: a step takes one element of the chain."""
    given, blocks, steps = filtered(d)
    return ModelProgram(
        name=name, algorithm=d.algorithm, title=f"The model {d.model.name}, {TITLES[d.algorithm]}.",
        equations=equations(d), arguments=given.arguments, sizes=given.sizes, variables=(),
        sweep=steps.later, posteriors=steps.posteriors, optional=given.optional,
        lengths=tuple(given.lengths), stacks=tuple(s for b in blocks for s in b.stacks),
        filter=steps,
    )  # fmt: skip
