"""The table of the paper in Markdown, and a page for each of its rows.

A page has what `blrgen derive` prints of every algorithm that reproduces the row: all of it is
derived when the page is written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from blrgen.approximate.tools.road import derive
from blrgen.show.derivation import render
from blrgen.show.model_page import derivation_text
from blrgen.table import HEADINGS, Algorithm, Entry, Row, counted, entries
from blrgen.text.escape import markdown_text as markdown

COLUMNS = 100


def as_markdown(rows: tuple[Row, ...]) -> str:
    """The whole table: a section a heading, a row of the paper a line, its algorithms below."""
    out = ["# Table 1, computed", "", counted(rows)]
    for section in dict.fromkeys(r.section for r in rows):
        out += ["", f"## {section}", "", _cells(HEADINGS), _cells(["---"] * len(HEADINGS))]
        for row in (r for r in rows if r.section == section):
            missing = [f"needs {row.missing}"] if row.missing else []
            link = f"**[{markdown(row.title)}]({file_of(row.title)})**"
            out.append(_cells([link, *missing, *[""] * (len(HEADINGS) - 1 - len(missing))]))
            out += [_cells(map(markdown, line(a))) for a in row.algorithms]
    return "\n".join(out) + "\n"


def line(a: Algorithm) -> tuple[str, ...]:
    """An algorithm's cells; a recipe's with its approximations."""
    name, *rest = a.cells
    flags = [] if a.of_model else [f for f in a.approximations if f"--{f}" not in a.name]
    return (" ".join([name.strip(), *(f"--{f}" for f in flags)]), *rest)


def _cells(cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"  # type: ignore[call-overload]


def file_of(title: str) -> str:
    """A row's file."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") + ".md"


def pages(say: Callable[[str], None]) -> Iterator[tuple[str, str]]:
    """File and text of every row's page."""
    for entry in entries():
        say(entry.title)
        yield file_of(entry.title), page(entry)


def page(entry: Entry) -> str:
    """A row: what reproduces it, each as it is derived now."""
    out = [f"# {markdown(entry.title)}", ""]
    where = "beside Table 1 of the paper" if entry.beside else "a row of Table 1 of the paper"
    out += [f"{markdown(entry.section)}: {where}. Written by `blrgen table --pages`;",
            "`blrgen verify` in the place of `blrgen derive` proves what is said.", ""]  # fmt: skip
    if entry.needs:
        out += [f"Not there: it needs {markdown(entry.needs)}.", ""]
    for command, text in derivations(entry):
        out += [f"## {markdown(command)}", "", "```console", f"$ blrgen derive {command}",
                text.rstrip("\n"), "```", ""]  # fmt: skip
    return "\n".join(out)


def derivations(entry: Entry) -> Iterator[tuple[str, str]]:
    """What follows `blrgen derive`, and what that prints."""
    from blrgen.read.model.find import read_file
    from blrgen.rule.model.derive import derive_model

    for name in entry.recipes:
        yield name, render(derive(name), "text", columns=COLUMNS)
    for name, flag in entry.models:
        found = derive_model(read_file(f"{name}.model"), flag.removeprefix("--"))
        yield f"{name}.model {flag}", derivation_text(found, columns=COLUMNS)
    for name, *flags in entry.mixtures:
        words = " ".join([name, *(f"--{f}" for f in flags)])
        yield words, render(derive(name, flags), "text", columns=COLUMNS)
