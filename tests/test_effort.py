"""The measure of work sees what is too much, also behind code that catches everything."""

from __future__ import annotations

from contextlib import suppress

import pytest

from tests.effort import calls_at_most

pytestmark = pytest.mark.core


def work(calls: int) -> int:
    return sum(len("x") for _ in range(calls))


def test_little_passes_and_much_is_stopped() -> None:
    with calls_at_most(1000):
        assert work(100) == 100
    reached: list[int] = []
    with pytest.raises(AssertionError, match="more than 1000 calls"), calls_at_most(1000):
        for _ in range(10**9):
            reached.append(work(1))
    assert 0 < len(reached) <= 1000


def test_an_error_that_is_caught_is_still_one() -> None:
    def quiet() -> None:
        with suppress(AssertionError):
            work(100)

    with pytest.raises(AssertionError, match="more than 10 calls"), calls_at_most(10):
        quiet()
