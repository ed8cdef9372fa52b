"""Names of the emitted class, and names a program must not use because the class does."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING

from blrgen.errors import UserError

if TYPE_CHECKING:
    from blrgen.core import Derivation
    from blrgen.program.program import Program

RESERVED = frozenset({
    "self", "params", "rng", "np", "math", "njit", "index", "real", "saved", "draws", "i", "t",
    "step", "draw", "observe", "sample", "posterior", "run", "state_dict", "load_state_dict",
    "pending", "observed", "sums", "tol", "max_steps", "float", "int", "range", "zip", "list",
    "array", "value", "missing", "key", "mean", "means", "deviation", "deviations", "noise", "root",
    "factor", "identity", "before", "move", "at", "count", "largest", "low", "high", 
    "values", "pairs", "len", "set", "isinstance", "enumerate", "gradient", "hessian",
    "threads", "rows", "numbers", "arrays",
})  # fmt: skip


def class_name(derivation: Derivation) -> str:
    """The recipe's title in CamelCase, or the family's name followed by Rule."""
    if derivation.recipe is not None:
        title = derivation.recipe.title or derivation.recipe.name
        name = camel(re.sub(r"\(.*?\)", " ", title)) or camel(derivation.recipe.name)
    else:
        name = camel(derivation.family.name) + "Rule"
    if not name.isidentifier() or keyword.iskeyword(name):
        raise UserError(
            f"{name!r} cannot be the name of a class",
            why="it is made from the title in the recipe or the name of the family",
            how="start the title with a letter",
        )
    return name


def camel(title: str) -> str:
    """Words joined, each with a capital, capitals within a word kept."""
    ascii_only = title.encode("ascii", "ignore").decode()
    words = re.findall(r"[A-Za-z0-9]+", ascii_only)
    return "".join(w[0].upper() + w[1:] for w in words)


def refuse_reserved(program: Program) -> None:
    """A quantity that would hide part of the class, or be hidden by it, must be renamed."""
    for v in program.variables:
        if v.kind == "counter" and v.name == "t":
            continue
        if v.name in RESERVED or v.name.startswith("_"):
            raise UserError(
                f"the name {v.name!r} is taken in emitted code",
                why="the class or its methods use it",
                how="rename it in the family file or the loss",
            )
