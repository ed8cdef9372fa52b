"""A family's geometry: `blrgen show FAMILY`, as a page in any format or JSON by the contract.

One module a section (`density`, `moments`, `charts`, `divergences`, `conjugate`,
`likelihood`, `numbers`); `page` puts them in order, `data` is the JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from blrgen.show.derivation import lay_out
from blrgen.show.geometry.data import SCHEMA, geometry_data
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
