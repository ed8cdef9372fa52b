"""Numbers drawn from a sampler's expression, and how far a sample is from the density."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import mpmath
import numpy as np

from blrgen.errors import InternalError
from blrgen.prove.density import Table
from blrgen.prove.evaluate import evaluate

Expr = Any
Array = Any


def drawn(sampler: Expr, point: Mapping[Expr, float], count: int, seed: int) -> Array:
    """`count` values of the sampler, its primitive draws taken from a seeded generator."""
    from blrgen.geometry.instance import Instance
    from blrgen.geometry.integrate.draws import draws_of

    generator = np.random.default_rng(seed)
    here = Instance({}, dict(point))
    for draw in draws_of(sampler):
        parameters = [np.broadcast_to(here.value(p), count) for p in draw.parameters]
        here = here.with_({draw: _primitive(generator, draw.kind, parameters, count)})
    try:
        return np.broadcast_to(np.asarray(here.value(sampler), dtype=float), count)
    except InternalError:  # cases and the like are taken one draw at a time
        return _one_by_one(sampler, {k: np.broadcast_to(v, count) for k, v in here.values.items()})


def _one_by_one(sampler: Expr, values: Mapping[Expr, Array]) -> Array:
    names = [k for k in values if sampler.has(k)]
    with mpmath.workdps(17):
        rows = zip(*(values[k] for k in names), strict=True)
        return np.array(
            [
                float(evaluate(sampler, dict(zip(names, map(mpmath.mpf, row), strict=True))))
                for row in rows
            ]
        )


def _primitive(generator: Any, kind: str, parameters: list[Array], count: int) -> Array:
    if kind == "normal":
        return generator.standard_normal(count)
    if kind == "uniform":
        return 1 - generator.random(count)  # never 0, whose logarithm is none
    if kind == "gamma":
        return generator.standard_gamma(parameters[0])
    if kind == "vonmises":
        return generator.vonmises(0.0, parameters[0])
    if kind == "binomial":
        return generator.binomial(np.rint(parameters[0]).astype(np.int64), parameters[1])
    return getattr(generator, kind)(*parameters)


class Distribution:
    """The distribution function of a table, its atoms or its nodes in order."""

    def __init__(self, table: Table, discrete: bool) -> None:
        order = sorted(range(len(table.x)), key=lambda i: table.x[i])
        self.x = np.array([float(table.x[i]) for i in order])
        weight = np.array([float(table.probability[i]) for i in order])
        self.discrete = discrete
        # in the middle of a node's weight lies the node
        self.below = np.cumsum(weight) - (0 if discrete else weight / 2)

    def inverted(self, u: Array) -> Array:
        """The quantiles of u."""
        if self.discrete:
            places = np.searchsorted(self.below, u)
            return self.x[np.minimum(places, len(self.x) - 1)]
        return np.interp(u, self.below, self.x)

    def distance(self, sample: Array) -> float:
        """Kolmogorov and Smirnov's: the largest gap to the sample's distribution function."""
        ordered = np.sort(sample)
        steps = np.arange(len(ordered) + 1) / len(ordered)
        if self.discrete:
            shares = np.searchsorted(ordered, self.x, side="right") / len(ordered)
            return float(np.max(np.abs(shares - self.below)))
        at = np.interp(ordered, self.x, self.below)
        return float(max(np.max(np.abs(at - steps[:-1])), np.max(np.abs(at - steps[1:]))))
