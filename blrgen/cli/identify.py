"""Name the known algorithm that this derivation is, or the nearest one and what is missing.

blrgen identify gaussian-diag --delta --stochastic --hessian squared-gradient
"""

from __future__ import annotations

import argparse

from blrgen.cli.output import result, result_as_json
from blrgen.cli.parser import Parser, add_format
from blrgen.cli.what import add_what, derived
from blrgen.timing import timed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from blrgen.identify import Identification

SCHEMA = "blrgen.identification/1"


def configure(parser: Parser) -> None:
    """WHAT, approximations and --format."""
    add_what(parser)
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    """Print the name and the map, or what to add or drop."""
    derivation = derived(options)
    from blrgen.identify import identify

    found = timed("identify", identify, derivation)
    if options.format == "json":
        result_as_json(as_data(found))
    else:
        result(str(found))
    return 0


def as_data(found: Identification) -> dict[str, object]:
    """The keys of docs/json.md."""
    return {
        "schema": SCHEMA,
        "exact": [
            {"name": m.name, "level": m.level, "map": dict((*m.states, *m.hyper)), "note": m.note}
            for m in found.matches
        ],
        "nearest": [
            {"name": name, "add": list(add), "drop": list(drop)}
            for name, add, drop in found.nearest
        ],
    }
