"""Long right-hand sides in rows: where a sum is broken when it does not fit."""

from __future__ import annotations

from blrgen.show.page import Formula, Page
from blrgen.text.layout import Node, Product, Sum
from blrgen.text.table import width
from blrgen.text.terminal import Terminal

USUAL = 12  # characters of a left-hand side
WIDEST = 72  # characters of a right-hand side, as unicode, that fit on a line


def in_rows(f: Formula, page: Page, widest: int = WIDEST) -> list[tuple[tuple[int, Node], ...]]:
    """The terms of the right-hand side, row by row; one row when it fits or is no sum."""
    spelled = Terminal(f.names, page.reading)
    if not isinstance(f.right, Sum):
        return [((1, f.right),)]
    widest -= max(0, width(spelled.text(f.left)) - USUAL)
    if width(spelled.text(f.right)) <= widest:
        return [f.right.terms]
    rows: list[list[tuple[int, Node]]] = [[]]
    room = 0
    for sign, term in f.right.terms:
        length = width(spelled.text(term)) // (
            2 if isinstance(term, Product) and term.bottom else 1
        )
        length += 3  # its sign
        if room and room + length > widest:
            rows.append([])
            room = 0
        rows[-1].append((sign, term))
        room += length
    return [tuple(r) for r in rows]


def note_fits(f: Formula, page: Page, widest: int = WIDEST) -> bool:
    """Whether the remark behind an equation has room on its line."""
    spelled = Terminal(f.names, page.reading)
    whole = spelled.text(f.left) + spelled.text(f.right) + f.note
    return width(whole) + 8 <= widest
