"""How long stages and passes took, as a table: `--time-passes`."""

from __future__ import annotations

from blrgen.text.table import table
from blrgen.timing import Record

HEADINGS = ("stage or pass", "ms", "before", "after", "")


def timings(record: Record) -> str:
    """A line a stage, and the time of all."""
    rows = [x.cells for x in record.lines]
    numbers = [max([len(h), *(len(r[k]) for r in rows)]) for k, h in enumerate(HEADINGS)]
    last = ("all", f"{record.total * 1e3:.2f}", "", "", "")
    return table(
        [(r[0], *(r[k].rjust(numbers[k]) for k in (1, 2, 3)), r[4]) for r in (*rows, last)],
        (HEADINGS[0], *(HEADINGS[k].rjust(numbers[k]) for k in (1, 2, 3))),
    )
