"""What `verify` found, as JSON: `blrgen.verdict/1`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict
from blrgen.validate.derivation import Report

SCHEMA = "blrgen.verdict/1"


def as_data(what: str, against: str, report: Report) -> dict[str, Any]:
    """The keys of `verify --format json`, in order."""
    rows = [(title, n, p) for title, v in report.parts for n, p in v.proofs]
    refuted = next((v for _, v in report.parts if v.refutation is not None), None)
    return {
        "schema": SCHEMA,
        "what": what,
        "against": against,
        "level": report.level,
        "exit_code": report.exit_code,
        "states": [_state(title, n, p) for title, n, p in rows],
        "counterexample": None if refuted is None else _counterexample(refuted),
        "not_compared": list(_not_compared(report)),
        "notes": [*report.notes, *(n for _, v in report.parts for n in v.notes)],
    }


def _state(title: str, name: str, p: Proof) -> dict[str, Any]:
    how = p.bound or p.detail
    return {"name": name, "level": p.level, "how": how, "sizes": p.sizes, "part": title}


def _counterexample(verdict: Verdict) -> dict[str, Any]:
    """The point, both values there, and the first line that differs."""
    p = verdict.refutation
    assert p is not None
    line = {"number": verdict.line, "text": verdict.source, "repair": verdict.repair}
    return {
        "point": dict(p.point),
        "given": None if p.left is None else str(p.left),
        "rule": None if p.right is None else str(p.right),
        "line": line if verdict.line else None,
    }


def _not_compared(report: Report) -> Iterator[dict[str, Any]]:
    """Each construct without a meaning once, and whatever else was not compared."""
    seen = set()
    for _, verdict in report.parts:
        for name, p in verdict.proofs:
            key = (p.line, p.construct, p.detail)
            if p.level == NOT_COMPARED and key not in seen:
                seen.add(key)
                yield {"line": p.line or None, "construct": p.construct or name, "why": p.detail}
        for name in verdict.left_out:
            yield {"line": None, "construct": name, "why": "the code has no argument for it"}
