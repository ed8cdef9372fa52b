"""Print Table 1 of the paper: candidate, approximations, and how far each row is shown.

Every row is derived, proved, emitted and compared live; rows that need what is
not there yet say so.
"""

from __future__ import annotations

import argparse

from blrgen.cli.output import note, result, result_as_json
from blrgen.cli.parser import Parser, add_format


def configure(parser: Parser) -> None:
    """--format."""
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    """Compute and print the table."""
    from blrgen import table

    found = table.computed(lambda name: note(f"  {name} …"))
    if options.format == "json":
        result_as_json(table.as_data(found))
    else:
        result(table.as_text(found))
    return 0
