"""Interleaved repetitions: everything is timed in turn, round after round.

A machine that is busy with something else then delays all alike.  The best round of each
counts, the median is shown beside it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

ROUND = 0.004  # seconds that a turn lasts at least
WARM = 0.002  # seconds of calls ahead of it, at least one
LONG = 0.05  # seconds of a call that has more in memory than a cache holds
FEWEST = 3  # rounds, however long they take


@dataclass(frozen=True)
class Stepper:
    """What is timed; `before` runs ahead of every call and is not timed."""

    once: Callable[[], object]
    before: Callable[[], object] | None = None
    values: dict[str, Any] | None = None  # what it works on, for who wants to look


@dataclass(frozen=True)
class Timing:
    """Seconds a call: of the best round, and of the one in the middle."""

    best: float
    median: float


def measured(
    steppers: Mapping[str, Stepper],
    rounds: int,
    budget: float = float("inf"),
    pause: float = 0.0,
) -> dict[str, Timing]:
    """Seconds a call of each, from as many rounds as `budget` seconds allow, at most `rounds`.

    `pause` is how long the threads of a library wait for more work, on a core that the next
    one needs: before every turn, and of the budget only a quarter of it.
    """
    long = max(ROUND, pause / 2)  # whoever has slept has to get going again
    repeats = {title: _repeats(s, long) for title, s in steppers.items()}
    found: dict[str, list[float]] = {title: [] for title in steppers}
    titles = list(steppers)
    began = time.perf_counter()
    for turn in range(rounds):
        for title in _order(titles, turn):
            last = found[title][-1] if found[title] else 0.0
            time.sleep(pause)
            found[title].append(_turn(steppers[title], repeats[title], last))
        slept = 0.75 * pause * len(titles) * (turn + 1)
        if turn + 1 >= FEWEST and time.perf_counter() - began - slept > budget:
            break
    return {t: Timing(min(x), statistics.median(x)) for t, x in found.items()}


def _order(titles: list[str], turn: int) -> list[str]:
    """Who comes when: another one first each time, and every other time the other way round.

    So nobody always follows one whose arrays are cold, or its own.
    """
    first = turn // 2 % len(titles)
    order = [*titles[first:], *titles[:first]]
    return order[::-1] if turn % 2 else order


def _turn(stepper: Stepper, repeats: int, last: float = 0.0) -> float:
    """Seconds a call, over so many calls.

    Calls before them are not timed: they find in the caches what others have left there, and
    whoever follows one that works on the same arrays would have it better.
    """
    clock, once, before = time.perf_counter, stepper.once, stepper.before
    if before is None:
        start = clock()
        while last < LONG and clock() - start < WARM:
            once()
        start = clock()
        for _ in range(repeats):
            once()
        return (clock() - start) / repeats
    spent = 0.0
    for _ in range(repeats):
        before()
        start = clock()
        once()
        spent += clock() - start
    return spent / repeats


def _repeats(stepper: Stepper, long: float) -> int:
    """How many calls make a turn; the first call compiles, the second fills caches.

    What runs ahead of every call is not timed, and may take three times as long.
    """
    _turn(stepper, 2)
    start = time.perf_counter()
    spent = _turn(stepper, 1)
    whole = time.perf_counter() - start if stepper.before is not None else 0.0
    return max(1, min(100_000, int(long / max(1e-7, spent, whole / 4))))
