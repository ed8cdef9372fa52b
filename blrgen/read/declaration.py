"""TOML files that declare something: loading, and the checks that name file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from blrgen.errors import UserError, did_you_mean
from blrgen.limits import FAMILY_BYTES
from blrgen.paths import text_of

if TYPE_CHECKING:
    from pathlib import Path

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SLUG = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_HEADER = re.compile(r"\s*\[+\s*([^\]]*?)\s*\]+")
_KEY = re.compile(r"\s*[\"']?([^=]*?)[\"']?\s*=")
_KINDS = {
    str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list",
    dict: "a table",
}  # fmt: skip


@dataclass(frozen=True)
class Source:
    """A TOML file as read: its table, and its text to find lines in."""

    path: str
    text: str
    table: dict[str, Any]

    def line(self, key: str, table: str = "") -> str:
        """path:line of a key in a table (of the first key of that name when it is not found)."""
        headers, keys = _places(self.text)
        number = keys.get((table, key)) or (0 if table else headers.get(key, 0))
        return f"{self.path}:{number}" if number else self.path

    def where(self, key: str, table: str = "") -> str:
        """The line of a key, and the key itself, for a message."""
        return f"{self.line(key, table)}, {f'[{table}] ' if table else ''}{key}"


@lru_cache(maxsize=8)
def _places(text: str) -> tuple[dict[str, int], dict[tuple[str, str], int]]:
    """The first line of every header, and of every key in a table ("" before the first header)."""
    headers, keys, inside = dict[str, int](), dict[tuple[str, str], int](), ""
    for number, row in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(row):
            inside = header[1]
            headers.setdefault(inside, number)
        elif key := _KEY.match(row):
            keys.setdefault((inside, key[1]), number)
    return headers, keys


def load(path: Path, shown: str = "") -> Source:
    """A TOML file, or a `UserError` with file and line."""
    shown = shown or str(path)
    return of_text(text_of(path, FAMILY_BYTES, shown), shown)


def of_text(text: str, shown: str) -> Source:
    """The text of a TOML file that is called `shown`."""
    import tomllib

    return Source(shown, text, parse_toml(text, shown, tomllib.loads))


def parse_toml(text: str, shown: str, loads: Any) -> dict[str, Any]:
    """The table of a TOML text; a mistake in it is told with its line."""
    try:
        table: dict[str, Any] = loads(text.replace("\r\n", "\n"))
    except ValueError as error:  # TOMLDecodeError is one; so are numbers too long to convert
        message = str(error)
        found = re.search(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)", message)
        line = found[1] if found and found[1] else str(len(text.splitlines()) or 1)
        reason = message[: found.start()] if found else "A value cannot be read"
        reason = reason[:1].lower() + reason[1:]
        raise UserError(
            f"{shown} is not valid TOML", where=f"{shown}:{line}", why=reason,
            how='values are quoted: support = "(0, oo)"' if "nvalid value" in message else "",
        ) from None  # fmt: skip
    except RecursionError:
        raise UserError(
            f"{shown} is not valid TOML", why="its values are nested too deeply"
        ) from None
    return table


def expect(value: Any, kind: type, what: str, where: str) -> Any:
    """The value, when it is of the kind."""
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        got = _KINDS.get(type(value), type(value).__name__)
        raise UserError(f"{what} must be {_KINDS[kind]}", where=where, why=f"it is {got}")
    return value


def one_line(value: Any, what: str, where: str, *, limit: int = 300) -> str:
    """Text for people that may land in a docstring: one printable line, no quotes to break out."""
    text: str = expect(value, str, what, where).strip()
    if not text or len(text) > limit:
        raise UserError(f"{what} must have 1 to {limit} characters", where=where)
    for c in text:
        if not c.isprintable() or c in '"\\':
            raise UserError(
                f"{what} cannot hold {c!r}", where=where, why="it is copied into emitted files"
            )
    return text


def formula_text(value: Any, what: str, where: str) -> str:
    """A formula; line breaks of a multi-line TOML string are blanks."""
    text: str = expect(value, str, what, where)
    return re.sub(r"[ \t]*\n[ \t]*", " ", text).strip()


def known_keys(
    table: Mapping[str, Any], known: Iterable[str], required: Iterable[str], source: Source,
    inside: str = "",
) -> None:  # fmt: skip
    """Every key is known and every required one is there."""
    names = list(known)
    label = f"[{inside}]" if inside else "the file"
    for key in table:
        if key not in names:
            raise UserError(
                f"unknown key {key!r} in {label}", where=source.line(key, inside),
                how=did_you_mean(key, names),
            )  # fmt: skip
    missing = [key for key in required if key not in table]
    if missing:
        raise UserError(
            f"missing key {', '.join(map(repr, missing))}", where=source.path,
            how=f"{label} needs {', '.join(required)}",
        )  # fmt: skip


def slug(value: Any, what: str, where: str) -> str:
    """A name on the command line: lowercase words joined by hyphens."""
    text: str = expect(value, str, what, where)
    if len(text) > 60 or not _SLUG.fullmatch(text):
        raise UserError(
            f"{what} cannot be {text[:60]!r}", where=where,
            why="it is lowercase letters and digits, joined by hyphens", how='write "my-family"',
        )  # fmt: skip
    return text


def identifier(name: str, what: str, where: str) -> str:
    """A name that may stand in emitted code: an ASCII identifier that nothing else uses."""
    import keyword

    from blrgen.limits import NAME_CHARACTERS as MAX_NAME

    why = ""
    if not _NAME.fullmatch(name) or "__" in name:
        why = "names are ASCII letters, digits and single underscores, and start with a letter"
    elif len(name) > MAX_NAME:
        why = f"names have at most {MAX_NAME} characters"
    elif keyword.iskeyword(name):
        why = "it is a word of Python, and names end up in emitted code"
    if why:
        how = "write lam" if name == "lambda" else ""
        raise UserError(f"{what} cannot be {name[:60]!r}", where=where, why=why, how=how)
    return name
