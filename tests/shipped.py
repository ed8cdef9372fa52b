"""What comes with blrgen, derived once in a process: geometries of families, rules of recipes.

What a geometry derives when it is asked for (divergences, the metric in every chart, …) it
keeps, so that whoever looks at the same family next does not wait for it again.
"""

from __future__ import annotations

from functools import cache

from blrgen import derive
from blrgen.core import Derivation
from blrgen.geometry import geometry_of
from blrgen.geometry.geometry import Geometry
from blrgen.read.family import read_family
from blrgen.read.recipe import read_recipes


@cache
def shipped(name: str) -> Geometry:
    """The geometry of a family by its name."""
    return geometry_of(read_family(name))


@cache
def derived(recipe: str) -> Derivation:
    """What a recipe derives."""
    return derive(recipe)


def recipes(*, matrices: bool) -> list[str]:
    """The recipes whose state has a matrix, or those that act element by element.

    Told by the family, so that nothing is derived where tests are collected.
    """
    known = sorted(read_recipes().items())
    return [x for x, r in known if read_family(r.family).variable.is_commutative != matrices]
