"""A small logistic problem whose posterior is known, and training on it by what inputs say.

ℓ(θ) = Σᵢ log(1 + exp(−yᵢ xᵢ θ)) + ½λθ², one parameter, 400 rows.  MAP and the curvature
there (Laplace) by Newton's method, mean and spread of the posterior on a grid.  `Inputs` reads
the words that a derivation has for its inputs, and hands over what they ask for: nothing here
knows a recipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

ROWS, PRIOR = 400, 2.0


def _data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(20)
    x = rng.standard_normal(ROWS)
    return x, np.where(rng.random(ROWS) < 1 / (1 + np.exp(-1.2 * x)), 1.0, -1.0)


X, Y = _data()


def slopes(theta: float, rows: Any = slice(None)) -> np.ndarray:
    """∇ℓᵢ of the rows alone."""
    x, y = X[rows], Y[rows]
    gradient: np.ndarray = -y * x / (1 + np.exp(y * x * theta))
    return gradient


def bends(theta: float, rows: Any = slice(None)) -> np.ndarray:
    """∇²ℓᵢ of the rows alone."""
    p = 1 / (1 + np.exp(-X[rows] * theta))
    bend: np.ndarray = X[rows] ** 2 * p * (1 - p)
    return bend


def laplace() -> tuple[float, float]:
    """MAP, and 1/√∇²ℓ there."""
    theta = 0.0
    for _ in range(50):
        theta -= (slopes(theta).sum() + PRIOR * theta) / (bends(theta).sum() + PRIOR)
    return theta, float((bends(theta).sum() + PRIOR) ** -0.5)


def exact() -> tuple[float, float]:
    """Mean and standard deviation of the posterior, on a grid."""
    at, width = laplace()
    grid = np.linspace(at - 12 * width, at + 12 * width, 4001)
    loss = np.array([np.logaddexp(0, -Y * X * t).sum() + PRIOR * t * t / 2 for t in grid])
    weight = np.exp(loss.min() - loss)
    weight /= weight.sum()
    mean = float(weight @ grid)
    return mean, float(np.sqrt(weight @ (grid - mean) ** 2))


@dataclass(frozen=True)
class Inputs:
    """What the inputs of a rule are, by their words alone."""

    meanings: dict[str, str]
    batch: int

    def at(self, opt: Any, theta: Any, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Every input, each over the same minibatch where it asks for one."""
        rows = rng.choice(ROWS, self.batch, replace=False)
        return {name: self._value(words, opt, theta, rows) for name, words in self.meanings.items()}

    def _value(self, words: str, opt: Any, theta: Any, rows: np.ndarray) -> np.ndarray:
        if "in expectation under q" in words:
            mean, deviation = (float(v[0]) for v in opt.posterior())
            nodes, weights = np.polynomial.hermite_e.hermegauss(30)
            values = [self._at(words, mean + deviation * z, rows) for z in nodes]
            value = weights @ np.array(values) / weights.sum()
        else:
            value = self._at(words, float(np.ravel(theta)[0]), rows)
        return np.full((1, 1) if words.startswith("the Hessian") else 1, value)

    def _at(self, words: str, theta: float, rows: np.ndarray) -> float:
        slope = "gradient of the loss" in words
        of: Any = slopes if slope or "gᵢ∘gᵢ" in words else bends
        power, prior = (2, 0.0) if "gᵢ∘gᵢ" in words else (1, PRIOR * theta if slope else PRIOR)
        if "the mean over the rows of a minibatch, not times N" in words:
            value, share = (of(theta, rows) ** power).mean(), 1 / ROWS
        elif "N/M times that over the M rows of a minibatch" in words:
            value, share = (of(theta, rows) ** power).sum() * ROWS / len(rows), 1.0
        else:
            assert "the sum over all rows" in words, words
            value, share = (of(theta) ** power).sum(), 1.0
        if "without the prior's" in words:
            return float(value)
        assert "with the prior's" in words, words
        return float(value + share * prior)


def train(d: Any, opt: Any, steps: int, batch: int, seed: int = 0) -> tuple[float, float]:
    """Mean and standard deviation by the second half of a run, where the rule is at rest."""
    asked = d.rule.of("input")
    inputs = Inputs({q.name: q.meaning for q in asked}, batch)
    rng, kept = np.random.default_rng(seed), []
    for k in range(steps):
        theta = opt.draw(rng) if d.rule.of("draw") else opt.params
        found = inputs.at(opt, theta, rng)
        opt.step(*(found[q.name] for q in asked))
        if k >= steps // 2:
            kept.append([float(v[0]) for v in opt.posterior()])
    means, deviations = np.array(kept).T
    return float(means.mean()), float((deviations**-2).mean() ** -0.5)
