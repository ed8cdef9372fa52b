"""The last step: sizes that were found are put in, chains are recognised."""

from __future__ import annotations

from dataclasses import replace

from blrgen.read.model.scope import Scope
from blrgen.read.model.values import (
    Chain,
    Letter,
    Literal,
    Model,
    Node,
)
from blrgen.read.model.walk import refs


def settle(model: Model, scope: Scope) -> Model:
    """The model with every size what it is, and with its chains."""
    model = replace(
        model, plates=scope.sizes.settled(model.plates),
        constants=scope.sizes.settled(model.constants),
        nodes=tuple(_chained(n) for n in scope.sizes.settled(model.nodes)),
    )  # fmt: skip
    for node in model.nodes if not scope.mistakes.found else ():  # else it may follow from one
        if any(scope.sizes.open(shape) for shape in node.shapes):
            scope.mistakes.note(
                "size", node.place, f"nothing says the size of {node.name}",
                instead="name it in an argument: zeros(p), or R^p of a constant", node=node.name,
            )  # fmt: skip
    return model


def _chained(node: Node) -> Node:
    """A node whose statement refers to earlier elements of its own."""
    lags: dict[str, set[int]] = {}
    for statement in node.statements:
        for ref in refs(statement.made):
            if ref.name not in node.names:
                continue
            for letter, index in zip(node.letters, ref.indices, strict=False):
                if isinstance(index, Letter) and index.name == letter and index.shift < 0:
                    lags.setdefault(letter, set()).add(-index.shift)
    if not lags:
        return node
    letter = min(lags, key=node.letters.index)
    axis = node.letters.index(letter)
    starts = sum(isinstance(s.indices[axis], Literal) for s in node.statements)
    return replace(node, chain=Chain(letter, axis, tuple(sorted(lags[letter])), starts))
