"""Table 1 of the paper, every row computed now: derived, proved, emitted, matched.

A row that no recipe reaches says what it needs.  Public implementations are compared on
their recorded trajectories, which come with a checkout and not with a wheel.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from typing import Any

from blrgen.approximate.tools.road import derive
from blrgen.paths import package_dir
from blrgen.text.table import table as aligned
from blrgen.text.table import wrap

HEADINGS = ("row", "candidate", "derived", "proved", "emitted", "matched")


@dataclass(frozen=True)
class Row:
    """One algorithm: how far it is shown, and the approximations that lead to it."""

    name: str
    cells: tuple[str, ...]
    approximations: str


def table(*, columns: int = 100) -> str:
    """The whole table as text."""
    with (package_dir() / "table.toml").open("rb") as file:
        entries = tomllib.load(file)["row"]
    rows = {name: _row(name) for e in entries for name in e.get("recipes", [])}
    body = aligned([(f"  {r.name}", *r.cells) for r in rows.values()], HEADINGS).splitlines()
    lines = dict(zip(rows, body[2:], strict=True))
    out = body[:2]
    for section in dict.fromkeys(e["section"] for e in entries):
        out += ["", section.upper()]
        for entry in (e for e in entries if e["section"] == section):
            out += _entry(entry, rows, lines, columns)
    return "\n".join(out) + "\n"


def _entry(
    entry: dict[str, Any], rows: dict[str, Row], lines: dict[str, str], columns: int
) -> list[str]:
    """The paper's row, then the algorithms that reproduce it."""
    needs = entry.get("needs", "")
    recipes = entry.get("recipes", [])
    out = [
        entry["title"]
        + (f": {'the rest is ' if recipes else ''}not yet, needs {needs}" if needs else "")
    ]
    for name in recipes:
        out.append(lines[name].rstrip())
        said = wrap(rows[name].approximations, columns - 6)
        out += [f"      {text}" for text in said]
    return out


def _row(name: str) -> Row:
    """Everything about one recipe, computed now."""
    from blrgen.decide.proof import weakest
    from blrgen.validate.derivation import verify_derivation

    print(f"  {name} …", file=sys.stderr, flush=True)
    d = derive(name)
    levels: list[str] = []
    emitted: dict[str, str] = {}
    for title, verdict in verify_derivation(d).parts:
        if title.startswith("emitted"):
            emitted[title.split()[1]] = verdict.level
        else:
            levels.append(verdict.level)
    said = " ".join("--" + (f if o is None else f"{f} {o}") for f, o in d.approximations)
    cells = (
        d.family.name,
        f"{len(d.steps)} lines",
        weakest(levels),
        _emitted(emitted),
        _matched(name),
    )
    return Row(name, cells, said)


def _emitted(levels: dict[str, str]) -> str:
    """The level of each target, said once when they agree."""
    if len(set(levels.values())) == 1:
        return f"{', '.join(levels)}: {next(iter(levels.values()))}"
    return ", ".join(f"{k}: {v}" for k, v in levels.items())


def _matched(name: str) -> str:
    """The largest relative difference from each public package's recorded trajectory."""
    root = package_dir().parent
    if not (root / "tests" / "peers" / "trajectories.py").is_file():
        return "recordings come with a checkout"
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    from tests.peers import trajectories
    from tests.peers.adapters import CASES

    worst: dict[str, float] = {}
    for case in CASES:
        if case.recipe != name or not case.same:
            continue
        labels = trajectories.classes(case)
        kind = labels.get("numpy", next(iter(labels.values())))()
        ours = trajectories.emitted(case, kind, trajectories.recorded_noise())
        gap = trajectories.compared(case, ours, trajectories.recorded(case))
        package = case.peer.split(".")[0]
        worst[package] = max(worst.get(package, 0.0), gap)
    return ", ".join(f"{p} {g:.0e}" for p, g in sorted(worst.items())) or "no public peer"
