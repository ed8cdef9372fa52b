"""A geometry that prints itself, at a prompt and in a notebook."""

from __future__ import annotations

from dataclasses import dataclass, fields

from blrgen.geometry import geometry, product
from blrgen.show.geometry import render_geometry
from blrgen.show.geometry.notebook import notebook_html, notebook_latex


class Shown:
    """The page in the format that whoever shows it asks for."""

    def __str__(self) -> str:
        return str(render_geometry(self, "text"))

    def _repr_markdown_(self) -> str:
        return str(render_geometry(self, "markdown"))

    def _repr_html_(self) -> str:
        return str(notebook_html(self))

    def _repr_latex_(self) -> str:
        return str(notebook_latex(self))


@dataclass(frozen=True, eq=False, repr=False)
class Geometry(Shown, geometry.Geometry):
    """The geometry of a family, shown as its page."""


@dataclass(frozen=True, eq=False, repr=False)
class Product(Shown, product.Product):
    """The geometry of a product of families, shown as its page."""


def shown(g: geometry.Geometry) -> geometry.Geometry:
    """The same geometry, printing itself."""
    kind = Product if isinstance(g, product.Product) else Geometry
    return kind(**{f.name: getattr(g, f.name) for f in fields(g)})
