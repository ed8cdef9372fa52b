"""Sizes of vectors and matrices: their names, and whether products and sums fit together.

A domain names the sizes it has: R^n, R^(n,p), SPD(p), (0, oo)^d; SPD alone is SPD(d).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise, product
from typing import Any

from blrgen.core import Family
from blrgen.errors import UserError

Expr = Any
_MANY = 6  # parameters in SPD whose sizes are looked for
_SIZED = re.compile(r"(?:R\^|\)\^|\]\^|SPD)\(([^()]*)\)|(?:R\^|\)\^|\]\^)(\w+)")


def size_names(domains: Iterable[str]) -> dict[str, Expr]:
    """The names that stand for sizes in these domains, as whole numbers."""
    import sympy as sp

    found: set[str] = set()
    for text in domains:
        if re.match(r"-?SPD(?!\()", text):
            found.add("d")
        for inside, bare in _SIZED.findall(text):
            found |= set(re.findall(r"[A-Za-z]\w*", inside or bare))
    return {w: sp.Symbol(w, integer=True, positive=True) for w in sorted(found)}


def size_symbols(family: Family) -> list[Expr]:
    """The symbols in the sizes of the parameters and variables, by name."""
    from blrgen.algebra.ranks import shape_of

    ranked = [p.symbol for p in (*family.natural, *family.working, *family.fixed)]
    shapes = [s for x in (*ranked, *family.variables) if (s := shape_of(x)) is not None]
    found = {x for shape in shapes for size in shape for x in size.free_symbols}
    return sorted(found, key=str)


def check_shapes(e: Expr, text: str, where: str) -> tuple[Expr, Expr] | None:
    """(rows, columns) of an expression, every product and sum in it fitting; None for a number."""
    from blrgen.algebra.ranks import Ranked, T

    shapes = [check_shapes(a, text, where) for a in e.args]
    ranked = [(a, s) for a, s in zip(e.args, shapes, strict=True) if s is not None]
    if isinstance(e, Ranked):
        shape: tuple[Expr, Expr] = e.shape
        return shape
    if e.is_commutative or not ranked:
        return None
    if e.is_Mul:
        for (a, left), (b, right) in pairwise(ranked):
            if left[1] != right[0]:
                raise _misfit(a, left, b, right, text, where)
        return ranked[0][1][0], ranked[-1][1][1]
    if e.is_Add:
        for b, other in ranked[1:]:
            if other != ranked[0][1]:
                raise _misfit(ranked[0][0], ranked[0][1], b, other, text, where)
    return ranked[0][1][::-1] if isinstance(e, T) else ranked[0][1]


class Misfit(UserError):
    """Two parts of a formula that do not fit together."""


def bare_sizes(table: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What SPD without a size may be: d, or else any size that the file names elsewhere."""
    yield {}
    domains = [table["support"]] if isinstance(table["support"], str) else list(table["support"])
    bare = []
    for section in ("natural", "working", "fixed"):
        entries = table.get(section, {})
        for name, entry in entries.items() if isinstance(entries, dict) else ():
            text = entry.get("domain") if isinstance(entry, dict) else entry
            if isinstance(text, str):
                domains.append(text)
                if re.match(r"\s*-?\s*SPD\b(?!\s*\()", text):
                    bare.append(name)
    plain = ["".join(t.split()) for t in domains if isinstance(t, str)]
    names = sorted(size_names(t for t in plain if not re.match(r"-?SPD(?!\()", t)))
    if bare and names and len(bare) <= _MANY:
        for choice in product(names, repeat=len(bare)):
            yield dict(zip(bare, choice, strict=True))


def _misfit(
    a: Expr, left: tuple[Expr, Expr], b: Expr, right: tuple[Expr, Expr], text: str, where: str
) -> Misfit:
    return Misfit(
        f"the sizes in {text} do not fit", where=where,
        why=f"{a} has {left[0]} rows and {left[1]} columns, {b} {right[0]} and {right[1]}",
        how="sizes are said in the domains: R^n, R^(n,p), SPD(p); SPD alone is SPD(d)",
    )  # fmt: skip
