"""Seconds of a call, several in turn: of each the best counts.

With one thread they are the processor's: a machine that is shared with others takes turns of
some milliseconds, and a step may be longer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

SHORT = 2e-4  # seconds that are timed at once, at least
TURN = 0.02  # seconds for each in a round


def best(calls: Mapping[str, Callable[[], object]], rounds: int, threads: int) -> dict[str, float]:
    """The best of each, after two calls that compile and warm up."""
    clock = time.thread_time if threads == 1 else time.perf_counter
    together: dict[str, int] = {}
    for name, call in calls.items():
        call()
        start = clock()
        call()
        together[name] = max(1, int(SHORT / max(clock() - start, 1e-7)))
    found = dict.fromkeys(calls, float("inf"))
    for turn in range(rounds):
        for name in calls if turn % 2 else reversed([*calls]):
            found[name] = min(found[name], _turn(calls[name], together[name], clock))
    return found


def _turn(call: Callable[[], object], together: int, clock: Callable[[], float]) -> float:
    """The best of some calls; the first finds in the caches what others left."""
    call()
    found, spent = float("inf"), 0.0
    while spent < TURN:
        start = clock()
        for _ in range(together):
            call()
        taken = clock() - start
        spent += taken
        found = min(found, taken / together)
    return found
