"""A model's algorithm as a page of text, and as JSON."""

from __future__ import annotations

from typing import Any

from blrgen.read.model.outline import outline
from blrgen.rule.model.lines import (
    lines_of,
    natural_name,
    objective_terms,
    places,
    said,
    statistic_text,
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
    return page | {
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


def derivation_text(d: ModelDerivation) -> str:
    """The whole page: log joint, choices, blocks, points, objective, edges."""
    rows = [f"{d.model.name} --{d.algorithm}", ""]
    rows += ["The log joint", *(f"  log p({f.node}) = {said(d, f.total)}" for f in d.factors)]
    rows += ["", "What is chosen"]
    for c in d.choices:
        rows += [f"  {c.name}: {', '.join(c.nodes)}", f"      {c.reason}",
                 f"      if {c.condition} ({c.source})"]  # fmt: skip
    for k, u in enumerate(d.updates, 1):
        rows += ["", *_block_text(d, u, k)]
    if d.sums:
        kept = f", each averaged over steps by {d.rate}" if d.rate else ", found before the points"
        rows += ["", f"Expected statistics{kept}"]
        rows += [f"     {e.target}{places(e.places)} = {said(d, e.value)}" for e in d.sums]
    for u2 in d.points:
        rows += ["", *_point_text(d, u2)]
    rows += ["", "The objective, with every constant"]
    rows += [f"  {t} = {e}" for t, e in objective_terms(d)]
    rows += ["", "Edges"]
    for e in d.edges:
        rows.append(f"  {e.parent} → {e.child}  {'conjugate' if e.conjugate else e.term}")
    return "\n".join(rows)


def _block_text(d: ModelDerivation, u: Update, k: int) -> list[str]:
    """A block: full conditional, then the update."""
    b = u.block
    plates = f"[{','.join(b.letters)}]" if b.letters and len(b.nodes) == 1 else ""
    first = next(x for x in lines_of(d) if x.id == f"conditional-{b.name}")
    rows = [f"{k}. {b.name}{plates}, {first.because}", "   full conditional, the coefficients of"]
    for p in b.parts:
        what = statistic_text(d, p.statistic)
        rows.append(f"     {what}:  {said(d, p.coefficient)}")
    rows.append(f"   update, {'rho = ' + u.rate if u.rate else 'rho = 1'}"
                f"{', to its fixed point within a step' if u.local else ''}")  # fmt: skip
    for p in b.parts:
        rows.append(f"     {natural_name(d, b, p)} = {said(d, p.expected)}")
    if u.rate:
        rows.append(f"     each mixed with the old one by {u.rate}, sums over {u.scaled} "
                    f"{u.scaled}/M times")  # fmt: skip
    return rows


def _point_text(d: ModelDerivation, u: PointUpdate) -> list[str]:
    rows = [f"{' and '.join(u.names)}, points: {u.because}"]
    found = _point(d, u)["update"]
    if u.mode == "closed":
        return rows + [f"     {name} = {e}" for name, e in found]
    return rows + [f"     {e}" for _, e in found]
