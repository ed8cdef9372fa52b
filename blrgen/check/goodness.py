"""How far draws are from a law: means, covariances, distribution functions.

A right sampler is refused with a probability of about `LEVEL` a place, shared among all
comparisons there (Bonferroni): a mean or a mean product by its standard error under the
law, where its skewness and kurtosis leave the normal tail what it is; a projection by
Kolmogorov's and Smirnov's distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

import numpy as np

Array = Any
COUNT, SEED = 10_000, 20230717
LEVEL = 1e-6
_BLUR = 0.1  # of the distance of the quartiles
_CELLS = 32  # a blur
_SKEW = 1.0  # of log of the tail that skewness or kurtosis may add
_FAINT = 1e-11  # of the heaviest node
_MOST = 8  # components looked at one by one


@dataclass(frozen=True)
class Reference:
    """Nodes of the law: weights with sum 1, what is compared by name at the nodes.

    Of `statistics` the moments are compared too, of `others` the distribution only.
    `noise` is the variance that the nodes' own means have, in that of one draw.
    """

    weights: Array  # (M,)
    statistics: dict[str, Array]  # (M,) each
    others: dict[str, Array] = field(default_factory=dict)
    noise: float = 0.0

    @property
    def thinned(self) -> Reference:
        """Without the nodes that hold no mass."""
        kept = self.weights > _FAINT * self.weights.max()
        return Reference(
            self.weights[kept] / self.weights[kept].sum(),
            {k: v[kept] for k, v in self.statistics.items()},
            {k: v[kept] for k, v in self.others.items()},
            self.noise,
        )


@dataclass(frozen=True)
class Gap:
    """A comparison that fails."""

    what: str
    found: str
    should: str


@dataclass(frozen=True)
class Report:
    """The worst of each kind, in units of what a right sampler would be refused at."""

    distance: float  # √n·KS
    deviation: float  # standard errors
    count: int
    wrong: Gap | None = None


def compare(reference: Reference, statistics: dict[str, Array], others: dict[str, Array]) -> Report:
    """Draws (N,) of every statistic and projection against the law."""
    own, moments = _projections(reference, statistics, others), list(_moments(reference))
    count = max(1, len(own) + len(moments))
    slack = math.sqrt(1 + COUNT * reference.noise)
    farthest = slack * NormalDist().inv_cdf(1 - LEVEL / (2 * count))
    limit = slack * math.sqrt(math.log(2 * count / LEVEL) / 2)
    deviation = distance = 0.0
    for what, mean, error, of in moments:
        if not _normal_enough(error, farthest):
            continue
        values = of(statistics)
        gap = abs(values.mean() - mean) / (error[0] / math.sqrt(len(values)))
        deviation = max(deviation, gap if np.isfinite(gap) else math.inf)
        if not gap <= farthest:
            spread = error[0] / math.sqrt(len(values))
            wrong = Gap(f"{what} over draws", f"{values.mean():.6g}", f"{mean:.6g} ± {spread:.2g}")
            return Report(distance, deviation, count, wrong)
    for what, nodes, values in own:
        gap = _distance(nodes, reference.weights, values) * math.sqrt(len(values))
        distance = max(distance, gap)
        if not gap <= limit:
            wrong = Gap(
                f"√n·KS of {what} over {len(values)} draws", f"{gap:.3g}", f"below {limit:.2g}"
            )
            return Report(distance, deviation, count, wrong)
    return Report(distance, deviation, count)


def _projections(
    reference: Reference, statistics: dict[str, Array], others: dict[str, Array]
) -> list[tuple[str, Array, Array]]:
    """(name, at the nodes, of the draws): components, and a few sums of statistics at random."""
    found = [(name, x, statistics[name]) for name, x in reference.statistics.items()][:_MOST]
    found += [(name, x, others[name]) for name, x in reference.others.items()][:_MOST]
    if len(reference.statistics) > 1:
        rng = np.random.default_rng(len(found))
        scales = {k: _reach(x, reference.weights) for k, x in reference.statistics.items()}
        for k in range(3):
            parts = {name: rng.standard_normal() / s for name, s in scales.items() if s > 0}
            if parts:
                found.append((
                    f"projection {k + 1} of T",
                    sum(c * reference.statistics[name] for name, c in parts.items()),
                    sum(c * statistics[name] for name, c in parts.items()),
                ))  # fmt: skip
    return found


def _moments(reference: Reference) -> Iterator[tuple[str, float, tuple[float, ...], Any]]:
    """(what, its mean, (deviation, skewness, kurtosis), its values from the draws)."""
    w, nodes = reference.weights, dict(list(reference.statistics.items())[:_MOST])
    means = {name: float(w @ np.where(w > 0, x, 0)) for name, x in nodes.items()}
    for name, x in nodes.items():
        yield f"mean of {name}", means[name], _shape(x, w), lambda s, k=name: s[k]
    names = list(nodes)
    for i, a in enumerate(names):
        for b in names[: i + 1]:
            product = (nodes[a] - means[a]) * (nodes[b] - means[b])
            mean = float(w @ np.where(w > 0, product, 0))
            what = f"variance of {a}" if a == b else f"covariance of {a} and {b}"
            yield what, mean, _shape(product, w), (
                lambda s, a=a, b=b: (s[a] - means[a]) * (s[b] - means[b])
            )  # fmt: skip


def _shape(x: Array, w: Array) -> tuple[float, ...]:
    """Deviation, skewness and kurtosis."""
    with np.errstate(all="ignore"):
        x = np.where(w > 0, x, 0)
        away = x - w @ x
        deviation = math.sqrt(float(w @ (away * away)))
        if not deviation > 0:
            return (deviation, math.inf, math.inf)
        unit = away / deviation
        square = unit * unit  # powers are slow
        return deviation, float(w @ (square * unit)), float(w @ (square * square))


def _normal_enough(shape: tuple[float, ...], z: float) -> bool:
    """Whether the mean of so many is normal as far out as it is looked at."""
    _, skewness, kurtosis = shape
    first = abs(skewness) * z**3 / (6 * math.sqrt(COUNT))
    second = abs(kurtosis - 3) * z**4 / (24 * COUNT)
    return bool(first <= _SKEW and second <= _SKEW)


def _quantile(x: Array, w: Array, share: float) -> float:
    order = np.argsort(x)
    below = np.cumsum(w[order])
    return float(x[order][np.searchsorted(below, share * below[-1])])


def _reach(x: Array, w: Array) -> float:
    return _quantile(x, w, 0.75) - _quantile(x, w, 0.25)


def _distance(nodes: Array, weights: Array, values: Array) -> float:
    """Kolmogorov and Smirnov's, both laws blurred by the same narrow noise.

    Nodes are no draws: between them their distribution function stands still.  Blurring does
    not raise the distance of a right sample on average.
    """
    order = np.argsort(nodes)
    nodes, weights = nodes[order], weights[order]
    kept = weights > 1e-15
    nodes, weights = nodes[kept], weights[kept] / weights[kept].sum()
    below = np.cumsum(weights)
    places = np.searchsorted(below, np.linspace(0.002, 0.998, 301))
    grid = np.unique(nodes[np.minimum(places, len(nodes) - 1)])
    width = _BLUR * _reach(nodes, weights)
    if not width > 0:  # a few points hold the mass
        near = grid + 1e-12 * (1 + np.abs(grid))
        exact = np.append(0.0, below)[np.searchsorted(nodes, near, side="right")]
        steps = np.searchsorted(np.sort(values), near, side="right") / len(values)
        return float(np.abs(steps - exact).max())
    law = _blurred(nodes, weights, grid, width)
    drawn = _blurred(values, np.full(len(values), 1 / len(values)), grid, width)
    return float(np.abs(law - drawn).max())


def _blurred(x: Array, w: Array, grid: Array, width: float) -> Array:
    """Σ w σ((grid − x)/width); what is close together is taken as one."""
    low, high = grid[0] - 40 * width, grid[-1] + 40 * width
    cells = np.floor((np.clip(x, low, high) - low) * (_CELLS / width)).astype(np.int64)
    cells, where = np.unique(cells, return_inverse=True)
    mass = np.bincount(where, weights=w)
    middle = np.bincount(where, weights=w * np.clip(x, low, high)) / np.where(mass > 0, mass, 1)
    found = np.empty(len(grid))
    for k, s in enumerate(grid):
        found[k] = mass @ (0.5 + 0.5 * np.tanh((s - middle) / (2 * width)))
    return found
