"""A derivation in Markdown with $$ mathematics."""

from __future__ import annotations

from blrgen.show.document import aligned
from blrgen.show.page import Entry, Line, Page, commands
from blrgen.text.escape import markdown_text
from blrgen.text.latex import Latex
from blrgen.text.names import latex_name


def render_markdown(page: Page) -> str:
    """The whole page."""
    parts = [
        f"# {markdown_text(page.title)}",
        "\n".join(
            f"- **{markdown_text(label)}**: {markdown_text(text)}"
            if label
            else f"  {markdown_text(text)}"
            for label, text in page.facts
        ),
        f"## {page.heading}",
        *(_line(line, page) for line in page.lines),
        _algorithm(page),
        _entries(page),
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def block(latex: str) -> str:
    """A displayed formula; lines must not start with a sign that Markdown takes for a list."""
    return "$$\n" + latex.replace("\n+", "\n{}+").replace("\n-", "\n{}-") + "\n$$"


def _line(line: Line, page: Page) -> str:
    mark = f" **{markdown_text(f'[{line.approximation}]')}**" if line.approximation else ""
    space = f" *({markdown_text(line.space)})*" if line.space else ""
    head = f"**{line.number}. {markdown_text(line.title)}**{mark}{space}"
    parts = [head]
    if line.formulas:
        parts.append(block(aligned(line.formulas, page)))
    if line.because:
        parts.append(markdown_text(line.because))
    return "\n\n".join(parts)


def _algorithm(page: Page) -> str:
    if not page.commands:
        return ""
    printer = Latex(None, page.reading)
    until = f", repeated to the {markdown_text(page.until)}" if page.until else ""
    if page.halved:
        until += f", {markdown_text(page.halved)} halved until it stays inside"
    formulas = commands(page)
    after = ", ".join(f"{name} ${printer.text(node)}$" for name, node in page.posterior)
    text = f"## The algorithm{until}\n\n" + block(aligned(formulas, page))
    text += f"\n\nPosterior: {after}." if after else ""
    return text + "".join(f"\n\n{markdown_text(x[0].upper() + x[1:])}." for x in page.notes)


def _entries(page: Page) -> str:
    rows = [f"| {e.kind} | ${latex_name(e.name)}$ | {_prose(e, page)} |" for e in page.entries]
    if not rows:
        return ""
    return "## What its names stand for\n\n" + "\n".join(["| | | |", "|---|---|---|", *rows])


def _prose(entry: Entry, page: Page) -> str:
    """An entry's description, safe inside a table: no bare | in its mathematics."""
    return "".join(
        markdown_text(p)
        if isinstance(p, str)
        else f"${Latex(p.names, page.reading).text(p.node)}$".replace("|", r"\vert ")
        for p in entry.parts
    )
