"""A limit on the time that one stage may take: computer algebra can run away."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """Not an `Exception`: code that tries one method after another must not catch it."""


@contextmanager
def limit(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the block after that long, where signals can do it.

    Counted is the processor's time: a busy machine does not change what is found.
    """
    able = hasattr(signal, "SIGPROF") and threading.current_thread() is threading.main_thread()
    if not able:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again, should it be swallowed
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
