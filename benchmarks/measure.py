"""A whole run: prepare, measure, compare, save."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.goals import read_goals
from benchmarks.run import Result, run
from benchmarks.suite import Settings, cases, file_of, files

MANY_ROUNDS = 60
BUDGET, QUICK_BUDGET = 1.2, 0.3  # seconds a case


@dataclass(frozen=True)
class Run:
    """Results, their rows, and how long it all took."""

    results: list[Result]
    rows: list[report.Row]
    seconds: float
    quick: bool

    def document(self) -> dict[str, Any]:
        return report.document(self.results, self.rows, self.seconds, self.quick)

    def save(self, folder: Path) -> list[Path]:
        """JSON, and the picture where matplotlib is installed."""
        from benchmarks.picture import picture

        made = self.document()
        return [report.save(folder, made), *picture(folder, made)]


def measure(
    settings: Settings, rounds: int = 0, said: Callable[[str], None] = lambda text: None
) -> Run:
    """Measure what was asked for."""
    began = time.perf_counter()
    said("deriving")
    timed = files(settings)
    waiting = cases(settings, timed)
    count = 0

    def heard(result: Result) -> None:
        nonlocal count
        count += 1
        case = f"{result['what']} {result['size']:g} {result['dtype']} {result['experiment']}"
        said(f"{count} of {len(waiting)}: {case}, threads: {result['threads']}")

    said(f"{len(waiting)} cases")
    budget = float("inf") if rounds else QUICK_BUDGET if settings.quick else BUDGET
    results = run(waiting, timed, file_of, rounds or MANY_ROUNDS, budget, heard)
    found = report.rows(results, read_goals())
    return Run(results, found, time.perf_counter() - began, settings.quick)
