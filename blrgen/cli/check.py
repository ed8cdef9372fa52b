"""Check a family file line by line: every identity against the density itself; or a model.

  blrgen check my_family.toml
  blrgen check mixture.model --data points.json
  blrgen check                        all families that come with blrgen

A line begins with ok, with NO where the file is refuted (with the value that it should
have at a point), or with - where nothing could be checked.  Closed forms of your own
can be put under [check] in the file: mean, fisher, entropy, entropy_gradient,
inverse_mean, log_partition.  They are compared, never used.

Of a model every mistake is told with its line and column; with --data also those of the
data.  A model without any is printed back with the names of all arguments.
"""

from __future__ import annotations

import argparse

from blrgen.cli.output import plain, report, result
from blrgen.cli.parser import Parser, add_format
from blrgen.cli.progress import Progress
from blrgen.errors import UserError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from blrgen.check import Finding

FORMATS = ("text", "json")
_MARKS = {"ok": "ok ", "refuted": "NO ", "not checked": " - "}


def configure(parser: Parser) -> None:
    """One family file, or all families."""
    parser.add_argument(
        "file", nargs="?", metavar="FILE",
        help="a family file, a family's name, or a model; all families when absent",
    )  # fmt: skip
    parser.add_argument(
        "--data", action="append", default=[], metavar="[NAME=]FILE",
        help="for a model: JSON or NPZ of names and arrays, or one array (.npy, .csv)",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE",
        help="for a model: a constant or size, a number or a list",
    )  # fmt: skip
    add_format(parser, FORMATS)


def run(options: argparse.Namespace) -> int:
    """Print one line a stage; 0 when all hold, 1 when one is refuted, 2 for no declaration."""
    if options.file is not None and options.file.endswith(".model"):
        from blrgen.cli.of_model import check as check_model

        return check_model(options)
    if options.data or options.set:
        raise UserError("--data and --set are for a model", how="blrgen check FILE.model --data …")
    if options.file is None:
        return _all(options.format)
    from blrgen.check import check

    with Progress() as progress:
        findings = check(options.file, progress.say)
    if not findings[0].passed:
        report(findings[0].text)
        return UserError.exit_code
    if options.format == "json":
        from blrgen.check.as_json import as_json

        result(as_json(options.file, findings))
    else:
        result(_lines(findings))
    return 0 if all(f.passed for f in findings) else 1


def _lines(findings: list[Finding]) -> str:
    width = max(len(f.stage) for f in findings)
    indent = "\n" + " " * (width + 6)
    return "\n".join(
        f"{_MARKS[f.status]} {f.stage:{width}}  " + plain(f.text).replace("\n", indent)
        for f in findings
    )


def _all(format: str) -> int:
    """One line a family, in the order of their names; 1 when any is refuted."""
    from blrgen.check.all import check_all

    data, passed, width = [], True, 0
    with Progress() as progress:
        for done in check_all(progress.say):
            passed &= done.passed
            width = width or max(len(n) for n in done.names)
            if format == "json":
                data.append(done.data)
            else:
                progress.clear()
                result(f"{'ok ' if done.passed else 'NO '} {done.name:{width}}  {plain(done.text)}")
    if format == "json":
        import json

        result(json.dumps(data, ensure_ascii=False, indent=2))
    return 0 if passed else 1
