"""The count of mutants, at the end of the run."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))  # the rules that several test files share


def pytest_terminal_summary(terminalreporter: Any) -> None:
    from prove_rules import TALLY

    if not TALLY:
        return
    total: Counter[str] = Counter()
    terminalreporter.section("mutations")
    for name, fates in sorted(TALLY.items()):
        total.update(fates)
        terminalreporter.write_line(f"{name:32} {_row(fates)}")
    terminalreporter.write_line(f"{'all':32} {_row(total)}")


def _row(fates: Counter[str]) -> str:
    return (
        f"{sum(fates.values()):5} mutants: {fates['refuted']} refuted, "
        f"{fates['broken']} do not run, "
        f"{fates['equivalent']} proved equivalent, {fates['survived']} survived"
    )
