"""Seconds a call of several functions, interleaved; of each the best single call counts.

Every call of some length is timed by itself: what else runs on the machine then spoils single
calls and not whole rounds.  So calls are kept shorter than the slices that a busy machine is
shared in, a few milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

TURN = 0.004  # seconds for each in a round
SINGLE = 30e-6  # seconds that are timed at once, at least
FEWEST, MOST = 7, 21  # rounds


def best(calls: Mapping[str, Callable[[], object]], rounds: int = MOST) -> dict[str, float]:
    """Seconds of the best call of each, warm; every other round goes the other way."""
    found = dict.fromkeys(calls, float("inf"))
    together = {title: _together(call) for title, call in calls.items()}
    order = list(calls)
    for turn in range(rounds):
        for title in order if turn % 2 else order[::-1]:
            found[title] = min(found[title], _turn(calls[title], together[title]))
    return found


def _together(call: Callable[[], object]) -> int:
    """How many calls are timed at once; the first compiles."""
    call()
    start = time.perf_counter()
    call()
    return max(1, int(SINGLE / max(time.perf_counter() - start, 1e-7)))


def _turn(call: Callable[[], object], together: int) -> float:
    """The best of a few milliseconds; the first call finds in the caches what others left."""
    call()
    found, start = float("inf"), time.perf_counter()
    now = start
    while now - start < TURN:
        before = time.perf_counter()
        for _ in range(together):
            call()
        now = time.perf_counter()
        found = min(found, (now - before) / together)
    return found
