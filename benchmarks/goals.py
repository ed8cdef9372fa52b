"""The goals as data: `goals.toml`, one entry for what must be reached against whom, and where.

`at_least` is their time over ours; against the roofline that is the fraction of it that is
reached.  `at_most` is our time over theirs, for those that are stated so.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from benchmarks.cases import DTYPES, EXPERIMENTS, Case
from blrgen.errors import InternalError

FILE = Path(__file__).with_name("goals.toml")
EVERY = "*"
_KEYS = {"experiment", "what", "size", "dtype", "threads", "against", "at_least", "at_most"}


@dataclass(frozen=True)
class Goal:
    """What must be reached in a case; `what` may be every recipe."""

    experiment: str
    what: str
    size: int
    dtype: str
    threads: int
    against: str
    at_least: float = 0.0
    at_most: float = 0.0

    def concerns(self, case: Case) -> bool:
        """Whether the goal is about this case."""
        same = (self.experiment, self.size, self.dtype, self.threads)
        of_case = (case.experiment, case.size, case.dtype, case.threads)
        return same == of_case and self.what in (EVERY, case.what)

    def met(self, ratio: float) -> bool:
        """Whether their time over ours is large enough; NaN is not."""
        return ratio >= (self.at_least or 1 / self.at_most)

    @property
    def text(self) -> str:
        """As it is stated."""
        if self.against == "roofline":
            return f"≥ {100 * self.at_least:g} %"
        return f"≥ {self.at_least:g} ×" if self.at_least else f"≤ {self.at_most:g} ×"


@cache
def read_goals(path: Path = FILE) -> tuple[Goal, ...]:
    """Every goal, one for each combination that an entry names."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["goal"]
    return tuple(goal for entry in entries for goal in _goals(entry))


def _goals(entry: dict[str, Any]) -> list[Goal]:
    unknown = set(entry) - _KEYS
    if unknown:
        raise InternalError(f"goals.toml: unknown keys {sorted(unknown)} in {entry}")
    if ("at_least" in entry) == ("at_most" in entry):
        raise InternalError(f"goals.toml: either at_least or at_most, in {entry}")
    keys = ("experiment", "what", "size", "dtype", "threads")
    values = [_listed(entry.get(key, _DEFAULT.get(key))) for key in keys]
    bounds = {k: float(entry[k]) for k in ("at_least", "at_most") if k in entry}
    made = [
        Goal(e, str(what), int(size), dtype, int(threads), entry["against"], **bounds)
        for e, what, size, dtype, threads in product(*values)
    ]
    for goal in made:
        if goal.experiment not in EXPERIMENTS or goal.dtype not in DTYPES:
            raise InternalError(f"goals.toml: no such experiment or dtype: {goal}")
        if not (goal.at_least > 0 or goal.at_most > 0):
            raise InternalError(f"goals.toml: a bound is a positive number, in {goal}")
    return made


_DEFAULT = {"experiment": "step", "dtype": "float32"}


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list) else [value]


def goal_of(goals: tuple[Goal, ...], case: Case, against: str) -> Goal | None:
    """The goal of a case against somebody, if there is one; the one that names it first."""
    found = [g for g in goals if g.against == against and g.concerns(case)]
    return min(found, key=lambda g: g.what == EVERY, default=None)
