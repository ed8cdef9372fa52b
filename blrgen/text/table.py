"""Plain aligned tables, and text measured as a terminal shows it."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence

from blrgen.text.escape import printable


def width(text: str) -> int:
    """Columns on a terminal: combining marks take none, wide characters two."""
    return sum(_columns(c) for c in text)


def _columns(c: str) -> int:
    if unicodedata.combining(c) or unicodedata.category(c) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(c) in ("W", "F") else 1


def pad(text: str, columns: int, side: str = "left") -> str:
    """Text filled with blanks to a number of columns; `side` is where the text stands."""
    fill = " " * max(0, columns - width(text))
    return fill + text if side == "right" else text + fill


def wrap(text: str, columns: int) -> list[str]:
    """Words broken into lines of at most so many columns; a longer word stands alone."""
    lines: list[str] = []
    for word in text.split():
        if lines and width(lines[-1]) + 1 + width(word) <= columns:
            lines[-1] += " " + word
        else:
            lines.append(word)
    return lines


def table(
    rows: Iterable[Sequence[str]],
    header: Sequence[str] = (),
    *,
    gap: str = "  ",
    columns: int = 0,
    indent: str = "",
) -> str:
    """Rows in aligned columns; with `columns`, the last cell is wrapped to fit that width."""
    body = [[printable(c) for c in row] for row in rows]
    lines = [list(header), *body] if header else body
    if not lines:
        return ""
    count = max(map(len, lines))
    lines = [row + [""] * (count - len(row)) for row in lines]
    widths = [max(width(row[k]) for row in lines) for k in range(count)]
    before = width(indent) + sum(widths[:-1]) + width(gap) * (count - 1)
    if columns:
        widths[-1] = max(16, min(widths[-1], columns - before))
    out = [line for row in lines for line in _row(row, widths, gap, bool(columns))]
    if header:
        out.insert(
            len(_row(lines[0], widths, gap, bool(columns))), gap.join("─" * w for w in widths)
        )
    return "\n".join((indent + line).rstrip() for line in out)


def _row(cells: list[str], widths: list[int], gap: str, fold: bool) -> list[str]:
    last = (wrap(cells[-1], widths[-1]) if fold else [cells[-1]]) or [""]
    lead = gap.join(pad(c, w) for c, w in zip(cells[:-1], widths[:-1], strict=True))
    blank = " " * width(lead)
    between = gap if len(cells) > 1 else ""
    return [f"{lead if k == 0 else blank}{between}{part}" for k, part in enumerate(last)]
