"""Published algorithms that are no recipes: `blrgen/algorithms.toml`.  Data only.

[adamw] has a title, other spellings in `also`, and either `flags`, the words behind
`blrgen derive` that reach it, or `missing`, what the rule or its approximations lack, with
`nearest`, words that come close.  A test derives all that is named.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from blrgen.errors import UserError
from blrgen.paths import package_dir
from blrgen.read.declaration import Source, expect, known_keys, load, one_line

_KEYS = ("title", "also", "flags", "missing", "nearest")


@dataclass(frozen=True)
class Algorithm:
    """What is known of a published algorithm: the road to it, or what is missing."""

    name: str
    title: str
    also: tuple[str, ...] = ()
    flags: str = ""
    missing: str = ""
    nearest: str = ""


def read_algorithms() -> dict[str, Algorithm]:
    """All of them by name, in the order of the file."""
    file = package_dir() / "algorithms.toml"
    source = load(file, file.name)
    return {name: _algorithm(name, table, source) for name, table in source.table.items()}


def unknown_algorithm(word: str) -> UserError | None:
    """What to say to somebody who asks for a published algorithm that is no recipe."""
    wanted = _plain(word)
    for a in read_algorithms().values():
        if wanted not in {_plain(x) for x in (a.name, a.title, *a.also)}:
            continue
        if a.flags:
            return UserError(f"{a.title} is no recipe", how=f"blrgen derive {a.flags}")
        near = f"nearest: blrgen derive {a.nearest}" if a.nearest else ""
        return UserError(f"{a.title} is not reached by flags", why=a.missing, how=near)
    return None


def _plain(word: str) -> str:
    return re.sub(r"[^a-z0-9]", "", word.lower())


def _algorithm(name: str, table: object, source: Source) -> Algorithm:
    where = source.line(name)
    entries = expect(table, dict, f"the algorithm {name}", where)
    known_keys(entries, _KEYS, ("title",), source, name)

    def text(key: str) -> str:
        value = entries.get(key, "")
        return one_line(value, key, f"{where}, {key}", limit=500) if value else ""

    also = expect(entries.get("also", []), list, "also", where)
    if bool(text("flags")) == bool(text("missing")):
        raise UserError(f"{name} needs either flags or missing", where=where)
    said = (text(key) for key in ("flags", "missing", "nearest"))
    return Algorithm(name, text("title"), tuple(map(str, also)), *said)
