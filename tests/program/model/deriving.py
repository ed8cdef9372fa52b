"""Derivations of small models by hand-picked blocks, as far as lowering looks at them."""

from blrgen.algebra.indexed.build import add
from blrgen.expect.blocks.block import block_of
from blrgen.expect.blocks.expectation import expecting, with_expectations
from blrgen.expect.factors.joint import log_joint
from blrgen.expect.factors.names import table_of
from blrgen.read.model.reader import read_model
from blrgen.rule.model.values import ModelDerivation, Update


def derived(text, algorithm, schedule=None, points=()):
    """Mean field over the latents in a schedule, by default in reverse order of the text."""
    from dataclasses import replace

    model = read_model(text, "small")
    table, factors = table_of(model), log_joint(model)
    nodes = [n for n in model.nodes if n.kind == "latent"]
    blocks = [block_of(table, factors, [n]) for n in nodes]
    q = expecting(blocks, {b.name: model.node(b.name).names for b in blocks})
    blocks = [replace(b, parts=with_expectations(b, q)) for b in blocks]
    order = schedule or [b.name for b in blocks][::-1]
    updates = tuple(Update(b) for x in order for b in blocks if b.name == x)
    joint = q.of(add(*[f.total for f in factors]))
    return ModelDerivation(model, algorithm, factors, updates, points, (), joint)
