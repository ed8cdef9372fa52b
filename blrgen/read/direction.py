"""Charts that stand the wrong way round: told, with the lines that would be right.

Under [natural] `working = "…"` is a natural parameter as a function of the working ones; under
[working] `natural = "…"` is a working parameter as a function of the natural ones.  Whoever
turns that round writes the formula of the one kind in names of that same kind, or under a
key that only the other kind has.  Which parameter it is the chart of follows from its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from blrgen.errors import UserError
from blrgen.read.declaration import Source

Table = dict[str, Any]
_OTHER = {"natural": "working", "working": "natural"}


@dataclass(frozen=True)
class Turned:
    """A chart that stands under `section`, NAME, KEY, and where it belongs."""

    section: str
    name: str
    key: str
    text: str
    home: str  # the section
    owner: str  # the parameter there

    @property
    def line(self) -> str:
        """The key and value at home."""
        return f'{_OTHER[self.home]} = "{self.text}"'


def check_directions(source: Source, read: Callable[[Source], object]) -> None:
    """Refuse charts that are the wrong way round; what is proposed has been read first."""
    found = turned(source.table)
    if not found:
        return
    first = found[0]
    kinds = f"[{first.section}] {first.key} = …"
    used = ", ".join(sorted(_used(first.text, source.table[first.section])))
    meant = "" if first.key == first.section else (
        f"{first.key} = … gives {first.name} by the {first.key} parameters, and this is "
        f"written in the {first.section} {used}"
    )  # fmt: skip
    raise UserError(
        f"the chart of {first.name} is the wrong way round",
        where=source.where(first.name, first.section),
        why=meant
        or f"{kinds} has no meaning: a {first.section} parameter is given by the "
        f"{_OTHER[first.section]} ones",
        how=_lines(source, found, read),
    )


def turned(table: Table) -> list[Turned]:
    """Every chart that stands in the wrong place."""
    natural, working = (table.get(s) for s in ("natural", "working"))
    if not isinstance(natural, dict) or not isinstance(working, dict):
        return []
    found = []
    for section, own, others in (("natural", natural, working), ("working", working, natural)):
        for k, (name, entry) in enumerate(own.items()):
            for key, text in entry.items() if isinstance(entry, dict) else ():
                if key not in _OTHER or not isinstance(text, str):
                    continue
                by_own, by_others = _used(text, own), _used(text, others)
                if by_own and not by_others and k < len(others):
                    owner = list(others)[k]
                    found.append(Turned(section, name, key, text, _OTHER[section], owner))
                elif key == section and by_others and not by_own:
                    found.append(Turned(section, name, key, text, section, name))
    return found


def _used(text: str, names: Table) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text)) & names.keys()


def _lines(source: Source, found: list[Turned], read: Callable[[Source], object]) -> str:
    """The entries that are right, when the file can be read with them; else the rule."""
    table = deepcopy(source.table)
    for t in found:
        del table[t.section][t.name][t.key]
        entry = table[t.home][t.owner]
        entry = entry if isinstance(entry, dict) else {"domain": entry}
        table[t.home][t.owner] = {**entry, _OTHER[t.home]: t.text}
    try:
        read(replace(source, table=table))
    except UserError:
        return 'working = "…" on a natural parameter, natural = "…" on a working one'
    said = [f"under [{t.home}], {t.owner} = {{ …, {t.line} }}" for t in found]
    return "; ".join(said)
