"""What is being done is said: on one line of a terminal, now and then in a pipe."""

from __future__ import annotations

import io

import pytest

from blrgen.cli import progress


def test_a_pipe_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    stream = io.StringIO()
    with progress.Progress(stream) as said:
        said.say("at once")
        for second in range(1, 13):
            now[0] = 100.0 + second
            said.say(f"after {second} s")
    assert stream.getvalue() == "… after 5 s\n… after 10 s\n"


def test_a_terminal_has_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_is_terminal", lambda stream: True)
    stream = io.StringIO()
    with progress.Progress(stream) as said:
        said.say("one")
        said.say("two")
    assert stream.getvalue() == "\r\033[Kone\r\033[Ktwo\r\033[K"
