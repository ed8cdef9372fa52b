"""The table of programs over axes against bare kernels.

Each program is emitted, compiled and held against its kernel; then both are timed in turn, in
one process.  The ratio is time of the program ÷ time of the kernel, its goal stands in `cases`.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numba
import numpy as np

from benchmarks.axes import interleaved
from benchmarks.axes.cases import Case, cases
from benchmarks.axes.emitted import emitted
from tests.program.axes import problems
from tests.program.axes.programs import PROGRAMS

NEAR = 1e-9  # of the largest entry: what adding up in another order may do to long sums


@dataclass(frozen=True)
class Line:
    """What was measured of one case; without a ratio the reason."""

    case: Case
    kernel: float = 0.0
    program: float = 0.0
    error: str = ""

    @property
    def ratio(self) -> float:
        return self.program / self.kernel if self.kernel else float("nan")

    @property
    def verdict(self) -> str:
        return self.error or ("pass" if self.ratio <= self.case.goal else "MISS")

    def as_dict(self) -> dict[str, Any]:
        """One entry of the JSON file."""
        return {
            **{"program": self.case.program, "title": self.case.title},
            **{"sizes": self.case.sizes, "known": self.case.known, "threads": self.case.threads},
            **{"kernel": self.kernel, "emitted": self.program, "ratio": self.ratio},
            **{"goal": self.case.goal, "verdict": self.verdict},
        }


def measured(case: Case, rounds: int) -> Line:
    """One line: set up, compared, timed."""
    numba.set_num_threads(case.threads)
    given = {**getattr(problems, case.program)(**case.sizes), **case.more}
    try:
        program, wanted = emitted(case, given)
        kernel, found = by_hand(case, given, wanted)
        program()
        kernel()
        differ = different(wanted, found)
    except Exception as error:
        return Line(case, error=f"{type(error).__name__}: {' '.join(str(error).split())[:120]}")
    if differ:
        return Line(case, error=f"differs in {', '.join(differ)}")
    times = interleaved.best({"kernel": kernel, "program": program}, rounds)
    return Line(case, times["kernel"], times["program"])


def by_hand(
    case: Case, given: dict[str, Any], like: dict[str, np.ndarray]
) -> tuple[Callable[[], object], dict[str, np.ndarray]]:
    """A call of the kernel, and the arrays it writes.

    What the program overwrites in place the kernel does too, in arrays of its own.
    """
    writes = {made: name for name, made in PROGRAMS[case.program].writes}
    own = {k: v.copy() if k in writes.values() else v for k, v in given.items()}
    outs = {k: np.empty_like(v) for k, v in like.items() if k not in writes}
    arguments = (*own.values(), *outs.values())
    return lambda: case.kernel(*arguments), {**outs, **{k: own[v] for k, v in writes.items()}}


def different(wanted: dict[str, np.ndarray], found: dict[str, np.ndarray]) -> list[str]:
    """The results in which both differ."""
    return [
        name
        for name, value in wanted.items()
        if not np.abs(found[name] - value).max() <= NEAR * np.abs(value).max()
    ]


def table(lines: list[Line]) -> str:
    """The lines as text."""
    width = max(len(x.case.title) for x in lines)
    rows = [f"{'':{width}}  threads     kernel    program  ratio   goal"]
    for x in lines:
        row = f"{x.case.title:{width}}  {x.case.threads:7d} "
        row += (
            f"{1e6 * x.kernel:8.1f}µs {1e6 * x.program:8.1f}µs  {x.ratio:5.2f}  {x.case.goal:5.2f}"
        )
        rows.append(f"{row}  {x.verdict}")
    return "\n".join(rows)


def main() -> int:
    """Measure what is asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few cases, fewer rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose title has it")
    parser.add_argument("--threads", type=int, metavar="N", help="cases for so many threads")
    options = parser.parse_args()
    chosen = [c for c in cases() if options.only in c.title and (c.quick or not options.quick)]
    chosen = [c for c in chosen if options.threads in (None, c.threads)]
    rounds = interleaved.FEWEST if options.quick else interleaved.MOST
    lines = []
    for case in chosen:
        lines.append(measured(case, rounds))
        print(f"{case.title}: {lines[-1].ratio:.2f} {lines[-1].verdict}", file=sys.stderr)
    if lines:
        print(table(lines))
    if options.json:
        options.json.write_text(json.dumps([x.as_dict() for x in lines], indent=1) + "\n")
    return 0
