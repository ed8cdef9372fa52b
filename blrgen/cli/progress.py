"""One line on a terminal that says what is being done; in a pipe or a file a line now and then."""

from __future__ import annotations

import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import TextIO

_ERASE = "\r\033[K"
EVERY = 5.0  # seconds between two lines where none can be replaced
WORKING = "… "  # how such a line begins


class Progress:
    """`say` replaces the line; leaving the block erases it."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.live = self.stream is not None and _is_terminal(self.stream)
        self.last = time.monotonic()

    def say(self, text: str) -> None:
        """Show what is being done."""
        if self.live:
            from blrgen.cli.output import plain
            from blrgen.cli.parser import columns

            self._write(_ERASE + plain(text.replace("\n", " "))[: columns() - 1])
        elif self.stream is not None and time.monotonic() >= self.last + EVERY:
            self.last = time.monotonic()
            self._write(f"{WORKING}{text}".replace("\n", " ") + "\n")

    def clear(self) -> None:
        """Make room for a result."""
        if self.live:
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        try:
            self.stream.write(text)
            self.stream.flush()
        except OSError:
            self.live = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()


def _is_terminal(stream: TextIO) -> bool:
    import os

    return stream.isatty() and os.environ.get("TERM") != "dumb"
