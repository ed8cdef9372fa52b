"""A derivation as one self-contained HTML page: MathML, a little style, no scripts."""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.show.page import Entry, Formula, Line, Page, commands
from blrgen.show.rows import in_rows
from blrgen.text.escape import html_prose, html_text
from blrgen.text.layout import Name, Node, Sum
from blrgen.text.mathml import MathML, operator, row

INDENT = '<mspace width="1.5em"/>'
STYLE = """
:root { color-scheme: light dark; }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1.2rem; line-height: 1.55;
       font-family: Georgia, "Times New Roman", serif; }
h1 { font-size: 1.7rem; margin-bottom: 0.4rem; }
h2 { font-size: 1.2rem; margin-top: 2.4rem; border-bottom: 1px solid #8884; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.1rem 1.2rem; }
dt { color: #777; } dd { margin: 0; }
section { margin: 1.6rem 0; }
h3 { font-size: 1rem; margin: 0; display: flex; gap: 0.6rem; align-items: baseline; }
h3 .number { color: #777; font-weight: normal; min-width: 1.6rem; }
h3 .mark { font: 0.85rem ui-monospace, monospace; background: #e8a33d33; padding: 0 0.35rem; }
h3 .space { margin-left: auto; color: #777; font-weight: normal; font-style: italic; }
.equations { overflow: auto hidden; padding-bottom: 2px; margin: 0.5rem 0 0.5rem 2.2rem; }
.because { margin: 0 0 0 2.2rem; color: #777; }
mtable.aligned > mtr > mtd:first-child { text-align: right; }
mtable.aligned > mtr > mtd { text-align: left; padding: 0.25em 0.2em; }
mtable.aligned mi, mtable.aligned mtext { white-space: nowrap; }
table { border-collapse: collapse; } td { padding: 0.15rem 1rem 0.15rem 0; vertical-align: top; }
"""


def render_html(page: Page) -> str:
    """The whole page."""
    title = html_text(page.title)
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    joined = fragment(page)
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>\n{joined}\n</body></html>\n'


def fragment(page: Page) -> str:
    """What stands in the body."""
    facts = "".join(f"<dt>{html_text(a)}</dt><dd>{html_prose(b)}</dd>" for a, b in page.facts)
    body = [
        f"<h1>{html_text(page.title)}</h1>",
        f"<dl>{facts}</dl>",
        f"<h2>{page.heading}</h2>",
        *(_line(line, page) for line in page.lines),
        _algorithm(page),
        _entries(page),
    ]
    return "\n".join(b for b in body if b)


def equations(formulas: Sequence[Formula], page: Page) -> str:
    """Equations aligned at their relation."""
    rows = []
    for f in formulas:
        printer = MathML(f.names, page.reading)
        note = f"<mtd><mtext>({html_text(f.note)})</mtext></mtd>" if f.note else ""
        first, *more = [_terms(printer, terms, k) for k, terms in enumerate(in_rows(f, page))]
        rows.append(
            f"<mtr><mtd>{printer.text(f.left)}</mtd><mtd>{operator(f.relation)}</mtd>"
            f"<mtd>{first}</mtd>{note}</mtr>"
        )
        rows += [f"<mtr><mtd></mtd><mtd></mtd><mtd>{INDENT}{m}</mtd></mtr>" for m in more]
    inside = f'<mtable class="aligned" displaystyle="true">{"".join(rows)}</mtable>'
    return f'<div class="equations"><math>{inside}</math></div>'


def _terms(printer: MathML, terms: tuple[tuple[int, Node], ...], before: int) -> str:
    """One row of a sum; a row that is not the first begins with its sign."""
    if not before:
        return row(printer.text(terms[0][1] if terms[0][0] > 0 and len(terms) == 1 else Sum(terms)))
    sign, lead = terms[0]
    rest = printer.text(Sum(((1, lead), *terms[1:])))
    return row(operator("+" if sign > 0 else "−"), rest)


def _line(line: Line, page: Page) -> str:
    mark = (
        f'<span class="mark">{html_text(line.approximation)}</span>' if line.approximation else ""
    )
    space = f'<span class="space">{html_text(line.space)}</span>' if line.space else ""
    number = f'<span class="number">{line.number}</span>'
    head = f"<h3>{number}<span>{html_prose(line.title)}</span>{mark}{space}</h3>"
    shown = equations(line.formulas, page) if line.formulas else ""
    because = f'<p class="because">{html_prose(line.because)}</p>' if line.because else ""
    return f'<section id="{html_text(line.id)}">{head}{shown}{because}</section>'


def _algorithm(page: Page) -> str:
    if not page.commands:
        return ""
    until = f", repeated to the {html_text(page.until)}" if page.until else ""
    if page.halved:
        until += f", {html_text(page.halved)} halved until it stays inside"
    formulas = commands(page)
    printer = MathML(None, page.reading)
    after = ", ".join(
        f"{html_text(name)} <math>{printer.text(node)}</math>" for name, node in page.posterior
    )
    posterior = f"<p>Posterior: {after}.</p>" if after else ""
    posterior += "".join(f"<p>{html_prose(x[0].upper() + x[1:])}.</p>" for x in page.notes)
    return f"<h2>The algorithm{until}</h2>{equations(formulas, page)}{posterior}"


def _entries(page: Page) -> str:
    rows = [
        f"<tr><td><i>{e.kind}</i></td><td><math>{MathML().text(Name(e.name))}</math></td>"
        f"<td>{_prose(e, page)}</td></tr>"
        for e in page.entries
    ]
    if not rows:
        return ""
    return f"<h2>What its names stand for</h2><table>{''.join(rows)}</table>"


def _prose(entry: Entry, page: Page) -> str:
    return "".join(
        html_prose(p)
        if isinstance(p, str)
        else f"<math>{MathML(p.names, page.reading).text(p.node)}</math>"
        for p in entry.parts
    )
