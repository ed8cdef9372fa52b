"""Find the command, run it, and turn what happens into an exit code.

0 done (proved) · 1 refuted · 2 a mistake in what was asked · 3 only numerically
confirmed · 70 a bug in blrgen · 130 interrupted · 141 the reader went away.
"""

from __future__ import annotations

import os
import sys

from blrgen.cli.output import flush, note, prepare_streams, report, result
from blrgen.errors import UserError, did_you_mean

BUG, INTERRUPTED, READER_GONE = 70, 130, 141
TIMED = ("derive", "generate", "fit", "verify", "identify", "show", "check", "table")
TIMED_HELP = "time and operations of each pass, on standard error"

# name → (what follows it, what it does); the module of the same name has the rest
COMMANDS = {
    "derive": ("WHAT [approximations]", "the learning rule, derived line by line"),
    "generate": ("WHAT [approximations]", "the derived rule as a source file that stands alone"),
    "fit": ("FILE.model FLAG --data …", "a model's algorithm, run on data"),
    "verify": ("WHAT | FILE.py", "prove or refute: derived against reference, code against rule"),
    "identify": ("WHAT [approximations]", "which known algorithm this is"),
    "show": ("FAMILY", "a family's geometry: A, the mean, Fisher, entropy; numbers at a point"),
    "check": (
        "[FILE.toml | FILE.model]",
        "is this family file or model right; all families that are shipped without a file",
    ),
    "new-family": ("NAME", "a commented family file to start from"),
    "list": ("[SUBJECT]", "families, models, recipes, approximations, losses, targets, algorithms"),
    "table": ("", "Table 1 of the paper, every row computed live"),
}


def main(argv: list[str] | None = None) -> int:
    """Run one command line and return its exit code; nothing escapes as a traceback."""
    prepare_streams()
    try:
        code = run(sys.argv[1:] if argv is None else argv)
        flush()
        return code
    except UserError as mistake:
        from blrgen.cli.tried import with_tried_words

        said = with_tried_words(mistake, sys.argv[1:] if argv is None else argv)
        report(said.render())
        return mistake.exit_code
    except KeyboardInterrupt:
        # CPython remembers an interrupt that passed through exec("…"), caught or not, and
        # would end the process by the signal instead of our code; the next eval forgets it.
        eval("None")
        report("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        return _reader_gone()
    except OSError as trouble:
        report(_operating_system(trouble))
        return UserError.exit_code
    except BaseException as bug:
        if os.environ.get("BLRGEN_DEBUG"):
            raise
        report(_bug(bug))
        return BUG


def run(argv: list[str]) -> int:
    """Dispatch to a command; the first word that is not a flag names it."""
    if any("\0" in word for word in argv):
        raise UserError("an argument contains a NUL character", how="remove it")
    if not argv or argv[0].startswith("-"):
        return _top(argv)
    name, *rest = argv
    if name not in COMMANDS:
        raise UserError(f"unknown command {name!r}", how=did_you_mean(name[:80], COMMANDS))
    from importlib import import_module

    from blrgen.cli.parser import HelpShown, Parser

    command = import_module(f"blrgen.cli.{name.replace('-', '_')}")
    usage = f"blrgen {name} {COMMANDS[name][0]} [options]"
    parser = Parser(f"blrgen {name}", command.__doc__, usage=" ".join(usage.split()))
    command.configure(parser)
    if name in TIMED:
        parser.add_argument("--time-passes", action="store_true", help=TIMED_HELP)
    try:
        options = parser.read(rest)
    except HelpShown:
        return 0
    if not getattr(options, "time_passes", False):
        return int(command.run(options))
    from blrgen.show.timings import timings
    from blrgen.timing import Record

    with Record() as record:
        try:
            return int(command.run(options))
        finally:
            flush()
            if record.lines:
                note(timings(record))


def _top(argv: list[str]) -> int:
    """`blrgen --help` and `--version`, without waiting for argparse."""
    if not argv:
        raise UserError("no command given", how="one of: " + ", ".join(COMMANDS))
    if argv[0] in ("-h", "--help"):
        result(_help())
    elif argv[0] == "--version":
        from blrgen import __version__

        result(f"blrgen {__version__}")
    else:
        known = ("--help", "--version", *COMMANDS)
        raise UserError(f"unknown option {argv[0]!r}", how=did_you_mean(argv[0][:80], known))
    return 0


def _help() -> str:
    width = max(len(f"{name} {follows}") for name, (follows, _) in COMMANDS.items())
    table = "\n".join(
        f"  {f'{name} {follows}'.strip():{width}}  {summary}"
        for name, (follows, summary) in COMMANDS.items()
    )
    return f"""usage: blrgen COMMAND ... | --help | --version

Write down a distribution and a loss; get back the learning algorithm,
derived line by line, proved, and compiled.

commands:
{table}

`blrgen COMMAND --help` tells more.  WHAT is a family (gaussian-diag), a recipe (adam)
or a path to a family file.

exit code: 0 done, proved · 1 refuted · 2 a mistake in what was asked · 3 only numeric"""


def _reader_gone() -> int:
    # Python would complain once more when it closes standard output at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_GONE


def _operating_system(trouble: OSError) -> str:
    name = trouble.filename
    where = os.fsdecode(name) if isinstance(name, str | bytes) else ""
    reason = trouble.strerror or str(trouble)
    return UserError(f"the operating system refused: {reason}", where=where).render()


def _bug(bug: BaseException) -> str:
    reason = " ".join(str(bug).split()) or "no message"
    return UserError(
        "this is a bug in blrgen",
        why=f"{type(bug).__name__}: {reason}",
        how="set BLRGEN_DEBUG=1 to see the traceback, and report it with the command you ran",
    ).render()
