"""Cases → results, one process for each number of threads, restarted behind a crash."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from threading import Timer
from typing import Any

from benchmarks import machine
from benchmarks.cases import Case, ordered
from benchmarks.prepare import Timed

Result = dict[str, Any]
PATIENCE = 240.0  # seconds that a process may take for one case, compiling included


def run(
    cases: Sequence[Case],
    timed: dict[str, Timed],
    of: Callable[[Case], str],
    rounds: int,
    budget: float,
    said: Callable[[Result], None] = lambda result: None,
) -> list[Result]:
    """Measure every case; `of` names the emitted file it needs, `said` hears each result."""
    results: list[Result] = []
    for threads in sorted({c.threads for c in cases}):
        waiting = [c for c in ordered(cases) if c.threads == threads]
        while waiting:
            found = _measured(waiting, timed, of, (rounds, budget), said)
            results += found
            waiting = waiting[len(found) :]
            if waiting:  # the process ended in the next one
                lost = {**waiting.pop(0).as_dict(), "error": "the process ended in this case"}
                said(lost)
                results.append(lost)
    return results


def _measured(
    cases: Sequence[Case],
    timed: dict[str, Timed],
    of: Callable[[Case], str],
    rounds: tuple[int, float],
    said: Callable[[Result], None],
) -> list[Result]:
    """The results of a process, as many as it came to."""
    names = [of(c) for c in cases]
    request = {
        "threads": cases[0].threads,
        "cases": [c.as_dict() for c in cases],
        "of": names,
        "timed": {name: timed[name].as_dict() for name in sorted(set(names))},
        "rounds": rounds,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.child"],
        env=machine.environment(cases[0].threads),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps(request))
    process.stdin.close()
    found = []
    try:
        while line := _line(process):
            found.append(json.loads(line))
            said(found[-1])
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    return found


def _line(process: subprocess.Popen[str]) -> str:
    """The next line; a process that takes too long is ended and has none."""
    assert process.stdout is not None
    watch = Timer(PATIENCE, process.kill)
    watch.start()
    try:
        return process.stdout.readline()
    finally:
        watch.cancel()
