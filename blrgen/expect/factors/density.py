"""⟨η(w), T(x)⟩ − A(η(w)) + log h(x) of a family, at given arguments and variables.

Of geometry only A and the charts are asked, once a family: these take milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

from blrgen.algebra.components import Component
from blrgen.algebra.indexed.build import add, scaled
from blrgen.algebra.indexed.values import ZERO, Expression
from blrgen.core import Family
from blrgen.expect.factors.translate import Places, Translator, Value

Expr = Any


@dataclass(frozen=True)
class Pieces:
    """What a density is made of: T, A(λ), λ(working), log h, as SymPy expressions."""

    statistics: tuple[Expr, ...]
    log_partition: Expr
    charts: tuple[tuple[str, Expr], ...]
    log_base: Expr


@dataclass(frozen=True)
class LogFactor:
    """log p in three parts, so that each can be asked for by itself."""

    pairing: Expression
    log_partition: Expression
    log_base: Expression

    @property
    def total(self) -> Expression:
        return add(self.pairing, scaled(self.log_partition, -1), self.log_base)


def pieces(family: Family) -> Pieces:
    """From the declaration and geometry."""
    return _pieces(family)


@lru_cache(maxsize=200)
def _pieces(family: Family) -> Pieces:
    from blrgen.algebra.ring import ring_of
    from blrgen.geometry.charts import charts
    from blrgen.geometry.integrate import log_base, log_integral

    ring = ring_of(family)
    forward, _ = charts(family, ring)
    found = tuple((str(k), v) for k, v in forward.items())
    if family.simplex:
        found = tuple(
            (p.name, c) for p, c in zip(family.natural, family.natural_of_simplex, strict=True)
        )
    return Pieces(family.statistics, log_integral(family, ring).log_partition, found,
                  log_base(family))  # fmt: skip


def natural_values(
    family: Family, given: Mapping[str, Value], axes: Mapping[str, str], letters: Iterator[int]
) -> dict[str, Value]:
    """η by name: given as they are, or by the charts from working parameters."""
    names = [p.name for p in family.natural]
    if all(n in given for n in names):
        return {n: given[n] for n in names}
    vectors = {p.name: p.symbol.size for p in family.simplex}
    translator = Translator(given, axes, letters, vectors)
    charts = dict(pieces(family).charts)
    return {p.name: _charted(translator, charts[p.name], p.symbol) for p in family.natural}


def _charted(translator: Translator, chart: Expr, symbol: Expr) -> Value:
    """The chart as an array of the natural parameter's rank."""

    def value(places: Places) -> Expression:
        if not symbol.is_commutative:
            i = places[0]
            return translator.matrix(chart, i, places[1] if len(places) > 1 else None)
        return translator.scalar(chart, places[0] if isinstance(symbol, Component) else None)

    return value


def log_factor(
    family: Family, given: Mapping[str, Value], variables: Mapping[str, Value],
    axes: Mapping[str, str],
) -> LogFactor:  # fmt: skip
    """log p of the variables at the given parameters, in the index algebra."""
    made = pieces(family)
    fixed = {p.name: given[p.name] for p in family.fixed}
    letters = count(1)  # one for all: a letter that one hands on is fresh in the other too
    eta = natural_values(family, given, axes, letters)
    at_variable = Translator({**fixed, **variables}, axes, letters)
    at_eta = Translator({**fixed, **eta}, axes, letters)
    pairings = [
        at_variable.pairing(eta[p.name], t)
        for p, t in zip(family.natural, made.statistics, strict=True)
    ]
    log_base = at_variable.scalar(made.log_base) if made.log_base != 0 else ZERO
    return LogFactor(add(*pairings), at_eta.scalar(made.log_partition), log_base)


def statistic_values(
    family: Family, given: Mapping[str, Value], variables: Mapping[str, Value],
    axes: Mapping[str, str],
) -> tuple[Value, ...]:  # fmt: skip
    """T_j of the variables, each as an array of its own rank."""
    fixed = {p.name: given[p.name] for p in family.fixed if p.name in given}
    translator = Translator({**fixed, **variables}, axes)
    pairs = zip(family.natural, pieces(family).statistics, strict=True)
    return tuple(_charted(translator, t, p.symbol) for p, t in pairs)


def log_base_value(
    family: Family, given: Mapping[str, Value], variables: Mapping[str, Value],
    axes: Mapping[str, str],
) -> Expression:  # fmt: skip
    """log h of the variables."""
    fixed = {p.name: given[p.name] for p in family.fixed if p.name in given}
    base = pieces(family).log_base
    return Translator({**fixed, **variables}, axes).scalar(base) if base != 0 else ZERO
