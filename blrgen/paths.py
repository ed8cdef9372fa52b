"""Where the data folders are, in a checkout and in a wheel; reading a file, whatever it is."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from blrgen.errors import InternalError, UserError
from blrgen.limits import CHUNK, PIPE_BYTES, READING, SILENCE

if TYPE_CHECKING:
    from pathlib import Path

# kind → its place in a checkout; a wheel has every one under blrgen/_data/KIND
_CHECKOUT = {
    "families": ("families",),
    "models": ("models",),
    "templates": ("templates",),
    "reference": ("tests", "reference"),
}
_MARKS = ("pyproject.toml", ".git")  # what tells a checkout from a site-packages folder


def package_dir() -> Path:
    """The folder of the package itself."""
    from pathlib import Path

    return Path(__file__).resolve().parent


def data_dir(kind: str) -> Path:
    """The folder of "families", "models", "templates" or "reference" (hand-written algorithms)."""
    if kind not in _CHECKOUT:
        raise InternalError(f"no data folder is called {kind!r}; known: {', '.join(_CHECKOUT)}")
    package = package_dir()
    packed = package / "_data" / kind
    if packed.is_dir():
        return packed
    root = package.parent
    beside = root.joinpath(*_CHECKOUT[kind])
    if beside.is_dir() and any((root / mark).exists() for mark in _MARKS):
        return beside
    raise InternalError(
        f"the data folder {kind!r} is missing: looked in {packed} and {beside}; "
        "the installation is incomplete"
    )


def text_of(path: str | Path, most: int, shown: str = "") -> str:
    """The text of a file of at most so many bytes: no more is read, whatever the path is."""
    shown = shown or str(path)
    data = bytes_of(path, most, shown)
    try:
        return data.decode("utf-8-sig")  # some editors write a mark first
    except UnicodeDecodeError as error:
        why = f"byte {error.start} cannot be decoded"
        raise UserError(f"{shown} is not UTF-8 text", why=why) from None


def bytes_of(path: str | Path, most: int, shown: str = "") -> bytes:
    """What a file holds, at most so many bytes of it; whatever the path is, in bounded time.

    A pipe without a writer, or one whose writer is silent, would be waited for without end.
    """
    shown = (shown or str(path))[:200]
    options = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        source = os.open(path, options)
        try:
            data = _read(source, most, shown)
        finally:
            os.close(source)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        why = (getattr(error, "strerror", "") or str(error)).lower()
        raise UserError(f"cannot read {shown}", why=why) from None
    return data


def _read(source: int, most: int, shown: str) -> bytes:
    """All bytes of an open file, where there are no more than `most`."""
    from select import select
    from time import monotonic

    about = os.fstat(source)
    if stat.S_ISREG(about.st_mode) and about.st_size > most:
        raise UserError(f"{shown} is too large", why=f"{about.st_size} bytes, at most {most}")
    if not stat.S_ISREG(about.st_mode):
        most = min(most, PIPE_BYTES)
    data, end = bytearray(), monotonic() + READING
    while len(data) <= most:
        try:
            part = os.read(source, min(most + 1 - len(data), CHUNK))
        except BlockingIOError:
            if not select([source], [], [], max(0.0, min(SILENCE, end - monotonic())))[0]:
                why = f"nothing came from it for {SILENCE} seconds, and its end has not come"
                raise UserError(f"cannot read {shown}", why=why) from None
            continue
        if not part:
            break
        data += part
        if monotonic() > end:
            why = f"it has not ended after {READING} seconds"
            raise UserError(f"cannot read {shown}", why=why)
    if len(data) > most:
        raise UserError(f"{shown} is too large", why=f"more than {most} bytes")
    if not data and stat.S_ISFIFO(about.st_mode):
        raise UserError(f"cannot read {shown}", why="it is a pipe, and nothing is written into it")
    return bytes(data)
