"""The process in which cases are measured: a request on standard input, a line a case.

A case that raises is reported and the next begins; one that ends the process is found by
the missing line, and the parent goes on behind it.
"""

from __future__ import annotations

import gc
import json
import sys
import warnings
from collections.abc import Callable
from typing import Any

from benchmarks import machine
from benchmarks.cases import Case
from benchmarks.goals import read_goals
from benchmarks.prepare import Timed
from benchmarks.setup import OURS, Setup, joined
from benchmarks.timing import Timing, measured

NEAR = 0.85  # of a goal
HELD = 40  # arrays that a case holds at most, peers and their temporaries included
SETTLED = 0.2  # seconds after which no thread of a BLAS waits for more work any longer


def experiments() -> dict[str, Callable[[Case, Timed], Setup]]:
    """Every experiment of `cases.EXPERIMENTS`."""
    from benchmarks import elementwise, many, matrices, noise, start

    return {
        "step": elementwise.step,
        "update": elementwise.update,
        "given": elementwise.given,
        "size": elementwise.sized,
        "flat": many.flat,
        "list": many.listed,
        "normals": noise.normals,
        "signs": noise.signs,
        "posv": matrices.posv,
        "small": matrices.small,
        "ridge": matrices.ridge,
        "start": start.first_step,
    }


def measure(case: Case, timed: Timed, rounds: int, budget: float) -> dict[str, Any]:
    """The times of one case, as they go into the JSON."""
    needed = (
        (20 if case.experiment == "size" else HELD)
        * case.size
        * (8 if case.dtype == "float64" else 4)
    )
    if case.experiment in ("step", "update", "given", "size") and needed > machine.memory():
        raise MemoryError("not enough memory for this size")
    setup = experiments()[case.experiment](case, timed)
    times = timings(case, setup, rounds, budget)
    if close(case, times):  # nearly there: more rounds for all, so that chance does not decide
        times = merged(times, timings(case, setup, rounds, 2 * budget))
    return {
        **case.as_dict(),
        "elements": setup.elements,
        "bytes": setup.bytes,
        "times": {t: {"best": x.best, "median": x.median} for t, x in times.items()},
    }


def timings(case: Case, setup: Setup, rounds: int, budget: float) -> dict[str, Timing]:
    """The times of everybody.

    The threads of a BLAS wait for more work on a core that others need, and are slower to
    start once they do not: where there are several, the better of turns that follow one
    another at once and of turns after a pause counts, for each.
    """
    times = joined(measured(setup.steppers, rounds, budget))
    if case.threads > 1 and setup.blas:
        times = merged(times, joined(measured(setup.steppers, rounds, budget, SETTLED)))
    return times


def close(case: Case, times: dict[str, Timing]) -> bool:
    """Whether a goal is missed by so little that a disturbance may have been the reason."""
    for goal in read_goals():
        ways = [t.best for title, t in times.items() if title.split(", ")[0] == goal.against]
        if ways and goal.concerns(case):
            ratio = min(ways) / times[OURS].best
            if not goal.met(ratio) and goal.met(ratio / NEAR):
                return True
    return False


def merged(first: dict[str, Timing], second: dict[str, Timing]) -> dict[str, Timing]:
    """The better of both best rounds, and of both medians."""
    return {
        title: Timing(min(t.best, second[title].best), min(t.median, second[title].median))
        for title, t in first.items()
    }


def main() -> int:
    """Read the request, measure, answer."""
    request = json.load(sys.stdin)
    machine.bind(request["threads"])
    warnings.simplefilter("ignore")
    timed = {k: Timed.from_dict(v) for k, v in request["timed"].items()}
    answers, sys.stdout = sys.stdout, sys.stderr  # what peers print is no answer
    for number, given in enumerate(request["cases"]):
        case = Case(**given)
        try:
            answer = measure(case, timed[request["of"][number]], *request["rounds"])
        except Exception as error:
            said = " ".join(str(error).split())[:200]
            answer = {**given, "error": f"{type(error).__name__}: {said}"}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
        gc.collect()
    return 0


if __name__ == "__main__":
    sys.exit(main())
