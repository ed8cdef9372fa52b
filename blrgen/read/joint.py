"""Densities of several variables: `variable` and `support` as lists of equal length."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from blrgen.core import Support
from blrgen.errors import UserError
from blrgen.read.domain import read_support

if TYPE_CHECKING:
    from blrgen.read.declaration import Source

Expr = Any


def listed(value: Any) -> list[Any]:
    """One or several, as a list."""
    return value if isinstance(value, list) else [value]


def check_lists(source: Source) -> None:
    """As many supports as variables, and more than one of each when they are lists."""
    variable, support = source.table["variable"], source.table["support"]
    if not isinstance(variable, list) and not isinstance(support, list):
        return
    if isinstance(variable, list) != isinstance(support, list) or len(variable) != len(support):
        raise UserError(
            "variable and support do not match", where=source.line("support"),
            why=f"{len(listed(variable))} variables, {len(listed(support))} supports",
            how='write variable = ["x", "tau"] and support = ["(-oo, oo)", "(0, oo)"]',
        )  # fmt: skip
    if len(variable) < 2:
        raise UserError(
            "a list of one variable", where=source.line("variable"),
            how='write variable = "x" and support = "(0, oo)"',
        )  # fmt: skip


def joint_support(texts: list[Any], names: Mapping[str, Expr], where: str) -> Support:
    """The supports of several variables as one."""
    parts = tuple(read_support(t, names, where=where) for t in texts)
    for part in parts:
        if part.kind not in ("interval", "integers", "finite", "vector", "matrix", "spd"):
            raise UserError(
                f"{part.text} cannot be the support of one variable among several", where=where,
                how="intervals, integers, points, R^d, R^(n,p) and SPD can",
            )  # fmt: skip
    return Support("joint", text=" × ".join(p.text for p in parts), parts=parts)


def needs_one_algebra(supports: list[Any]) -> bool:
    """Numbers beside vectors: what is summed once and what per coordinate must be told apart."""
    plain = ["".join(t.split()) for t in supports if isinstance(t, str)]
    sized = ["^" in t or "SPD" in t for t in plain]
    return any(sized) and not all(sized)
