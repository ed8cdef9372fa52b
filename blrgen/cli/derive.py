"""Derive the learning rule of a candidate distribution, line by line.

Approximations are flags, applied in the order given; after a recipe they are
added to the recipe's own.

  blrgen derive gaussian-diag --delta
  blrgen derive adam --format latex
  blrgen derive lda.model --svi
"""

from __future__ import annotations

import argparse
import sys

from blrgen.cli.algorithms import add_algorithms, refuse_algorithms
from blrgen.cli.output import coloured, result
from blrgen.cli.parser import Parser, add_format
from blrgen.cli.what import add_what, derived
from blrgen.timing import timed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from blrgen.core import Derivation

FORMATS = ("text", "latex", "markdown", "html", "json")


def configure(parser: Parser) -> None:
    """WHAT, approximations and --format."""
    add_what(parser)
    add_algorithms(parser)
    add_format(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Print the derivation."""
    if options.what.endswith(".model"):
        from blrgen.cli.of_model import derive as derive_model

        return derive_model(options)
    refuse_algorithms(options)
    derivation = derived(options)
    if options.format == "json":
        from blrgen.identify import with_identified

        derivation = timed("identify", with_identified, derivation)
    from blrgen.show import render

    def page(d: Derivation) -> str:
        return render(d, options.format, colour=coloured(sys.stdout))

    result(timed(f"print {options.format}", page, derivation))
    return 0
