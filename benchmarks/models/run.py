"""The table of emitted models: `make bench-models`, which keeps LAPACK to one thread."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numba

from benchmarks.models import clock
from benchmarks.models.cases import Case, cases


@dataclass(frozen=True)
class Line:
    """Seconds of a step of ours, of the kernel, and of the package."""

    title: str
    threads: int
    goal: float
    ours: float = 0.0
    kernel: float = float("nan")
    peer: float = float("nan")
    package: str = ""
    error: str = ""

    @property
    def ratio(self) -> float:
        return self.ours / self.kernel

    @property
    def verdict(self) -> str:
        if self.error or self.kernel != self.kernel:
            return self.error
        return "pass" if self.ratio <= self.goal else "MISS"


def measured(case: Case, threads: int, with_peers: bool, rounds: int) -> Line:
    """One line: made, warmed up, timed in turn."""
    numba.set_num_threads(threads)
    package = case.peer[0] if case.peer else ""
    try:
        steps: dict[str, Any] = {"ours": case.ours()}
        if case.kernel is not None:
            steps["kernel"] = case.kernel()
        found: dict[str, Any] = dict(clock.best(steps, rounds, threads))
        if with_peers and case.peer is not None and threads == 1:
            peer = clock.best({"peer": case.peer[1]()}, 2, threads)
            found["peer"] = peer["peer"] / case.steps
    except Exception as error:
        words = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return Line(case.title, threads, case.goal, error=words, package=package)
    return Line(case.title, threads, case.goal, package=package, **found)


def row(x: Line) -> str:
    """One line of the table."""
    if x.error:
        return f"{x.title:42s} {x.threads}  {x.error}"
    their = f"{x.package} ÷ ours {x.peer / x.ours:8.1f}" if x.peer == x.peer else ""
    times = f"{1e3 * x.ours:10.3f} ms  kernel {1e3 * x.kernel:10.3f} ms  ratio {x.ratio:6.2f}"
    return f"{x.title:42s} {x.threads}  {times}  {x.verdict:4s}  {their}"


def main() -> int:
    """Measure what is asked for and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="WORD", help="cases whose title has it")
    parser.add_argument("--no-peers", action="store_true", help="kernels alone")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    options = parser.parse_args()
    lines: list[Line] = []
    for case in cases():
        if options.only.lower() not in case.title.lower():
            continue
        for threads in case.threads:
            lines.append(measured(case, threads, not options.no_peers, options.rounds))
            print(row(lines[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps([asdict(x) for x in lines], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
