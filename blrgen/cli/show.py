"""Show a family's geometry: log-partition, mean, Fisher matrix, entropy, and how each is known.

With --at, its numbers at a point, also where there is no known closed form; with --mean, the
member that has these mean parameters (exit code 3 when the search did not converge).

  blrgen show gaussian
  blrgen show gaussian --format json --at eta1=0.3,eta2=-2
  blrgen show gaussian --mean mu1=0.5,mu2=2
"""

from __future__ import annotations

import argparse
import sys

from blrgen.cli.output import coloured, result
from blrgen.cli.parser import Parser, add_format, columns
from blrgen.cli.point import point
from blrgen.errors import UserError
from blrgen.timing import timed

FORMATS = ("text", "latex", "markdown", "html", "json")


def configure(parser: Parser) -> None:
    """FAMILY, --format and --at."""
    parser.add_argument("family", metavar="FAMILY", help="a family or a path to a family file")
    add_format(parser, FORMATS)
    parser.add_argument(
        "--at",
        default="",
        metavar="NAME=VALUE,...",
        help="natural (or working) parameters and known constants, for numbers there",
    )
    parser.add_argument(
        "--mean",
        default="",
        metavar="NAME=VALUE,...",
        help="mean parameters (and known constants): the member that has them",
    )


def run(options: argparse.Namespace) -> int:
    """Print the geometry."""
    at = point(options.at)
    if options.mean:
        return inverted(options)
    colour = coloured(sys.stdout)

    def page() -> str:
        from blrgen.geometry import geometry_of
        from blrgen.read.family import read_family
        from blrgen.show import render_geometry

        geometry = timed(
            "geometry", geometry_of, timed("read the family", read_family, options.family)
        )
        return timed(
            f"print {options.format}",
            lambda g: render_geometry(g, options.format, at=at, colour=colour),
            geometry,
        )

    declaration = self_contained(options.family)
    if declaration is None:
        result(page())
        return 0
    from blrgen.cache import remembered

    look = f"{options.format} {colour} {columns()} {sorted(map(str, at.items()))}"
    result(str(remembered("show", (options.family, declaration, look), page)))
    return 0


def inverted(options: argparse.Namespace) -> int:
    """Print the member with these mean parameters; 3 when Newton's method did not converge."""
    if options.at or options.format not in ("text", "json"):
        raise UserError(
            "--mean has no page of its own", how="give it alone, with --format text or json"
        )
    mean = point(options.mean, "--mean", exact=True)
    from blrgen.geometry import geometry_of
    from blrgen.read.family import read_family
    from blrgen.show.geometry.inversion import render_inversion

    text, converged = render_inversion(
        geometry_of(read_family(options.family)), mean, options.format
    )
    result(text)
    return 0 if converged else 3


def self_contained(family: str) -> bytes | None:
    """The bytes that a page depends on besides the engine; None where they refer to others."""
    from blrgen.limits import FAMILY_BYTES
    from blrgen.paths import text_of
    from blrgen.read.family import find_family

    if "*" in family and not family.endswith(".toml"):
        return b""  # a product of families that come with blrgen
    try:
        data = text_of(find_family(family), FAMILY_BYTES).encode()
    except UserError:
        return None
    return None if b"product" in data else data
