"""A model's graph as plain data: plates, constants, data, nodes, edges."""

from __future__ import annotations

from typing import Any

from blrgen.read.model.graph import parents_of
from blrgen.read.model.spell import spelled
from blrgen.read.model.values import Choose, Draw, Model, Node, Statement

SCHEMA = "blrgen.model-derivation/1"


def outline(model: Model) -> dict[str, Any]:
    """The keys of a derivation that the graph alone says."""
    names = {c.name for c in model.constants}
    return {
        "schema": SCHEMA,
        "model": model.name,
        "algorithm": None,
        "plates": [
            {
                "name": p.letter, "index": p.letter, "size": str(p.size),
                "ragged": bool(p.size.per),
                "times": spelled(p.times) if p.times is not None else None,
            }
            for p in model.plates
        ],
        "constants": [c.name for c in model.constants],
        "data": [name for n in model.nodes if n.kind == "observed" for name in n.names],
        "nodes": [_node(n, names) for n in model.nodes],
        "edges": edges(model),
    }  # fmt: skip


def _node(node: Node, constants: set[str]) -> dict[str, Any]:
    shapes = [[str(s) for s in shape] for shape in node.shapes]
    return {
        "name": node.name,
        "kind": node.kind,
        "plates": list(node.letters),
        "shape": shapes[0] if len(shapes) == 1 else shapes,
        "family": family_of(node),
        "parents": [p for p in parents_of(node) if p not in constants],
    }


def family_of(node: Node) -> str:
    """The family of the statement that holds for most elements; those of a choice by commas."""
    if not node.statements or node.kind == "deterministic":
        return ""
    made = max(node.statements, key=_generality).made
    if isinstance(made, Choose):
        return ",".join(b.family if isinstance(b, Draw) else "point" for b in made.branches)
    return made.family if isinstance(made, Draw) else ""


def _generality(statement: Statement) -> int:
    return statement.first


def edges(model: Model) -> list[dict[str, Any]]:
    """Parent → child between nodes; of two variables of one density, the node."""
    owner = {name: n.name for n in model.nodes for name in n.names}
    found = []
    for node in model.nodes:
        parents = dict.fromkeys(owner[p] for p in parents_of(node) if p in owner)
        if node.chain is not None:
            parents |= {node.name: None}
        found += [{"parent": p, "child": node.name} for p in parents]
    return found
