"""Derive the learning rule of a candidate distribution, line by line.

Approximations are flags, applied in the order given; after a recipe they are
added to the recipe's own.

  blrgen derive gaussian-diag --delta
  blrgen derive adam --format latex
"""

from __future__ import annotations

import argparse
import sys

from blrgen.cli.output import coloured, result
from blrgen.cli.parser import OneOf, Parser
from blrgen.cli.what import add_what, derived

FORMATS = ("text", "latex", "markdown", "html", "json")


def configure(parser: Parser) -> None:
    """WHAT, approximations and --format."""
    add_what(parser)
    parser.add_argument(
        "--format", action=OneOf, values=FORMATS, default="text", help="text if absent"
    )


def run(options: argparse.Namespace) -> int:
    """Print the derivation."""
    derivation = derived(options)
    if options.format == "json":
        from blrgen.identify import with_identified

        derivation = with_identified(derivation)
    from blrgen.show import render

    result(render(derivation, options.format, colour=coloured(sys.stdout)))
    return 0
