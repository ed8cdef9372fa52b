"""μ → λ on the command line: `--mean`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blrgen.show.geometry.numbers import digits
from blrgen.text.names import unicode_name
from blrgen.text.table import table


def render_inversion(geometry: Any, mean: Mapping[str, Any], format: str) -> tuple[str, bool]:
    """(the member with these mean parameters as text or JSON, whether it converged)."""
    from blrgen.geometry.invert import natural_of_mean
    from blrgen.geometry.working import working_values

    family = geometry.family
    names = {p.name for p in family.fixed}
    fixed = {k: v for k, v in mean.items() if k in names}
    found = natural_of_mean(geometry, {k: v for k, v in mean.items() if k not in names}, fixed)
    natural = {
        x.name: v for x, v in zip(geometry.natural, found.values, strict=bool(found.natural))
    }
    working = working_values(geometry, found.natural, fixed)
    data = {
        "name": family.name,
        "mean": {k: _plain(v) for k, v in mean.items()},
        "natural": natural,
        "working": working,
        "converged": found.converged,
        "iterations": found.iterations,
        "residual": found.residual,
        "reason": found.reason,
    }
    if format == "json":
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n", found.converged
    rows = [
        ("constant" if k in names else "mean", unicode_name(k), digits(_plain(v)))
        for k, v in mean.items()
    ]
    rows += [("natural", unicode_name(k), digits(v)) for k, v in natural.items()]
    rows += [("working", unicode_name(k), digits(v)) for k, v in working.items()]
    how = f"in {found.iterations} steps" if found.iterations else "in closed form"
    said = f"converged {how}" if found.converged else f"NOT CONVERGED: {found.reason}"
    rows.append(("search", said, f"residual {found.residual:.1g}"))
    return f"{family.title}\n{table(rows)}\n", found.converged


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, list) else float(value)
