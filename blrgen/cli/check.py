"""Check a family file stage by stage: declaration, log-partition, charts, density, rule.

blrgen check my_family.toml
"""

from __future__ import annotations

import argparse

from blrgen.cli.output import plain, report, result
from blrgen.cli.parser import Parser
from blrgen.errors import UserError


def configure(parser: Parser) -> None:
    """One family file."""
    parser.add_argument("file", metavar="FILE.toml", help="a family file, or a family's name")


def run(options: argparse.Namespace) -> int:
    """Print one line a stage; 0 when all hold, 1 when one is refuted, 2 for no declaration."""
    from blrgen.check import check

    findings = check(options.file)
    if not findings[0].passed:
        report(findings[0].text)
        return UserError.exit_code
    width = max(len(f.stage) for f in findings)
    indent = "\n" + " " * (width + 6)
    for f in findings:
        text = plain(f.text).replace("\n", indent)
        result(f"{'ok ' if f.passed else 'NO '} {f.stage:{width}}  {text}")
    return 0 if all(f.passed for f in findings) else 1
