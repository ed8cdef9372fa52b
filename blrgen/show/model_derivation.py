"""A model's algorithm as JSON; its page of text is in `model_page`."""

from __future__ import annotations

from typing import Any

from blrgen.expect.sites.values import Site
from blrgen.read.model.outline import outline
from blrgen.rule.model.lines import (
    lines_of,
    natural_name,
    objective_terms,
    places,
    said,
    site_equations,
    system_text,
)
from blrgen.rule.model.values import ModelDerivation, PointUpdate, Update


def derivation_json(d: ModelDerivation) -> dict[str, Any]:
    """The contract's keys, in order."""
    page = outline(d.model)
    known = {(e.parent, e.child): e for e in d.edges}
    edges = []
    for e in page["edges"]:
        found = known.get((e["parent"], e["child"]))
        edges.append({**e, "conjugate": found is None or found.conjugate,
                      "term": found.term if found is not None else ""})  # fmt: skip
    sites = [_site(d, s) for s in d.sites]
    return page | ({"expectations": sites} if sites else {}) | {
        "algorithm": d.algorithm,
        "edges": edges,
        "blocks": [*(_block(d, u) for u in d.updates), *(_point(d, u) for u in d.points)],
        "schedule": [*d.schedule, *(",".join(u.names) for u in d.points)],
        "objective": [{"term": t, "expression": e} for t, e in objective_terms(d)],
        "approximations": [
            {"name": c.name, "nodes": list(c.nodes), "reason": c.reason,
             "condition": c.condition, "source": c.source}
            for c in d.choices
        ],
        "steps": [
            {"id": x.id, "title": x.title, "equation": x.equation, "latex": "",
             "because": x.because, "space": "natural", "approximation": x.approximation}
            for x in lines_of(d)
        ],
    }  # fmt: skip


def _block(d: ModelDerivation, u: Update) -> dict[str, Any]:
    update = [[natural_name(d, u.block, p), said(d, p.expected)] for p in u.block.parts]
    return {"nodes": list(u.block.nodes), "family": u.block.family, "kind": u.block.kind,
            "rate": u.rate or "1", "update": update}  # fmt: skip


def _site(d: ModelDerivation, s: Site) -> dict[str, Any]:
    """A function that is no statistic, and the route by which its expectation is found."""
    equations = [list(pair) for pair in site_equations(d, s)]
    return {"name": s.name, "nodes": list(s.nodes), "child": s.child, "of": said(d, s.value),
            "route": s.route, "because": s.because, "equations": equations}  # fmt: skip


def _point(d: ModelDerivation, u: PointUpdate) -> dict[str, Any]:
    update = [[f"{e.target}{places(e.places)}", said(d, e.value)] for e in u.equations]
    if u.system is not None:
        update = [[x.name, text] for x, text in
                  zip(u.system.unknowns, system_text(d, u), strict=True)]  # fmt: skip
    if u.stationary is not None:
        update = [[x.name, f"0 = {said(d, g)}"] for x, g in
                  zip(u.stationary.unknowns, u.stationary.slope, strict=True)]  # fmt: skip
    return {"nodes": list(u.names), "family": "", "kind": f"point: {u.mode}", "rate": "1",
            "update": update}  # fmt: skip
