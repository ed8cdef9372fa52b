"""How much work something is, as a count of calls: the same on every machine, busy or not."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def calls_at_most(limit: int) -> Iterator[None]:
    """Fail, and stop at once what is inside, after more calls of functions than that."""
    count = 0

    def counted(frame: FrameType, event: str, given: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")
        if count > limit:
            sys.setprofile(None)
            raise AssertionError(f"more than {limit} calls")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        yield
    finally:
        sys.setprofile(before)
        assert count <= limit, f"more than {limit} calls"  # whoever caught the error above
