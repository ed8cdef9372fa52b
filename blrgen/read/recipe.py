"""Recipes: `blrgen/recipes.toml` → named roads through the approximations.  Data only.

The table [adam] has title, family, approximations = ["delta", "hessian=exact", …] and,
optionally, loss and citation; [adam.defaults] gives values, as text, to
hyperparameters and first states.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from blrgen.core import Recipe
from blrgen.errors import UserError
from blrgen.paths import package_dir
from blrgen.read.declaration import (
    Source,
    expect,
    formula_text,
    identifier,
    known_keys,
    load,
    one_line,
    slug,
)
from blrgen.read.text import scan

if TYPE_CHECKING:
    from pathlib import Path

_REQUIRED = ("title", "family", "approximations")
_KEYS = (*_REQUIRED, "loss", "citation", "defaults")
_FLAG = re.compile(
    r"(?P<name>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)"
    r"(?:=(?P<value>[A-Za-z0-9+-][A-Za-z0-9._:+*/()-]*))?"
)


def read_recipes(path: Path | None = None) -> dict[str, Recipe]:
    """The recipes of a file (by default those that come with blrgen), by name, in its order."""
    return dict(_shipped()) if path is None else recipes_of(load(path, str(path)))


@cache
def _shipped() -> dict[str, Recipe]:
    """Every derivation asks for them: they are read once."""
    file = package_dir() / "recipes.toml"
    return recipes_of(load(file, file.name))


def recipes_of(source: Source) -> dict[str, Recipe]:
    """The recipes that a loaded file declares, checked."""
    return {name: _recipe(name, table, source) for name, table in source.table.items()}


def read_approximation(text: str, where: str = "") -> tuple[str, str | None]:
    """The flag and its value: "hessian=exact" → ("hessian", "exact"), "delta" → ("delta", None)."""
    match = _FLAG.fullmatch(text) if len(text) <= 200 else None
    if match is None:
        raise UserError(
            f"not an approximation: {text[:60]!r}", where=where,
            how='write "delta", or "hessian=squared-gradient" for one with a value',
        )  # fmt: skip
    return match["name"], match["value"]


def _recipe(name: str, table: Any, source: Source) -> Recipe:
    where = source.line(name)
    slug(name, "the name of a recipe", where)
    expect(table, dict, f"the recipe {name}", where)
    known_keys(table, _KEYS, _REQUIRED, source, name)

    def at(key: str) -> str:
        return f"{source.line(key, name)}, {key} of {name}"

    place = at("approximations")
    listed = expect(table["approximations"], list, "approximations", place)
    flags = tuple(
        read_approximation(expect(a, str, "an approximation", place), place) for a in listed
    )
    loss = formula_text(table.get("loss", ""), "loss", at("loss"))
    if loss:
        scan(loss, where=at("loss"))
    citation = table.get("citation", "")
    return Recipe(
        name,
        one_line(table["title"], "title", at("title")),
        slug(table["family"], "family", at("family")),
        flags,
        loss,
        _defaults(table.get("defaults", {}), f"{name}.defaults", source),
        one_line(citation, "citation", at("citation"), limit=500) if citation else "",
    )


def _defaults(table: Any, inside: str, source: Source) -> tuple[tuple[str, str], ...]:
    """Each name with its value as text, in the order of the file."""
    found = []
    for name, value in expect(table, dict, f"[{inside}]", source.line(inside)).items():
        where = f"{source.line(name, inside)}, {name} of {inside}"
        identifier(name, "a default", where)
        text = formula_text(value, f"the default of {name}", where)
        if text not in ("oo", "-oo"):
            scan(text, where=where)
        found.append((name, text))
    return tuple(found)
