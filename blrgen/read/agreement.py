"""Whether the parts of a family file agree: parameters with statistics, charts with each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from blrgen.core import Parameter
from blrgen.errors import UserError
from blrgen.read.declaration import Source
from blrgen.read.expression import rank_word
from blrgen.read.sizes import check_shapes

Expr = Any


def check_count(
    natural: tuple[Parameter, ...], statistics: tuple[Expr, ...], texts: list[str], source: Source
) -> None:
    """One natural parameter a statistic."""
    if len(natural) != len(statistics):
        raise UserError(
            f"{len(natural)} natural parameter{'s' * (len(natural) != 1)} for "
            f"{len(statistics)} statistic{'s' * (len(statistics) != 1)}",
            where=source.line("natural"), how="declare one a statistic, in their order",
            why=f"[natural] has {', '.join(p.name for p in natural) or 'nothing'}; "
            f"the statistics are {', '.join(texts)}",
        )  # fmt: skip


def check_pairs(
    natural: tuple[Parameter, ...], statistics: tuple[Expr, ...], texts: list[str], source: Source,
    components: bool,
) -> None:  # fmt: skip
    """A natural parameter and its statistic have one rank and the same sizes."""
    for p, statistic, text in zip(natural, statistics, texts, strict=True):
        where = source.where(p.name, "natural")
        has, wants = rank_word(p.symbol), rank_word(statistic)
        if has == wants == "vector" and components:
            _check_sizes(p, statistic, text, where)
        if has == wants != "scalar" and not components:
            check_shapes(p.symbol + statistic, text, where)
        if has != wants:
            raise UserError(
                f"{p.name} is a {has}, its statistic {text} a {wants}",
                where=where,
                why="a natural parameter is paired with its statistic in ⟨λ, T(θ)⟩",
            )  # fmt: skip


def _check_sizes(p: Parameter, statistic: Expr, text: str, where: str) -> None:
    from blrgen.algebra.components import size_of

    has, wants = p.symbol.size, size_of(statistic)
    if has != wants:
        shorter = wants == has + 1
        raise UserError(
            f"{p.name} has {has} components, its statistic {text} has {wants}",
            where=where,
            how=f'"head({text})" is all of it but the last component' if shorter else "",
        )


def check_order(
    name: str,
    section: str,
    domain: Any,
    names: Iterable[str],
    earlier: Mapping[str, Expr],
    where: str,
) -> None:
    """Bounds use known constants and parameters that come before."""
    words = set(re.findall(r"[A-Za-z_]\w*", domain)) if isinstance(domain, str) else set()
    later = [n for n in names if n in words and n not in earlier]
    if later and later[0] != name:
        raise UserError(
            f"the domain of {name} uses {later[0]}, which comes after it", where=where,
            why="bounds may use known constants and parameters that come before",
            how=f"declare {later[0]} before {name}"
            + (", and its statistic too" if section == "natural" else ""),
        )  # fmt: skip


def check_charts(
    natural: tuple[Parameter, ...], working: tuple[Parameter, ...], source: Source
) -> None:
    """Working parameters are tied to the natural ones in one direction, completely."""
    down = [p.name for p in natural if p.chart is None]
    up = [p.name for p in working if p.chart is None]
    if working and down and up:
        raise UserError(
            "the working parameters are not tied to the natural ones",
            where=source.line("working"),
            why=f"no chart for {', '.join(up)}, nor for {', '.join(down)}",
            how="give natural = … on every working parameter, "
            "or working = … on every natural one",
        )  # fmt: skip
    if not working and len(down) < len(natural):
        raise UserError(
            "a chart without working parameters", where=source.line("natural"),
            how="declare them in [working]",
        )  # fmt: skip


def check_simplex(
    natural: tuple[Parameter, ...], working: tuple[Parameter, ...], source: Source
) -> None:
    """K numbers with sum 1 stand for the K - 1 coordinates alone, and say what those are."""
    name = next(p.name for p in working if p.domain.kind == "simplex")
    where = source.where(name, "working")
    if len(working) > 1:
        others = ", ".join(p.name for p in working if p.name != name)
        raise UserError(
            f"{name} on the simplex stands beside {others}", where=where,
            why="a simplex says all of the natural parameters, with one number more than they have",
            how=f"declare {name} alone, or {others} without it",
        )  # fmt: skip
    if any(p.chart is not None for p in working) or any(p.chart is None for p in natural):
        raise UserError(
            f"{name} on the simplex needs the other direction", where=where,
            why="its numbers are bound by their sum: they are found from the natural parameters",
            how=f'give working = … on each natural parameter: "log(head({name})/last({name}))"',
        )  # fmt: skip


def check_last(statistics: list[str], table: Mapping[str, Any], source: Source) -> None:
    """The last component is a word of charts: statistics and measures are symmetric in all."""
    texts = [("statistics", t) for t in statistics]
    texts += [(k, table[k]) for k in ("base_measure", "log_partition") if k in table]
    for key, text in texts:
        if isinstance(text, str) and re.search(r"\blast\s*\(", text):
            raise UserError(
                "last(…) cannot be used here", where=source.where(key),
                why="it says a working parameter on the simplex in natural ones, nothing else",
                how="head(x) is the vector without its last component",
            )  # fmt: skip
