"""A derivation in any format: text, LaTeX, Markdown, HTML or JSON."""

from __future__ import annotations

from collections.abc import Callable

from blrgen.core import Derivation
from blrgen.errors import UserError, did_you_mean
from blrgen.show.page import Page, page_of

FORMATS = ("text", "latex", "markdown", "html", "json")
COLUMNS = 88


def render(
    derivation: Derivation,
    format: str = "text",
    *,
    columns: int | None = None,
    colour: bool = False,
) -> str:
    """The derivation as a page of text, a complete LaTeX document, Markdown, HTML or JSON.

    `columns` and `colour` are for text: the width to fit (that of the terminal, between
    80 and 100, when not given) and whether to use ANSI colours.
    """
    if format == "json":
        from blrgen.show.as_json import derivation_json

        return derivation_json(derivation)
    return lay_out(page_of(derivation), format, columns, colour)


def lay_out(page: Page, format: str, columns: int | None = None, colour: bool = False) -> str:
    """A gathered page in one of the formats for people."""
    if format == "text":
        from blrgen.show.text import render_text

        return render_text(page, columns or terminal_columns(), colour)
    return writer(format)(page)


def writer(format: str) -> Callable[..., str]:
    """The function that lays a page out in a markup format."""
    if format == "latex":
        from blrgen.show.document import render_latex

        return render_latex
    if format == "markdown":
        from blrgen.show.markdown import render_markdown

        return render_markdown
    if format == "html":
        from blrgen.show.html_page import render_html

        return render_html
    raise UserError(f"no format {format!r}", where="--format", how=did_you_mean(format, FORMATS))


def terminal_columns() -> int:
    """The width of the terminal, kept between 80 and 100; 88 where there is none."""
    import sys
    from shutil import get_terminal_size

    if sys.stdout is None or not sys.stdout.isatty():
        return COLUMNS
    return min(100, max(80, get_terminal_size((COLUMNS, 24)).columns))


def notebook(derivation: Derivation) -> str:
    """Markdown with $$ mathematics, which notebooks typeset: for `_repr_markdown_`."""
    return render(derivation, "markdown")
