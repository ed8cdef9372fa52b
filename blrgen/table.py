"""Table 1 of the paper, every row computed now: derived, proved, emitted, matched.

A row that no recipe reaches says what it needs.  Public implementations are compared on
their recorded trajectories, which come with a checkout and not with a wheel.
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass

from blrgen.api import derive
from blrgen.core import Derivation
from blrgen.errors import UserError
from blrgen.paths import package_dir
from blrgen.show.table import table as aligned

HEADINGS = ("row", "candidate", "approximations", "derived", "proved", "emitted", "matched")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    title: str
    candidate: str = ""
    approximations: str = ""
    derived: str = ""
    proved: str = ""
    emitted: str = ""
    matched: str = ""

    def cells(self) -> tuple[str, ...]:
        return (self.title, self.candidate, self.approximations, self.derived, self.proved,
                self.emitted, self.matched)  # fmt: skip


def table(*, columns: int = 160) -> str:
    """The whole table as text."""
    with (package_dir() / "table.toml").open("rb") as file:
        entries = tomllib.load(file)["row"]
    out: list[str] = []
    for section in dict.fromkeys(e["section"] for e in entries):
        rows: list[tuple[str, ...]] = []
        for entry in (e for e in entries if e["section"] == section):
            rows += [r.cells() for r in _rows(entry)]
        out += [section, aligned(rows, HEADINGS, columns=columns).rstrip(), ""]
    return "\n".join(out).rstrip() + "\n"


def _rows(entry: dict[str, object]) -> list[Row]:
    recipes = [str(r) for r in list(entry.get("recipes", []))]  # type: ignore[call-overload]
    needs = str(entry.get("needs", ""))
    title = str(entry["title"])
    rows = [Row(title)] if recipes != [recipe_slug(title)] or needs else []
    if needs:
        rows = [Row(title, derived=f"not yet: needs {needs}")]
    for name in recipes:
        print(f"  {name} …", file=sys.stderr, flush=True)
        rows.append(_recipe_row(name))
    return rows


def recipe_slug(title: str) -> str:
    return title.lower().replace(" ", "-")


def _recipe_row(name: str) -> Row:
    from blrgen.prove.derivation import verify_derivation

    try:
        d = derive(name)
    except UserError as e:
        return Row(f"  {name}", derived=f"no: {e.what}")
    said = " ".join(f if o is None else f"{f}={o}" for f, o in d.approximations) or "none"
    levels, emitted = [], []
    for title, verdict in verify_derivation(d).parts:
        if title.startswith("emitted"):
            emitted.append(f"{title.split()[1]}: {verdict.level}")
        else:
            levels.append(verdict.level)
    from blrgen.prove.proof import weakest

    return Row(
        f"  {name}", d.family.name, said, f"{len(d.steps)} lines", weakest(levels),
        ", ".join(emitted), _matched(name, d),
    )  # fmt: skip


def _matched(name: str, d: Derivation) -> str:
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
