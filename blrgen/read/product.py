"""Products of independent families: q(x, y) = q₁(x) q₂(y), from a file or as "gamma*gaussian".

Every name of the k-th factor gets the suffix _k (or the one given under `suffixes`); sizes
keep their names, so that factors over R^d live in the same d.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from blrgen.core import Domain, Family, Parameter, Support
from blrgen.errors import UserError
from blrgen.limits import FACTORS as _MOST
from blrgen.read.declaration import Source, expect, identifier, known_keys, one_line, slug

Expr = Any
_KEYS = ("name", "title", "product", "suffixes")
_OPEN: list[str] = []  # the product files being read, one inside the other


def product_source(text: str) -> Source:
    """What a file would say for a product written on the command line."""
    names = [part.strip() for part in text.split("*")]
    if not all(names):
        raise UserError(f"{text[:80]!r} is no product", how='write "gamma*gaussian"')
    title = " × ".join(Path(n).stem if n.endswith(".toml") else n for n in names)
    name = "-".join(re.sub(r"[^a-z0-9-]", "", Path(n).stem.lower()) or "x" for n in names)
    return Source(text, "", {"name": name[:60].strip("-"), "title": title, "product": names})


def product_family(source: Source, read: Callable[[str], Family]) -> Family:
    """The product that a file declares; `read` makes a family of a name or path."""
    table = source.table
    known_keys(table, _KEYS, ("name", "product"), source)
    where = source.line("product")
    given = expect(table["product"], list, "product", where)
    if not 2 <= len(given) <= _MOST:
        raise UserError(
            f"a product has 2 to {_MOST} factors, not {len(given)}", where=where,
            how='write product = ["gamma", "gaussian"]',
        )  # fmt: skip
    if source.path and source.path in _OPEN:
        raise UserError("a product cannot have itself as a factor", where=where)
    _OPEN.append(source.path)
    try:
        read_factors = [read(_place(expect(f, str, "a factor", where), source.path)) for f in given]
    finally:
        _OPEN.pop()
    suffixes = _suffixes(source, len(read_factors))
    renamed = tuple(
        with_suffix(plain, s)
        for f, s in zip(read_factors, suffixes, strict=True)
        for plain in f.factors or (f,)  # a product of products is one
    )
    if len(renamed) > _MOST:
        raise UserError(f"{len(renamed)} factors in all: at most {_MOST}", where=where)
    _check_kinds(renamed, where)
    name = slug(table["name"], "name", source.line("name"))
    title = one_line(table.get("title", name), "title", source.line("title"))
    return combined(name, title, renamed, source.path)


def factor_names(source: Source) -> list[str]:
    """The factors of a product that was read, each as `read_family` takes it."""
    return [_place(str(f), source.path) for f in source.table["product"]]


def _place(name: str, path: str) -> str:
    """A factor's file stands beside the product's."""
    if (name.endswith(".toml") or "/" in name) and not Path(name).is_absolute() and path:
        beside = Path(path).parent / name
        return str(beside) if beside.exists() else name
    return name


def _suffixes(source: Source, count: int) -> list[str]:
    given = source.table.get("suffixes")
    if given is None:
        return [str(k + 1) for k in range(count)]
    where = source.line("suffixes")
    names = [expect(s, str, "a suffix", where) for s in expect(given, list, "suffixes", where)]
    if len(names) != count or len(set(names)) != count:
        raise UserError("one suffix a factor, all different", where=where)
    for s in names:
        identifier(f"x_{s}", "a suffix", where)
    return names


def _check_kinds(factors: Sequence[Family], where: str) -> None:
    """Numbers, coordinates of a power, and vectors by their components do not mix."""
    kinds = {_kind(f) for f in factors}
    if len(kinds) > 1 and not kinds <= {"numbers", "matrices"}:
        raise UserError(
            f"these factors cannot stand in one product: {', '.join(f.name for f in factors)}",
            where=where, why=f"they compute with {' and with '.join(sorted(kinds))}",
            how="numbers and matrices mix; anything else goes with its own kind",
        )  # fmt: skip


def _kind(f: Family) -> str:
    if f.components is not None:
        return "vectors by their components"
    if not f.elementwise:
        return "matrices"
    return "every coordinate of a vector" if any(s.size for s in f.supports) else "numbers"


def with_suffix(f: Family, suffix: str) -> Family:
    """The family with _suffix behind the name of every variable, parameter and constant."""
    parameters = (*f.fixed, *f.natural, *f.working)
    symbols = [*f.variables, *(p.symbol for p in parameters)]
    table = {x: _called(x, f"{x.name}_{suffix}") for x in symbols}
    words = {x.name: y.name for x, y in table.items()}

    def move(e: Expr) -> Expr:
        return e.xreplace(table) if hasattr(e, "xreplace") else e

    def say(text: str) -> str:
        return re.sub(r"[A-Za-z_]\w*", lambda m: words.get(m[0], m[0]), text)

    def parameter(p: Parameter) -> Parameter:
        d = p.domain
        domain: Domain = replace(d, lower=move(d.lower), upper=move(d.upper), text=say(d.text))
        return Parameter(f"{p.name}_{suffix}", domain, table[p.symbol], move(p.chart))

    def support(s: Support) -> Support:
        return replace(s, points=tuple(map(move, s.points)), lower=move(s.lower),
                       upper=move(s.upper), text=say(s.text),
                       parts=tuple(map(support, s.parts)))  # fmt: skip

    return replace(
        f, variable=table[f.variable], joint=tuple(table[x] for x in f.joint),
        support=support(f.support), statistics=tuple(map(move, f.statistics)),
        base_measure=move(f.base_measure), natural=tuple(map(parameter, f.natural)),
        working=tuple(map(parameter, f.working)), fixed=tuple(map(parameter, f.fixed)),
        log_partition=move(f.log_partition),
    )  # fmt: skip


def _called(x: Expr, name: str) -> Expr:
    from blrgen.algebra.components import Component
    from blrgen.algebra.ranks import Ranked

    if isinstance(x, Ranked):
        return type(x)(name, x.shape)
    known = {k: v for k, v in x._assumptions_orig.items() if v is not None}
    if isinstance(x, Component):
        return Component(name, x.size, **known)
    return type(x)(name, **known)


def combined(name: str, title: str, factors: tuple[Family, ...], path: str) -> Family:
    """One family with all statistics, parameters and variables of its factors."""
    import sympy as sp

    variables = tuple(x for f in factors for x in f.variables)
    parts = tuple(s for f in factors for s in f.supports)
    working = tuple(p for f in factors for p in (f.working or f.natural))
    return Family(
        name, title, variables[0],
        Support("joint", text=" × ".join(s.text for s in parts), parts=parts),
        tuple(t for f in factors for t in f.statistics),
        sp.Mul(*[f.base_measure for f in factors]),
        tuple(p for f in factors for p in f.natural),
        working if any(f.working for f in factors) else (),
        tuple(p for f in factors for p in f.fixed),
        None,
        all(f.elementwise for f in factors), path,
        joint=variables, factors=factors,
        components=next((f.components for f in factors if f.components is not None), None),
    )  # fmt: skip
