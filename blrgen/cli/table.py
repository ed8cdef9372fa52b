"""Print Table 1 of the paper: candidate, approximations, and how far each row is shown.

Every row is derived, proved, emitted and compared live; rows that need what is
not there yet say so.
"""

from __future__ import annotations

import argparse

from blrgen.cli.output import result
from blrgen.cli.parser import Parser


def configure(parser: Parser) -> None:
    """No options."""


def run(options: argparse.Namespace) -> int:
    """Compute and print the table."""
    from blrgen.table import table

    result(table())
    return 0
