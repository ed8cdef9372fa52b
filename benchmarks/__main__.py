"""Time emitted code against public packages, hand-written kernels and memory, in one run.

Without WHAT: everything, held to the goals; a table, and JSON and a picture in
build/bench. Every case runs in turns with its peers in a process of its own with
1 and with 2 threads, under a tuned allocator for all
(GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=17179869184).
The best round counts. Exit code 1 when a goal is missed.

  python -m benchmarks adam ivon --size 1000000
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks import growth, report
from benchmarks.cases import DTYPES
from benchmarks.growth_picture import picture
from benchmarks.machine import cpus
from benchmarks.measure import measure
from benchmarks.peers import missing
from benchmarks.suite import Settings
from blrgen.cli.output import note, prepare_streams, result
from blrgen.cli.output import report as say
from blrgen.cli.parser import HelpShown, Parser
from blrgen.cli.progress import Progress
from blrgen.errors import UserError
from blrgen.text.table import table

NAME = "python -m benchmarks"
OUT = "build/bench"


def main(words: list[str] | None = None) -> int:
    """Run one command line and return its exit code; a mistake in it is said, as by blrgen."""
    prepare_streams()
    parser = Parser(NAME, __doc__, usage=f"{NAME} [WHAT ...] [options]")
    configure(parser)
    try:
        return run(parser.read(sys.argv[1:] if words is None else words))
    except HelpShown:
        return 0
    except UserError as mistake:
        say(mistake.render())
        return mistake.exit_code


def configure(parser: Parser) -> None:
    """What, how large, how long, and where to."""
    parser.add_argument("what", nargs="*", metavar="WHAT", help="recipes, normals, signs")
    parser.add_argument("--size", action="append", default=[], metavar="N", help="may be repeated")
    parser.add_argument(
        "--dtype", action="append", default=[], metavar="T", help="float32, float64"
    )
    parser.add_argument(
        "--threads", action="append", default=[], metavar="N", help="1 and 2 if absent"
    )
    parser.add_argument("--rounds", default="", metavar="N", help="as time allows if absent")
    parser.add_argument("--quick", action="store_true", help="small sizes, at most a minute")
    parser.add_argument("--growth", action="store_true", help="cost against size instead")
    parser.add_argument("--out", default="", metavar="DIR", help="JSON and pictures there")


def run(options: argparse.Namespace) -> int:
    """Measure, print the table, save it; 1 when a goal is missed."""
    threads = [whole(s, "--threads", len(cpus())) for s in options.threads]
    settings = Settings(
        what=tuple(options.what),
        sizes=tuple(whole(s, "--size", 10**9) for s in options.size),
        dtypes=tuple(_among(s, DTYPES, "--dtype") for s in options.dtype),
        threads=tuple(dict.fromkeys(threads)) or tuple(x for x in (1, 2) if x <= len(cpus())),
        quick=options.quick,
    )
    rounds = whole(options.rounds, "--rounds", 10_000) if options.rounds else 0
    for name in missing():
        note(f"{name} is not installed here")
    if options.growth:
        return _grown(settings, options.out or OUT)
    return _measured(settings, rounds, options.out or ("" if options.what else OUT))


def _measured(settings: Settings, rounds: int, out: str) -> int:
    with Progress() as progress:
        made = measure(settings, rounds, progress.say)
    result(table([report.cells(r) for r in made.rows], report.HEADINGS))
    result("\n" + report.summary(made.rows))
    if out:
        for path in made.save(Path(out)):
            note(f"wrote {path}")
    return 1 if report.failed(made.rows) else 0


def _grown(settings: Settings, out: str) -> int:
    with Progress() as progress:
        made = growth.growth(settings.threads, progress.say, settings.what)
    for plot in made["plots"]:
        result(table(*growth.table(plot)) + "\n")
    folder = Path(out)
    for path in (report.save(folder, made, "growth.json"), *picture(folder, made)):
        note(f"wrote {path}")
    return 0


def whole(text: str, flag: str, largest: int) -> int:
    """A positive whole number that is not too large."""
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
    if not 1 <= number <= largest:
        raise UserError(f"{flag} {text!r} is not a whole number from 1 to {largest}", where=NAME)
    return number


def _among(text: str, known: tuple[str, ...], flag: str) -> str:
    if text not in known:
        raise UserError(f"{flag} {text!r} is none of {', '.join(known)}", where=NAME)
    return text


if __name__ == "__main__":
    sys.exit(main())
