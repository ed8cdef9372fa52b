"""The count of mutants, at the end of the run."""

from __future__ import annotations

from collections import Counter
from typing import Any

TOLD = "mutants of "  # what a test tells of its mutants, under this and its own name


def pytest_terminal_summary(terminalreporter: Any) -> None:
    reports = [r for stats in terminalreporter.stats.values() for r in stats]
    told = [p for r in reports for p in getattr(r, "user_properties", ())]
    tally = {k.removeprefix(TOLD): Counter(v) for k, v in told if k.startswith(TOLD)}
    if not tally:
        return
    total: Counter[str] = Counter()
    terminalreporter.section("mutations")
    for name, fates in sorted(tally.items()):
        total.update(fates)
        terminalreporter.write_line(f"{name:32} {_row(fates)}")
    terminalreporter.write_line(f"{'all':32} {_row(total)}")


def _row(fates: Counter[str]) -> str:
    return (
        f"{sum(fates.values()):5} mutants: {fates['refuted']} refuted, "
        f"{fates['broken']} do not run, "
        f"{fates['equivalent']} proved equivalent, {fates['survived']} survived"
    )
