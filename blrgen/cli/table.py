"""Print Table 1 of the paper: candidate, approximations, and how far each row is shown.

Every row is derived, proved, emitted and compared live; rows that need what is
not there yet say so.

blrgen table --format markdown
blrgen table --pages docs/table
"""

from __future__ import annotations

import argparse
from pathlib import Path

from blrgen.cli.output import note, result, result_as_json
from blrgen.cli.parser import Parser, add_format
from blrgen.errors import UserError


def configure(parser: Parser) -> None:
    """--format, --pages."""
    add_format(parser, ("text", "markdown", "json"))
    parser.add_argument("--pages", metavar="FOLDER", help="write a page for each row, and no table")


def run(options: argparse.Namespace) -> int:
    """Compute and print the table."""
    from blrgen import table

    if options.pages:
        return _pages(Path(options.pages))
    found = table.computed(lambda name: note(f"  {name} …"))
    if options.format == "json":
        result_as_json(table.as_data(found))
    elif options.format == "markdown":
        from blrgen.show.table_pages import as_markdown

        result(as_markdown(found))
    else:
        result(table.as_text(found))
    return 0


def _pages(folder: Path) -> int:
    """A file for each row."""
    from blrgen.show.table_pages import pages

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in pages(lambda what: note(f"  {what} …")):
            (folder / name).write_text(text, encoding="utf-8")
            note(f"wrote {folder / name}")
    except OSError as trouble:
        raise UserError(f"cannot write {folder}: {trouble.strerror}", where="--pages") from None
    return 0
