"""An end in time and memory: counts bound what is read, a clock bounds the algebra."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS, GIGABYTES = 120.0, 3.0
EVERY = 0.5  # seconds between two looks at the clock


class TooMuch(BaseException):
    """More time or memory than a step function is given; no handler for exceptions sees it."""


def _peak() -> float:
    """The most memory that this process has had, in gigabytes."""
    import resource

    unit = 2**30 if sys.platform == "darwin" else 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


@contextmanager
def bounded() -> Iterator[None]:
    """Inside, TooMuch ends what takes too long or too much; where there are no signals, nothing.

    The clock is that of the processor: a machine that is busy otherwise changes no verdict.
    """
    here = threading.current_thread() is threading.main_thread()
    if not here or not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return
    start, had = time.process_time(), _peak()

    def look(*_: Any) -> None:
        late, large = time.process_time() - start > SECONDS, _peak() - had > GIGABYTES
        if late or large:  # once: a second one would come while the first is on its way
            signal.setitimer(signal.ITIMER_REAL, 0)
            raise TooMuch(f"more than {SECONDS:.0f} s" if late else f"more than {GIGABYTES:.0f} GB")

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, EVERY, EVERY)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
