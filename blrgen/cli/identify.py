"""Name the known algorithm that this derivation is, or the nearest one and what is missing.

blrgen identify gaussian-diag --delta --stochastic --hessian squared-gradient
"""

from __future__ import annotations

import argparse

from blrgen.cli.output import result
from blrgen.cli.parser import Parser
from blrgen.cli.what import add_what, derived
from blrgen.timing import timed


def configure(parser: Parser) -> None:
    """WHAT and approximations."""
    add_what(parser)


def run(options: argparse.Namespace) -> int:
    """Print the name and the map, or what to add or drop."""
    derivation = derived(options)
    from blrgen.identify import identify

    result(str(timed("identify", identify, derivation)))
    return 0
