"""Show a family's geometry: log-partition, mean, Fisher matrix, entropy, and how each is known.

With --at, its numbers at a point, also where there is no closed form.

  blrgen show gaussian
  blrgen show gaussian --format json --at eta1=0.3,eta2=-2
"""

from __future__ import annotations

import argparse
import sys

from blrgen.cli.output import coloured, result
from blrgen.cli.parser import OneOf, Parser, columns
from blrgen.cli.point import point

FORMATS = ("text", "latex", "markdown", "html", "json")


def configure(parser: Parser) -> None:
    """FAMILY, --format and --at."""
    parser.add_argument("family", metavar="FAMILY", help="a family or a path to a family file")
    parser.add_argument("--format", action=OneOf, values=FORMATS, default="text")
    parser.add_argument(
        "--at",
        default="",
        metavar="NAME=VALUE,...",
        help="natural (or working) parameters and known constants, for numbers there",
    )


def run(options: argparse.Namespace) -> int:
    """Print the geometry."""
    at = point(options.at)
    colour = coloured(sys.stdout)

    def page() -> str:
        from blrgen.geometry import geometry_of
        from blrgen.read.family import read_family
        from blrgen.show import render_geometry

        geometry = geometry_of(read_family(options.family))
        return render_geometry(geometry, options.format, at=at, colour=colour)

    declaration = self_contained(options.family)
    if declaration is None:
        result(page())
        return 0
    from blrgen.cache import remembered

    look = f"{options.format} {colour} {columns()} {sorted(map(str, at.items()))}"
    result(str(remembered("show", (options.family, declaration, look), page)))
    return 0


def self_contained(family: str) -> bytes | None:
    """The bytes that a page depends on besides the engine; None where they refer to others."""
    from blrgen.read.family import find_family

    if "*" in family and not family.endswith(".toml"):
        return b""  # a product of families that come with blrgen
    try:
        data = find_family(family).read_bytes()
    except OSError:
        return None
    return None if b"product" in data else data
