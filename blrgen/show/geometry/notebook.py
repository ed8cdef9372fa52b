"""A geometry as a notebook shows it: the page as HTML, or its heart in one LaTeX display."""

from __future__ import annotations

from typing import Any

from blrgen.show.document import aligned
from blrgen.show.geometry.density import density
from blrgen.show.geometry.moments import moments
from blrgen.show.geometry.page import geometry_page
from blrgen.show.geometry.rows import Writer
from blrgen.show.html_page import fragment


def notebook_html(geometry: Any) -> str:
    """The page without the document around it."""
    return fragment(geometry_page(geometry))


def notebook_latex(geometry: Any) -> str:
    """Density, A, μ, F, 𝓗 and ∇_μ𝓗 in one display."""
    w = Writer(geometry)
    formulas = [f for row in (*density(w), *moments(w)) for f in row.formulas]
    return "$\\displaystyle\n" + aligned(formulas, geometry_page(geometry)) + "\n$"
