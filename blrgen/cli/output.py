"""Results to standard output, everything else to standard error; files without losing any."""

from __future__ import annotations

import os
import sys

from blrgen.errors import UserError

TYPE_CHECKING = False  # `typing` itself costs 5 ms
if TYPE_CHECKING:
    from typing import TextIO

LONGEST = 600  # characters of one line of a message


def prepare_streams() -> None:
    """UTF-8 into pipes and files whatever the locale; a terminal keeps its own encoding."""
    for stream in (sys.stdout, sys.stderr):
        # None when closed by the caller; without the method when replaced by a test
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is None:
            continue
        if stream.isatty():
            reconfigure(errors="backslashreplace")
        else:
            reconfigure(encoding="utf-8", errors="backslashreplace")


def coloured(stream: TextIO | None) -> bool:
    """Only on a terminal, and not against the user's wish (NO_COLOR, TERM=dumb)."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def result(text: str) -> None:
    """A result, ending in one newline."""
    if sys.stdout is None:
        raise UserError("standard output is closed", how="redirect it to a file or a pipe")
    sys.stdout.write(text if text.endswith("\n") else text + "\n")


def result_as_json(data: object) -> None:
    """Plain data as JSON: keys in their order, the same bytes on every run."""
    import json

    result(json.dumps(data, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """A remark beside the result."""
    if sys.stderr is not None:
        sys.stderr.write(plain(text) + "\n")


def report(text: str) -> None:
    """What went wrong, after what has been printed so far."""
    from contextlib import suppress

    if sys.stderr is None:
        return
    label = "\033[1;31merror:\033[0m" if coloured(sys.stderr) else "error:"
    with suppress(OSError):
        flush()
    with suppress(OSError):
        sys.stderr.write(f"{label} {plain(text)}\n")
        sys.stderr.flush()


def flush() -> None:
    """Let an error of a closed pipe or a full disk show here, where it is handled."""
    if sys.stdout is not None:
        sys.stdout.flush()


def plain(text: str) -> str:
    """Text safe for a terminal: control characters escaped, very long lines cut in the middle."""
    lines = []
    for line in text.split("\n"):
        if len(line) > LONGEST:
            half = LONGEST // 2
            line = f"{line[:half]} …[{len(line) - 2 * half} more characters]… {line[-half:]}"
        lines.append("".join(c if c.isprintable() or c == "\t" else _escaped(c) for c in line))
    return "\n".join(lines)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def save(path: str, text: str, *, force: bool) -> bool:
    """Write `text` to `path` in one step; False when the file already holds just that.

    A file with other content is somebody's work and stays as it is unless `force`.
    """
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    data = text.encode("utf-8")
    if os.path.isdir(target) or path.endswith(os.sep):
        raise UserError(f"{path!r} is a folder", how="give the name of a file in it")
    if not os.path.isdir(folder):
        raise UserError(f"no folder {folder!r}", where=f"-o {path}", how="make it first")
    if os.path.exists(target):
        if not os.path.isfile(target):  # /dev/stdout, a named pipe
            _write_through(target, data)
            return True
        if os.path.getsize(target) == len(data):
            with open(target, "rb") as stream:
                if stream.read() == data:
                    return False
        if not force:
            raise UserError(
                f"{path!r} exists and holds something else",
                why="it may have been edited since, or was not written by blrgen",
                how="choose another name, or add --force to replace it",
            )
    _replace(target, data)
    return True


def _write_through(target: str, data: bytes) -> None:
    """Into a pipe or a device; one that nobody reads is refused instead of waited for."""
    sink = os.open(target, os.O_WRONLY | getattr(os, "O_NONBLOCK", 0))
    os.set_blocking(sink, True)
    with open(sink, "wb") as stream:
        stream.write(data)


def _replace(target: str, data: bytes) -> None:
    """Write beside the target, then rename: readers see the old file or the new, never half."""
    draft = os.path.join(
        os.path.dirname(target), f".{os.path.basename(target)[:100]}.{os.getpid()}.draft"
    )
    try:
        with open(draft, "xb") as stream:
            stream.write(data)
        if os.path.exists(target):
            os.chmod(draft, os.stat(target).st_mode & 0o7777)
        os.replace(draft, target)
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise
