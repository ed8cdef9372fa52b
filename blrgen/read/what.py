"""WHAT on the command line and in Python: a family, a recipe, or a path to a family file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from blrgen.core import Recipe
from blrgen.errors import UserError, did_you_mean
from blrgen.read.algorithms import unknown_algorithm
from blrgen.read.family import list_families
from blrgen.read.recipe import read_approximation, read_recipes

Request = tuple[str, str | None]


@dataclass(frozen=True)
class What:
    """The recipe, if it is one, and the family's name or path."""

    family: str
    recipe: Recipe | None = None
    mixture: bool = False  # of components of that family


def find_what(what: str) -> What:
    """The recipe or family that a word names; `family:NAME` and `recipe:NAME` say which.

    `mixture:FAMILY` is the candidate Σ_k π_k q_k with components of a family.
    """
    kind, colon, name = what.partition(":")
    if colon and kind == "mixture":
        return What(_family(name).family, mixture=True)
    if colon and kind in ("family", "recipe"):
        return _family(name) if kind == "family" else _recipe(name)
    recipes = read_recipes()
    if what in recipes:
        return What(recipes[what].family, recipes[what])
    if is_path(what) or what in list_families():
        return What(what)
    raise unknown_algorithm(what) or UserError(
        f"no family or recipe called {what[:80]!r}",
        how=did_you_mean(what[:80], [*list_families(), *recipes]),
    )


def is_path(what: str) -> bool:
    """Whether a word is a family file or a product of families, not one name."""
    return what.endswith(".toml") or "/" in what or "*" in what


def both(what: str) -> bool:
    """Whether one word is the name of a family and of a recipe."""
    return what in list_families() and what in read_recipes()


def inserted(recipe: Recipe, additions: Iterable[str]) -> tuple[Request, ...]:
    """The recipe's road with flags put into it: each is AFTER:FLAG or AFTER:FLAG=OPTION."""
    road: list[Request] = list(recipe.approximations)
    for text in additions:
        after, colon, flag = text.partition(":")
        if not (colon and after and flag):
            raise UserError(
                f"{text[:80]!r} is not AFTER:FLAG[=OPTION]", where="--insert",
                how="for example --insert stochastic:prior=apart",
            )  # fmt: skip
        where = _place(recipe, road, after)
        road.insert(where, read_approximation(flag, f"--insert {text[:80]}"))
    return tuple(road)


def _place(recipe: Recipe, road: list[Request], after: str) -> int:
    """Behind the approximation of that flag; flags with an option by that too, if it is said."""
    wanted = read_approximation(after, "--insert")
    found = [k for k, (f, o) in enumerate(road) if f == wanted[0] and wanted[1] in (None, o)]
    if found:
        return found[-1] + 1
    known = [f if o is None else f"{f}={o}" for f, o in road]
    raise UserError(
        f"{recipe.name} makes no approximation {after[:80]!r}", where="--insert",
        how=did_you_mean(after[:80], known) if known else "put the flag behind the recipe's name",
    )  # fmt: skip


def _family(name: str) -> What:
    if not is_path(name) and name not in list_families():
        raise UserError(
            f"no family called {name[:80]!r}", how=did_you_mean(name[:80], list_families())
        )
    return What(name)


def _recipe(name: str) -> What:
    recipes = read_recipes()
    if name not in recipes:
        raise UserError(f"no recipe called {name[:80]!r}", how=did_you_mean(name[:80], recipes))
    return What(recipes[name].family, recipes[name])
