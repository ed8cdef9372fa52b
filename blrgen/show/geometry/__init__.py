"""A family's geometry: `blrgen show FAMILY`, as a page in any format or JSON by the contract.

| module | what it does |
|---|---|
| `arrays` | Numbers at a point for families of vectors and matrices |
| `as_json` | `show --format json`: the keys of docs/json.md, in order |
| `charts` | Working parameters: the chart both ways, the metric in it, the natural gradient |
| `conjugate` | The family as a likelihood: conjugate prior, its update, predictive density |
| `density` | The density: statistics, base measure, log-partition |
| `divergences` | Between two members of the family: KL, cross-entropy, Rényi |
| `inversion` | μ → λ on the command line: `--mean` |
| `likelihood` | Maximum likelihood as a moment match, and how to sample |
| `moments` | What follows from A by differentiation: mean, Fisher matrix |
| `notebook` | A geometry as a notebook shows it: the page as HTML |
| `numbers` | The geometry's numbers at a point: `--at` |
| `page` | The sections gathered into one page, for any format |
| `rows` | What every section of the page is made of: rows, equations, and how names read in them |
| `shown` | A geometry that prints itself, at a prompt and in a notebook |

One module a section (`density`, `moments`, `charts`, `divergences`, `conjugate`,
`likelihood`, `numbers`); `page` puts them in order, `as_json` is the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blrgen.show.derivation import lay_out
from blrgen.show.geometry.as_json import SCHEMA, geometry_data
from blrgen.show.geometry.notebook import notebook_html, notebook_latex
from blrgen.show.geometry.numbers import numbers_at
from blrgen.show.geometry.page import geometry_page

__all__ = [
    "SCHEMA", "geometry_data", "geometry_page", "notebook_html", "notebook_latex", "numbers_at",
    "render_geometry",
]  # fmt: skip


def render_geometry(
    geometry: Any,
    format: str = "text",
    *,
    at: Mapping[str, float] | None = None,
    columns: int | None = None,
    colour: bool = False,
) -> str:
    """The geometry as text, LaTeX, Markdown, HTML or JSON; `at` adds numbers at a point."""
    numbers = numbers_at(geometry, at) if at else None
    if format == "json":
        data = geometry_data(geometry)
        if numbers is not None:
            data["at"] = numbers
        return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
    return lay_out(geometry_page(geometry, at, numbers), format, columns, colour)
