"""List what blrgen knows: families, recipes, approximations, losses and targets.

Without a SUBJECT, everything under its heading.  `list families` says of every claim about
a family how it is known, as `blrgen check` found: kept from earlier, or found now.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from blrgen.cli.output import result
from blrgen.cli.parser import Parser, known_value

Rows = Iterable[tuple[str, str]]


def families() -> Rows:
    """Every family file's name and title."""
    from blrgen.read.declaration import load
    from blrgen.read.family import find_family, list_families

    for name in list_families():
        yield name, str(load(find_family(name)).table.get("title", ""))


def families_with_evidence() -> Rows:
    """Every family with the level that each claim about it reached."""
    from blrgen.check.all import evidence, known_evidence
    from blrgen.cli.progress import Progress

    titles = dict(families())
    with Progress() as progress:
        for done in known_evidence(progress.say):
            yield done.name, f"{titles[done.name]}  [{evidence(done.data)}]"


def recipes() -> Rows:
    """Every recipe's name and title."""
    from blrgen.read.recipe import read_recipes

    for name, recipe in read_recipes().items():
        road = " ".join([recipe.family, *(_flag(*a) for a in recipe.approximations)])
        yield name, f"{recipe.title}: {road}"


def _flag(name: str, value: str | None) -> str:
    return f"--{name}" if value is None else f"--{name} {value}"


def approximations() -> Rows:
    """Every approximation's flag with its values, and what it does."""
    from blrgen.approximate import registry
    from blrgen.cli.what import metavar

    for info in registry().values():
        yield f"{info.flag} {metavar(info)}".strip(), info.summary


def losses() -> Rows:
    """What --loss may be."""
    yield "(none)", "an abstract loss: the rule in terms of its gradient g and curvature h"
    yield "L", "an expression in theta and names of data, for example '(y - x*theta)**2/2'"


def targets() -> Rows:
    """What code can be written for."""
    from blrgen.emit.targets import TARGETS

    return [(target, "") for target in TARGETS]


SUBJECTS = {
    "families": families,
    "recipes": recipes,
    "approximations": approximations,
    "losses": losses,
    "targets": targets,
}


def configure(parser: Parser) -> None:
    """One optional subject."""
    parser.add_argument("subject", nargs="?", metavar="SUBJECT", help=", ".join(SUBJECTS))


def run(options: argparse.Namespace) -> int:
    """Print one list, or all of them under headings."""
    if options.subject is not None:
        known_value("list", options.subject, tuple(SUBJECTS), "blrgen list")
        rows = families_with_evidence if options.subject == "families" else None
        result("\n".join(_aligned((rows or SUBJECTS[options.subject])())))
        return 0
    parts = []
    for subject, rows in SUBJECTS.items():
        parts.append(f"{subject}\n" + "\n".join("  " + row for row in _aligned(rows())))
    result("\n\n".join(parts))
    return 0


def _aligned(rows: Rows) -> list[str]:
    kept = list(rows)
    width = min(40, max((len(name) for name, _ in kept), default=0))
    return [f"{name:{width}}  {title}".rstrip() for name, title in kept]
