"""What is said of a model: its statements, its graph, or its mistakes as JSON."""

from __future__ import annotations

from typing import Any

from blrgen.read.model.mistakes import Mistake
from blrgen.read.model.outline import edges, family_of
from blrgen.read.model.ranges import Finding
from blrgen.read.model.spell import lines
from blrgen.read.model.values import Model

SCHEMA = "blrgen.model-check/1"


def checked_json(
    name: str, mistakes: tuple[Mistake, ...], findings: tuple[Finding, ...]
) -> dict[str, Any]:
    """The contract's keys, in order."""
    return {
        "schema": SCHEMA,
        "model": name,
        "passed": not mistakes,
        "errors": [
            {
                "kind": m.kind, "line": m.line, "column": m.column, "node": m.node,
                "text": m.text, "why": m.why, "instead": m.instead,
            }
            for m in mistakes
        ],
        "findings": [{"kind": f.kind, "node": f.node, "text": f.text} for f in findings],
    }  # fmt: skip


def checked_text(model: Model, findings: tuple[Finding, ...]) -> str:
    """Every statement as it was understood, and what the caller gives."""
    said = [text for _, text in lines(model)]
    rows = [f"ok  {model.name}", "", *(f"    {text}" for text in said), "", *_given(model)]
    rows += [f" -  {f.node}: {f.text}" if f.node else f" -  {f.text}" for f in findings]
    return "\n".join(rows)


def _given(model: Model) -> list[str]:
    """What comes from outside, and what is found."""
    data = [name for n in model.nodes if n.kind == "observed" for name in n.names]
    needed = [c.name for c in model.constants if c.default is None]
    kept = [c.name for c in model.constants if c.default is not None]
    found = [n.name for n in model.nodes if n.kind == "latent"]
    points = [n.name for n in model.nodes if n.kind == "param"]
    rows = (
        ("data", data), ("constants", needed), ("with a default", kept), ("sizes", model.sizes),
        ("latent", found), ("points", points),
    )  # fmt: skip
    return [f"    {label:14} {', '.join(names)}" for label, names in rows if names]


def outline_text(model: Model) -> str:
    """The graph: nodes with plates and families, edges."""
    rows = [f"model {model.name}", "", "Nodes"]
    names = [f"{n.name}[{','.join(n.letters)}]" if n.letters else n.name for n in model.nodes]
    width = max((len(n) for n in names), default=0)
    for name, node in zip(names, model.nodes, strict=True):
        shapes = " and ".join(_shape(s) for s in node.shapes)
        rows.append(f"  {name:{width}}  {node.kind:13}  {shapes:18}  {family_of(node)}".rstrip())
    rows += ["", "Edges"]
    rows += [f"  {e['parent']} → {e['child']}" for e in edges(model)]
    rows += ["", "Statements", *(f"  {text}" for _, text in lines(model))]
    return "\n".join(rows)


def _shape(shape: tuple[Any, ...]) -> str:
    return "number" if not shape else " × ".join(map(str, shape))
