"""Draws follow the density: Kolmogorov and Smirnov's distance, and the means of T.

The sampler is the one found with the log-partition, in primitive draws; where there is none
the distribution function is inverted numerically.  Seeded: the same file gives the same line.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np
import sympy as sp

from blrgen.check.context import Context
from blrgen.check.draws import Distribution, drawn
from blrgen.check.finding import NotChecked, Wrong
from blrgen.check.points import interior
from blrgen.prove.density import Table, number
from blrgen.prove.evaluate import evaluate

NAME = "sampling"
NEEDS: tuple[str, ...] = ()
COUNT, SEED = 4000, 20230717
FAR = 2.2  # √n times the distance: beyond with probability 1e-4
DEVIATIONS = 4.5  # of a mean, in standard errors


def run(context: Context) -> tuple[str, str]:
    """A sample at two interior points against the tables of the density."""
    family = context.family
    if not family.elementwise or family.joint or family.components is not None:
        raise NotChecked("draws of one variable are compared, not of vectors and matrices")
    tables = dict(zip(map(_key, context.points), context.tables, strict=False))
    sampler = context.geometry.integral.sampler
    discrete = family.support.kind in ("finite", "integers")
    worst = 0.0
    for turn, point in enumerate(interior(family)[1:3]):
        _, table = tables[_key(point)]
        distribution = Distribution(table, discrete)
        if sampler is None:
            u = np.random.default_rng(SEED + turn).random(COUNT)
            sample = distribution.inverted(u)
        else:
            sample = drawn(sampler, {k: float(v) for k, v in point.items()}, COUNT, SEED + turn)
        if not np.isfinite(sample).all():
            raise Wrong("a draw", point, "not finite", "finite")
        distance = distribution.distance(sample) * np.sqrt(COUNT)
        worst = max(worst, distance)
        if distance > FAR:
            raise Wrong("√n·KS of 4000 draws", point, f"{distance:.3g}", f"below {FAR}")
        _means(context, table, sample, point)
    how = "the distribution function inverted" if sampler is None else f"x = {_shown(sampler)}"
    return "numeric", f"{how}; 4000 draws: √n·KS = {worst:.2f}, means of T within their errors"


def _key(point: Any) -> tuple[Any, ...]:
    return tuple(sorted((str(k), v) for k, v in point.items()))


def _means(context: Context, table: Table, sample: Any, point: Any) -> None:
    family = context.family
    fixed = {p.symbol: number(point[p.symbol]) for p in family.fixed}
    with mpmath.workdps(15):
        for k, statistic in enumerate(family.statistics):
            variance = float(table.covariances[k][k])
            values = [
                float(evaluate(statistic, {**fixed, family.variable: mpmath.mpf(float(x))}))
                for x in sample[: COUNT // 4]
            ]
            mean, should = float(np.mean(values)), float(table.means[k])
            error = np.sqrt(variance / len(values))
            if _heavy(table, k):
                continue
            if abs(mean - should) > DEVIATIONS * error:
                raise Wrong(f"mean of {statistic} over draws", point, f"{mean:.6g}",
                            f"{should:.6g} ± {error:.2g}")  # fmt: skip


def _heavy(table: Table, k: int) -> bool:
    """A statistic whose fourth moment dwarfs its variance has no normal mean in a sample."""
    t, mean = table.statistics[k], table.means[k]
    fourth = table.mean([(v - mean) ** 4 for v in t])
    return bool(fourth > 400 * table.covariances[k][k] ** 2)


def _shown(sampler: Any) -> str:
    """The sampler with its draws as a person names them: normal, gamma(a), uniform2."""
    from blrgen.geometry.integrate.draws import Draw
    from blrgen.show.expression import ascii

    try:
        text = ascii(sampler.replace(lambda e: isinstance(e, Draw), _named))
    except (KeyError, ValueError, TypeError) as error:
        raise NotChecked("the sampler cannot be written") from error
    return text if len(text) <= 100 else "…"


def _named(draw: Any) -> Any:
    name = draw.kind + (str(draw.number + 1) if draw.number else "")
    return sp.Function(name)(*draw.parameters) if draw.parameters else sp.Symbol(name)
