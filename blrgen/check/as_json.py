"""The findings as JSON: `blrgen.check/1`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from blrgen.check.finding import Finding

SCHEMA = "blrgen.check/1"


def as_data(what: str, findings: Iterable[Finding]) -> dict[str, Any]:
    """The keys of `check --format json`, in order."""
    found = list(findings)
    return {
        "schema": SCHEMA,
        "family": what,
        "passed": all(f.passed for f in found),
        "findings": [
            {
                "stage": f.stage,
                "status": f.status,
                "level": f.level,
                "text": f.text,
                "point": dict(f.point),
                "given": f.given,
                "should": f.should,
            }
            for f in found
        ],
    }


def as_json(what: str, findings: Iterable[Finding]) -> str:
    """The same as text."""
    return json.dumps(as_data(what, findings), ensure_ascii=False, indent=2)
