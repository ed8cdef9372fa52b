"""What is measured: an experiment on something, at a size, in a dtype, with so many threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

SIZES = (10_000, 1_000_000, 20_000_000)
DTYPES = ("float32", "float64")
THREADS = (1, 2)
TENSORS, TENSOR = 300, 1000  # how many small arrays, and of how many elements each

# experiment → what it is called in a table; those of elementwise rules come first
EXPERIMENTS = {
    "step": "",
    "update": "update alone",
    "given": "noise given",
    "size": "by size",
    "flat": f"{TENSORS} tensors of {TENSOR}, flat",
    "list": f"{TENSORS} tensors of {TENSOR}, list",
    "normals": "",
    "signs": "",
    "posv": "",
    "small": "entries written out",
    "ridge": "",
    "start": "first step, new process",
}


@dataclass(frozen=True, order=True)
class Case:
    """One line of work for a process."""

    experiment: str
    what: str
    size: int
    dtype: str
    threads: int

    @property
    def title(self) -> str:
        """What is measured, for a reader."""
        return ", ".join(filter(None, [self.what, EXPERIMENTS[self.experiment]]))

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def of_recipes(
    names: Iterable[str],
    drawn: Iterable[str],
    sizes: Sequence[int],
    dtypes: Sequence[str],
    threads: Sequence[int],
) -> list[Case]:
    """Every elementwise recipe at every size; those that draw also with their noise given."""
    drawn = set(drawn)
    found = []
    for name in names:
        parts = ("step", "update", "given") if name in drawn else ("step",)
        found += [
            Case(part, name, size, dtype, count)
            for count in threads
            for size in sizes
            for dtype in dtypes
            for part in parts
        ]
    return found


def ordered(cases: Iterable[Case]) -> list[Case]:
    """By thread count, so that one process measures all of one; then as they came."""
    once = list(dict.fromkeys(cases))
    return sorted(once, key=lambda c: c.threads)
