r"""A derivation as a complete LaTeX document (amsmath), one tagged display a line."""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.show.page import Entry, Formula, Line, Page, commands
from blrgen.show.rows import in_rows, note_fits
from blrgen.text.escape import latex_text
from blrgen.text.latex import Latex
from blrgen.text.layout import Sum
from blrgen.text.names import latex_name

_RELATION = {
    "=": "=", "≈": r"\approx", "≡": r"\equiv", "→": r"\to", "←": r"\leftarrow", "≤": r"\le",
    "≥": r"\ge", "≠": r"\neq", "∝": r"\propto", "<": "<", ">": ">", "∈": r"\in", "~": r"\sim",
    "∼": r"\sim", "↦": r"\mapsto", "⇒": r"\Rightarrow", ":=": ":=",
}  # fmt: skip
PREAMBLE = r"""\documentclass[11pt]{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath}
\usepackage{amssymb}
\usepackage{graphicx}
\usepackage[margin=2.4cm]{geometry}
\setlength{\parindent}{0pt}
\allowdisplaybreaks
\newcommand{\fitted}[1]{\sbox0{$\displaystyle #1$}\ifdim\wd0>0.9\linewidth
  \resizebox{0.9\linewidth}{!}{\usebox0}\else\usebox0\fi}
"""


def relation(sign: str) -> str:
    """The LaTeX of a relation sign."""
    return _RELATION.get(sign, rf"\mathrel{{\text{{{latex_text(sign)}}}}}")


def render_latex(page: Page) -> str:
    """The whole document."""
    parts = [
        PREAMBLE + rf"\title{{{latex_text(page.title)}}}" + "\n" + r"\author{}\date{}",
        r"\begin{document}" + "\n" + r"\maketitle",
        _facts(page),
        rf"\section*{{{page.heading}}}",
        *(_line(line, page) for line in page.lines),
        _algorithm(page),
        _entries(page),
        r"\end{document}",
    ]
    return "\n\n".join(p for p in parts if p) + "\n"


def _facts(page: Page) -> str:
    rows = [
        rf"\textit{{{latex_text(label)}}} & {latex_text(text)} \\" for label, text in page.facts
    ]
    return _tabular("lp{11.5cm}", rows)


def _tabular(columns: str, rows: Sequence[str]) -> str:
    inner = "\n".join(rows)
    return rf"\begin{{tabular}}{{{columns}}}" + f"\n{inner}\n" + r"\end{tabular}"


def _line(line: Line, page: Page) -> str:
    mark = rf" \quad\texttt{{[{latex_text(line.approximation)}]}}" if line.approximation else ""
    space = rf"\hfill\textit{{{latex_text(line.space)}}}" if line.space else ""
    head = rf"\paragraph{{{line.number}. {latex_text(line.title)}.}}{mark}{space}\par"
    reason = latex_text(line.because)
    if not line.formulas:
        return f"{head}\n{reason}"
    return f"{head}\n{reason}\n{display(line.formulas, page, str(line.number))}"


def display(formulas: Sequence[Formula], page: Page, tag: str = "") -> str:
    """Aligned equations as one display, with a tag."""
    mark = rf"\tag{{{tag}}}" if tag else ""
    body = aligned(formulas, page)
    return f"\\begin{{equation*}}{mark}\n\\fitted{{{body}}}\n\\end{{equation*}}"


def aligned(formulas: Sequence[Formula], page: Page) -> str:
    """Equations aligned at their relation, long sums broken."""
    rows = []
    for f in formulas:
        printer = Latex(f.names, page.reading)
        note = rf"\text{{({latex_text(f.note)})}}" if f.note else ""
        gap = r" \qquad " if note_fits(f, page) else " \\\\\n&\\quad "
        right = _right(f, printer, page) + (gap + note if note else "")
        rows.append(f"{printer.text(f.left)} &{relation(f.relation)} {right}")
    joined = " \\\\\n".join(rows)
    return f"\\begin{{aligned}}\n{joined}\n\\end{{aligned}}"


def _right(f: Formula, printer: Latex, page: Page) -> str:
    """The right-hand side, its terms on several rows when one is too long."""
    if not isinstance(f.right, Sum):
        return printer.text(f.right)
    out = ""
    for row, terms in enumerate(in_rows(f, page)):
        out += " \\\\\n&\\quad " if row else ""
        for k, (sign, term) in enumerate(terms):
            out += " " if k else ""
            out += ("+ " if sign > 0 else "- ") if k or row else "" if sign > 0 else "-"
            out += printer.text(term, 1)
    return out


def _algorithm(page: Page) -> str:
    if not page.commands:
        return ""
    until = f", repeated to the {latex_text(page.until)}" if page.until else ""
    if page.halved:
        until += f", {latex_text(page.halved)} halved until it stays inside"
    printer = Latex(None, page.reading)
    formulas = commands(page)
    after = ", ".join(f"{latex_text(name)} ${printer.text(node)}$" for name, node in page.posterior)
    posterior = f"\nPosterior: {after}." if after else ""
    posterior += "".join(f"\n{latex_text(note[0].upper() + note[1:])}." for note in page.notes)
    return rf"\section*{{The algorithm{until}}}" + "\n" + display(formulas, page) + posterior


def _entries(page: Page) -> str:
    rows = [
        rf"\textit{{{e.kind}}} & ${latex_name(e.name)}$ & {prose(e, page)} \\" for e in page.entries
    ]
    if not rows:
        return ""
    return r"\section*{What its names stand for}" + "\n" + _tabular("llp{11.5cm}", rows)


def prose(entry: Entry, page: Page) -> str:
    """An entry's description in text mode."""
    return "".join(
        latex_text(p) if isinstance(p, str) else f"${Latex(p.names, page.reading).text(p.node)}$"
        for p in entry.parts
    )
