"""The geometries of the families that come with blrgen, derived once in a process.

What a geometry derives when it is asked for (divergences, the metric in every chart, …) it
keeps, so that whoever looks at the same family next does not wait for it again.
"""

from __future__ import annotations

from functools import cache

from blrgen.geometry import geometry_of
from blrgen.geometry.geometry import Geometry
from blrgen.read.family import read_family


@cache
def shipped(name: str) -> Geometry:
    """The geometry of a family by its name."""
    return geometry_of(read_family(name))
