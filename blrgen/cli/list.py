"""List what blrgen knows: families, models, recipes, approximations, losses, targets, algorithms.

Without a SUBJECT, everything under its heading.  `list families` says of every claim about
a family how it is known, as `blrgen check` found: kept from earlier, or found now.
`list algorithms` are published ones that are no recipes: the flags that reach them, or what
is missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from blrgen.cli.output import result, result_as_json
from blrgen.cli.parser import Parser, add_format, known_value

Item = dict[str, Any]  # name, title, and what else there is to say
SCHEMA = "blrgen.list/1"


def families() -> Iterable[Item]:
    """Every family file's name and title."""
    from blrgen.read.declaration import load
    from blrgen.read.family import find_family, list_families

    for name in list_families():
        yield {"name": name, "title": str(load(find_family(name)).table.get("title", ""))}


def families_with_evidence() -> Iterable[Item]:
    """Every family with the level that each claim about it reached."""
    from blrgen.check.all import evidence, known_evidence
    from blrgen.cli.progress import Progress

    titles = {item["name"]: item["title"] for item in families()}
    with Progress() as progress:
        for done in known_evidence(progress.say):
            yield {"name": done.name, "title": titles[done.name], "evidence": evidence(done.data)}


def models() -> Iterable[Item]:
    """Every model's name and what its first line says."""
    from blrgen.read.model.find import list_models, title_of

    for name in list_models():
        yield {"name": name, "title": title_of(name)}


def recipes() -> Iterable[Item]:
    """Every recipe's name, title and road."""
    from blrgen.read.recipe import read_recipes

    for name, recipe in read_recipes().items():
        road = [f if o is None else f"{f}={o}" for f, o in recipe.approximations]
        yield {
            "name": name, "title": recipe.title, "family": recipe.family, "approximations": road,
        }  # fmt: skip


def approximations() -> Iterable[Item]:
    """Every approximation's flag with its values, and what it does."""
    from blrgen.approximate import registry

    for info in registry().values():
        options = list(info.options) if isinstance(info.options, tuple) else info.options
        yield {"name": info.flag, "title": info.summary, "options": options}


def losses() -> Iterable[Item]:
    """What --loss may be."""
    yield {
        "name": "(none)",
        "title": "an abstract loss: the rule in terms of its gradient g and curvature h",
    }
    said = "an expression in theta and names of data, for example '(y - x*theta)**2/2'"
    yield {"name": "L", "title": said}


def targets() -> Iterable[Item]:
    """What code can be written for."""
    from blrgen.emit.targets import TARGETS

    return [{"name": target, "title": ""} for target in TARGETS]


def algorithms() -> Iterable[Item]:
    """Published algorithms that are no recipes."""
    from blrgen.read.algorithms import read_algorithms

    for a in read_algorithms().values():
        yield {
            "name": a.name, "title": a.title, "flags": a.flags, "missing": a.missing,
            "nearest": a.nearest,
        }  # fmt: skip


SUBJECTS = {
    "families": families,
    "models": models,
    "recipes": recipes,
    "approximations": approximations,
    "losses": losses,
    "targets": targets,
    "algorithms": algorithms,
}


def configure(parser: Parser) -> None:
    """One optional subject, and --format."""
    parser.add_argument("subject", nargs="?", metavar="SUBJECT", help=", ".join(SUBJECTS))
    add_format(parser, ("text", "json"))


def run(options: argparse.Namespace) -> int:
    """Print one list, or all of them under headings."""
    subject = options.subject
    if subject is not None:
        known_value("list", subject, tuple(SUBJECTS), "blrgen list")
        found = (families_with_evidence if subject == "families" else SUBJECTS[subject])()
        if options.format == "json":
            result_as_json({"schema": SCHEMA, "items": list(found)})
        else:
            result("\n".join(_aligned(map(_line, found))))
        return 0
    if options.format == "json":
        every = [{"subject": s, **item} for s, items in SUBJECTS.items() for item in items()]
        result_as_json({"schema": SCHEMA, "items": every})
        return 0
    parts = []
    for heading, items in SUBJECTS.items():
        rows = _aligned(map(_line, items()))
        parts.append(f"{heading}\n" + "\n".join("  " + row for row in rows))
    result("\n\n".join(parts))
    return 0


def _line(item: Item) -> tuple[str, str]:
    """An item as a name and what is said of it."""
    name, title = item["name"], item["title"]
    if "evidence" in item:
        return name, f"{title}  [{item['evidence']}]"
    if "family" in item:
        flags = ["--" + a.replace("=", " ", 1) for a in item["approximations"]]
        return name, f"{title}: {' '.join([item['family'], *flags])}"
    if "options" in item:
        values = item["options"]
        shown = "|".join(values) if isinstance(values, list) else (values or "").upper()
        return f"{name} {shown}".strip(), title
    if "missing" in item:
        near = f"; nearest: {item['nearest']}" if item["nearest"] else ""
        reached = f"blrgen derive {item['flags']}"
        return name, f"{title}: {reached if item['flags'] else 'needs ' + item['missing'] + near}"
    return name, title


def _aligned(rows: Iterable[tuple[str, str]]) -> list[str]:
    kept = list(rows)
    width = min(40, max((len(name) for name, _ in kept), default=0))
    return [f"{name:{width}}  {title}".rstrip() for name, title in kept]
