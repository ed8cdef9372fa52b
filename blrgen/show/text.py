"""A derivation for the terminal: numbered lines as on a board, then the algorithm."""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.show.page import Entry, Formula, Line, Page
from blrgen.show.paint import Paint
from blrgen.text.escape import printable
from blrgen.text.layout import Name
from blrgen.text.names import unicode_name
from blrgen.text.table import pad, table, width, wrap
from blrgen.text.terminal import Terminal

INDENT = "     "
NARROWEST = 40


def render_text(page: Page, columns: int = 88, colour: bool = False) -> str:
    """The whole page, at most `columns` wide where the mathematics allows it."""
    columns = max(columns, NARROWEST)
    paint = Paint(colour)
    blocks = [_header(page, columns, paint)]
    blocks += [_line(line, page, columns, paint) for line in page.lines]
    blocks += [_algorithm(page, columns, paint), _entries(page, columns, paint)]
    return "\n\n".join(b for b in blocks if b) + "\n"


def _header(page: Page, columns: int, paint: Paint) -> str:
    title = printable(page.title)
    return "\n".join([paint(title, "head"), table(page.facts, columns=columns)])


def _line(line: Line, page: Page, columns: int, paint: Paint) -> str:
    number = pad(f"({line.number})", len(INDENT))
    mark = f"  [{printable(line.approximation)}]" if line.approximation else ""
    title = printable(line.title)
    used = width(number + title + mark)
    space = printable(line.space)
    room = columns - used - width(space)
    right = " " * room + paint(space, "dim") if space and room >= 2 else ""
    head = paint(number, "dim") + paint(title, "bold") + paint(mark, "mark") + right
    return "\n".join([head, *_body(line, page, columns, paint)])


def _body(line: Line, page: Page, columns: int, paint: Paint) -> list[str]:
    """Equations with the reason beside them when both fit, below otherwise."""
    rows = equations(line.formulas, page, columns - len(INDENT))
    reason = printable(line.because)
    beside = columns // 2 + 2
    if rows and max(map(width, rows)) + 3 <= beside - len(INDENT):
        notes = wrap(reason, columns - beside)
        if len(notes) <= len(rows) + 2:
            rows += [""] * (len(notes) - len(rows))
            notes += [""] * (len(rows) - len(notes))
            return [
                (INDENT + pad(r, beside - len(INDENT)) + paint(n, "dim")).rstrip()
                if n
                else INDENT + r
                for r, n in zip(rows, notes, strict=True)
            ]
    notes = [paint(n, "dim") for n in wrap(reason, columns - len(INDENT))]
    return [INDENT + r for r in (*rows, *notes)]


def equations(formulas: Sequence[Formula], page: Page, columns: int) -> list[str]:
    """The equations aligned at their relation, long ones broken at a sum."""
    printed = []
    for f in formulas:
        printer = Terminal(f.names, page.reading)
        printed.append((printer.text(f.left), f.relation, printer.text(f.right), f.note))
    widths = [width(left) for left, *_ in printed]
    edge = max((k for k in widths if k <= columns // 2), default=0)  # a long one stands alone
    rows: list[str] = []
    for left, relation, right, note in printed:
        lead = f"{pad(left, edge)} {relation} "
        first, *more = broken(right, columns - width(lead))
        tail = f"   ({printable(note)})" if note else ""
        fits = not more and width(lead + first + tail) <= columns
        rows.append(lead + first + (tail if fits else ""))
        rows += [" " * width(lead) + m for m in more]
        if tail and not fits:
            rows.append(" " * width(lead) + tail.strip())
    return rows


def broken(text: str, columns: int) -> list[str]:
    """A long right-hand side in lines that begin with + or −; whole when nothing can be done."""
    if width(text) <= columns:
        return [text]
    depths, depth, inside = [], 0, False
    for c in text:
        if c == "|":  # of log|…|
            inside = not inside
            depth += 1 if inside else -1
        depth += c in "([{"
        depth -= c in ")]}"
        depths.append(depth)
    for level in range(3):
        cuts = [
            k
            for k in range(1, len(text) - 2)
            if depths[k] == level and text[k] in "+−" and text[k - 1] == text[k + 1] == " "
        ]
        lines = _cut(text, cuts, columns)
        if all(width(x) <= columns for x in lines):
            return lines
    return _cut(text, [k for k in range(1, len(text)) if text[k - 1] == " "], columns)


def _cut(text: str, cuts: list[int], columns: int) -> list[str]:
    lines: list[str] = []
    start, last = 0, 0
    for k in (*cuts, len(text)):
        if width(text[start:k].rstrip()) > columns - 2 * bool(lines) and last > start:
            lines.append(text[start:last].rstrip())
            start = last
        last = k
    lines.append(text[start:].rstrip())
    return [lines[0], *("  " + x for x in lines[1:])]


def _algorithm(page: Page, columns: int, paint: Paint) -> str:
    """Assignments in execution order, each run of one stage under its name."""
    if not page.commands:
        return ""
    rows: list[str] = []
    previous = ""
    named = [(page.commands[0].stage, f) for f in page.letters]
    formulas = [*named, *((c.stage, c.formula) for c in page.commands)]
    edge = max(width(Terminal().text(f.left)) for _, f in formulas)
    for own, formula in formulas:
        stage = own if own != previous else ""
        previous = own
        left = pad(Terminal().text(formula.left), edge)
        padded = Formula(Name("_"), "←", formula.right)
        printed = equations([padded], page, columns - edge - 14)
        body = [left + printed[0][1:], *(" " * edge + r[1:] for r in printed[1:])]
        rows += [
            f"  {paint(pad(stage if k == 0 else '', 10), 'dim')}{r}" for k, r in enumerate(body)
        ]
    if page.posterior:
        printer = Terminal(None, page.reading)
        parts = ", ".join(f"{name} {printer.text(node)}" for name, node in page.posterior)
        rows.append(f"  {paint(pad('posterior', 10), 'dim')}{parts}")
    for note in page.notes:
        printed = wrap(printable(note), columns - 2)
        rows += ["  " + row for row in printed]
    title = "The algorithm" + (f", repeated to the {printable(page.until)}" if page.until else "")
    title += f", {page.halved} halved until it stays inside" if page.halved else ""
    return "\n".join([paint(title, "head"), *rows])


def _entries(page: Page, columns: int, paint: Paint) -> str:
    rows = []
    previous = ""
    for entry in page.entries:
        kind = entry.kind if entry.kind != previous else ""
        previous = entry.kind
        rows.append((kind, unicode_name(entry.name), prose(entry, page)))
    if not rows:
        return ""
    title = paint("What its names stand for", "head")
    return title + "\n" + table(rows, columns=columns, indent="  ")


def prose(entry: Entry, page: Page) -> str:
    """An entry's description with its mathematics in unicode."""
    return "".join(
        p if isinstance(p, str) else Terminal(p.names, page.reading).text(p.node)
        for p in entry.parts
    )
