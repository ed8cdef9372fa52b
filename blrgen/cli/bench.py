"""Time emitted optimizers against the installed public ones, in one run.

Each is stepped on the same gradients in turn, round after round, and the best
round of each counts.  The emitted NumPy form is always there to compare with;
torch, optax and ivon-opt where they are installed.  Large temporaries cost the public
ones page faults; for their best, set GLIBC_TUNABLES as the note says.

  blrgen bench adam ivon --size 1000000
"""

from __future__ import annotations

import argparse
import os

from blrgen.cli.output import note, result
from blrgen.cli.parser import Parser
from blrgen.errors import UserError

# glibc gives large blocks back at once by default, so that every temporary faults its pages in
TUNABLES = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184"
SIZES = (10_000, 1_000_000)


def configure(parser: Parser) -> None:
    """Recipes, --size and --rounds."""
    parser.add_argument(
        "what", nargs="*", metavar="WHAT", help="recipes; all with a peer if absent"
    )
    parser.add_argument("--size", action="append", default=[], metavar="N", help="may be repeated")
    parser.add_argument("--rounds", default="7", metavar="N", help="%(default)s if absent")


def run(options: argparse.Namespace) -> int:
    """Measure and print one line for each pair."""
    sizes = [whole(s, "--size", 10**9) for s in options.size] or list(SIZES)
    rounds = whole(options.rounds, "--rounds", 10_000)
    from blrgen.bench import HEADINGS, lines, missing

    for name in missing():
        note(f"{name} is not installed here")
    if "GLIBC_TUNABLES" not in os.environ:
        note(f"with large arrays, compare under GLIBC_TUNABLES={TUNABLES}")
    from blrgen.show.table import table

    result(table(list(lines(options.what, sizes, rounds)), HEADINGS))
    return 0


def whole(text: str, flag: str, largest: int) -> int:
    """A positive whole number that is not too large."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    if not 1 <= number <= largest:
        raise UserError(
            f"{flag} {text!r} is not a whole number from 1 to {largest}", where="blrgen bench"
        )
    return number
