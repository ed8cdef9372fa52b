"""Table 1 of the paper, every row computed now: derived, proved, emitted, matched.

A row that no recipe and no model reaches says what it needs.  Public implementations are
compared on their recorded trajectories, which come with a checkout and not with a wheel.
Below the paper's rows stand others, which are not counted.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from blrgen.approximate.tools.road import derive
from blrgen.paths import package_dir
from blrgen.text.table import table as aligned
from blrgen.text.table import wrap

ABSENT = "recordings come with a checkout"
NO_PEER = "no public peer"
BY_HAND = "as written by hand"  # tests/reference, in the report of `verify`
HEADINGS = ("row", "candidate", "derived", "proved", "emitted", "matched")
SCHEMA = "blrgen.table/1"
PROVED = ("identity", "random-exact")
SHOWN = (*PROVED, "numeric")


@dataclass(frozen=True)
class Algorithm:
    """One recipe, or a model with its flag: how far it is shown, and by which choices."""

    name: str
    candidate: str
    approximations: tuple[str, ...]
    lines: int
    proved: str
    emitted: tuple[tuple[str, str], ...]  # target and level
    matched: tuple[tuple[str, float], ...]  # package and largest relative difference
    unmatched: str = ""  # why nothing was matched
    of_model: bool = False
    by_hand: bool = False  # it is what is written by hand for it (tests/reference)

    @property
    def cells(self) -> tuple[str, ...]:
        """As texts, in the order of the headings."""
        shown = ", ".join(f"{p} {g:.0e}" for p, g in self.matched) or self.unmatched
        levels = _emitted(dict(self.emitted))
        return f"  {self.name}", self.candidate, f"{self.lines} lines", self.proved, levels, shown


@dataclass(frozen=True)
class Row:
    """A row of the paper with the algorithms that reproduce it, and what it still needs."""

    section: str
    title: str
    algorithms: tuple[Algorithm, ...]
    missing: str = ""
    beside: bool = False  # no row of the paper

    @property
    def proved(self) -> bool:
        """Whether all of its algorithms are, and none is missing."""
        return bool(self.algorithms) and not self.missing and all(
            a.proved in PROVED for a in self.algorithms)  # fmt: skip

    @property
    def emitted(self) -> bool:
        """Whether an algorithm has a class for every target that was held to the derivation."""
        return any(len(a.emitted) > 1 and all(level in SHOWN for _, level in a.emitted)
                   for a in self.algorithms)  # fmt: skip

    @property
    def matched(self) -> bool:
        """Whether an algorithm was compared with a public package."""
        return any(a.matched for a in self.algorithms)

    @property
    def by_hand(self) -> bool:
        """Whether all of its recipes and mixtures are what is written by hand for them."""
        own = [a for a in self.algorithms if not a.of_model]
        return bool(own) and not self.missing and all(a.by_hand for a in own)


@dataclass(frozen=True)
class Entry:
    """A row as it is declared."""

    section: str
    title: str
    recipes: tuple[str, ...] = ()
    models: tuple[tuple[str, str], ...] = ()  # a model and its flag
    mixtures: tuple[tuple[str, ...], ...] = ()  # a family and its flags
    needs: str = ""
    beside: bool = False


def entries() -> tuple[Entry, ...]:
    """All rows as they are declared."""
    with (package_dir() / "table.toml").open("rb") as file:
        found = tomllib.load(file)["row"]
    return tuple(
        Entry(
            e["section"], e["title"], tuple(e.get("recipes", ())),
            tuple((name, flag) for name, flag in e.get("models", ())),
            tuple(map(tuple, e.get("mixtures", ()))), e.get("needs", ""), e.get("beside", False),
        )
        for e in found
    )  # fmt: skip


def computed(say: Callable[[str], None]) -> tuple[Row, ...]:
    """All rows; `say` is told which recipe is looked at."""
    return tuple(
        Row(
            e.section, e.title,
            (*(_algorithm(name, say) for name in e.recipes),
             *(_of_model(name, flag, say) for name, flag in e.models),
             *(_of_mixture(name, list(flags), say) for name, *flags in e.mixtures)),
            e.needs, e.beside,
        )
        for e in entries()
    )  # fmt: skip


def as_data(rows: tuple[Row, ...]) -> dict[str, Any]:
    """The keys of docs/json.md."""
    return {"schema": SCHEMA, "rows": [_row_data(r) for r in rows]}


def _row_data(row: Row) -> dict[str, Any]:
    recipes = [
        {
            "name": a.name,
            "candidate": a.candidate,
            "approximations": list(a.approximations),
            "lines": a.lines,
            "proved": a.proved,
            "emitted": dict(a.emitted),
            "matched": _worst(a.matched),
        }
        for a in row.algorithms
    ]
    return {
        "section": row.section, "title": row.title, "recipes": recipes, "missing": row.missing,
    }  # fmt: skip


def _worst(matched: tuple[tuple[str, float], ...]) -> dict[str, Any] | None:
    """The package from which a trajectory differs most."""
    if not matched:
        return None
    package, gap = max(matched, key=lambda x: x[1])
    return {"against": package, "difference": gap}


def as_text(rows: tuple[Row, ...], *, columns: int = 100) -> str:
    """The whole table as text."""
    found = [a for r in rows for a in r.algorithms]
    body = aligned([a.cells for a in found], HEADINGS).splitlines()
    lines = {a.name: line.rstrip() for a, line in zip(found, body[2:], strict=True)}
    out = body[:2]
    for section in dict.fromkeys(r.section for r in rows):
        out += ["", section.upper()]
        for row in (r for r in rows if r.section == section):
            out += _entry(row, lines, columns)
    return "\n".join([*out, "", counted(rows)]) + "\n"


def counted(rows: tuple[Row, ...]) -> str:
    """How many of the paper's rows are how far."""
    own = [r for r in rows if not r.beside]
    alone = [r for r in own if r.by_hand and not r.matched]
    ways = {
        "derived": [r for r in own if r.algorithms and not r.missing],
        "proved": [r for r in own if r.proved],
        "emitted and run": [r for r in own if r.emitted],
        "matched by a public package": [r for r in own if r.matched],
        "by what is written by hand alone": alone,
    }
    parts = [f"{len(found)} {word}" for word, found in ways.items()]
    return f"Of the paper's {len(own)} rows {', '.join(parts[:-1])} and {parts[-1]}."


def _entry(row: Row, lines: dict[str, str], columns: int) -> list[str]:
    """The paper's row, then the algorithms that reproduce it."""
    rest = "the rest is " if row.algorithms else ""
    out = [row.title + (f": {rest}not yet, needs {row.missing}" if row.missing else "")]
    for a in row.algorithms:
        said = " ".join("--" + x.replace("=", " ", 1) for x in a.approximations)
        said = ", ".join(a.approximations) if a.of_model else said
        out += [lines[a.name], *(f"      {text}" for text in wrap(said, columns - 6))]
    return out


def _algorithm(name: str, say: Callable[[str], None]) -> Algorithm:
    """Everything about one recipe, computed now."""
    from blrgen.decide.proof import weakest
    from blrgen.validate.derivation import verify_derivation

    say(name)
    d = derive(name)
    levels: list[str] = []
    by_hand = False
    emitted: dict[str, str] = {}
    for title, verdict in verify_derivation(d).parts:
        if title.startswith("emitted"):
            emitted[title.split()[1]] = verdict.level
        else:
            levels.append(verdict.level)
            by_hand = by_hand or (BY_HAND in title and verdict.proved)
    flags = tuple(f if o is None else f"{f}={o}" for f, o in d.approximations)
    matched, unmatched = _matched(name)
    return Algorithm(
        name, d.family.name, flags, len(d.steps), weakest(levels), tuple(emitted.items()),
        matched, "by hand" if by_hand and unmatched == NO_PEER else unmatched, by_hand=by_hand,
    )  # fmt: skip


def _of_model(
    name: str, flag: str, say: Callable[[str], None], targets: tuple[str, ...] = ("numba", "numpy")
) -> Algorithm:
    """Everything about a model's algorithm: blocks and updates are proved, its classes are run."""
    from blrgen.decide.proof import weakest
    from blrgen.read.model.find import read_file
    from blrgen.rule.model.derive import derive_model
    from blrgen.rule.model.lines import lines_of
    from blrgen.validate.model.report import verify_model

    say(f"{name} {flag}")
    d = derive_model(read_file(f"{name}.model"), flag.removeprefix("--"))
    parts = verify_model(d, targets=targets).parts
    proved = weakest(v.level for title, v in parts if not title.startswith("emitted"))
    emitted = {title.split()[1]: v.level for title, v in parts if title.startswith("emitted")}
    families = ", ".join(dict.fromkeys(u.block.family for u in d.updates))
    chosen = tuple(c.name for c in d.choices)
    return Algorithm(
        f"{name} {flag}", families, chosen, len(lines_of(d)), proved, tuple(emitted.items()),
        *_matched_model(name, flag), of_model=True,
    )  # fmt: skip


def _of_mixture(name: str, flags: list[str], say: Callable[[str], None]) -> Algorithm:
    """Everything about a mixture's rule: its claims are proved, its classes are run."""
    from blrgen.decide.proof import weakest
    from blrgen.validate.mixture.report import verify_mixture

    called = " ".join([name, *(f"--{f}" for f in flags)])
    say(called)
    d = derive(name, flags)
    parts = verify_mixture(d).parts
    claims = [v for title, v in parts if not title.startswith(("emitted", "derived"))]
    emitted = {t.split()[1]: v.level for t, v in parts if t.startswith("emitted")}
    by_hand = any(BY_HAND in t and v.level in SHOWN for t, v in parts)
    return Algorithm(
        called, d.family.name, tuple(flags), len(d.steps), weakest(v.level for v in claims),
        tuple(emitted.items()), (), "by hand" if by_hand else NO_PEER, by_hand=by_hand,
    )  # fmt: skip


def _emitted(levels: dict[str, str]) -> str:
    """The level of each target, said once when they agree."""
    if not levels:
        return "by fit"
    if len(set(levels.values())) == 1:
        return f"{', '.join(levels)}: {next(iter(levels.values()))}"
    return ", ".join(f"{k}: {v}" for k, v in levels.items())


def _recordings() -> bool:
    """Whether what packages gave is there; from then on it can be imported."""
    root = package_dir().parent
    if not (root / "tests" / "peers" / "trajectories.py").is_file():
        return False
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return True


def _matched(name: str) -> tuple[tuple[tuple[str, float], ...], str]:
    """The largest relative difference from each public package's recorded trajectory."""
    if not _recordings():
        return (), ABSENT
    from tests.peers import trajectories
    from tests.peers.adapters import CASES

    found = []
    for case in CASES:
        if case.recipe != name or not case.same:
            continue
        labels = trajectories.classes(case)
        kind = labels.get("numpy", next(iter(labels.values())))()
        ours = trajectories.emitted(case, kind, trajectories.noise_of(case))
        found.append((case.peer, trajectories.compared(case, ours, trajectories.recorded(case))))
    return _by_package(found)


def _matched_model(name: str, flag: str) -> tuple[tuple[tuple[str, float], ...], str]:
    """The same of a model's steps, or its optimum, from the same data and start."""
    if not _recordings():
        return (), ABSENT
    from tests.peers.models.live import compared
    from tests.peers.models.recorded import every_case, recorded

    own = [c for c in every_case() if (c.model, c.flag) == (name, flag)]
    # of others it is the outcome that is the same, or there is no package
    cases = [c for c in own if c.measured is None and c.peer != "by hand"]
    return _by_package([(c.peer, max(compared(c, recorded(c)).values())) for c in cases])


def _by_package(found: list[tuple[str, float]]) -> tuple[tuple[tuple[str, float], ...], str]:
    """The largest difference of each package."""
    worst: dict[str, float] = {}
    for peer, gap in found:
        package = peer.split(".")[0]
        worst[package] = max(worst.get(package, 0.0), gap)
    return tuple(sorted(worst.items())), "" if worst else NO_PEER
