"""Components that are Gaussian: nodes around their mean, in the factor of the precision.

θ = m + L⁻ᵀz with P = LLᵀ.  In one and two dimensions the trapezoidal rule over z: under a normal
weight its error falls faster than any power of the step where f is smooth, and as its square
at a corner.  The rule of twice the step has half of its nodes in each direction, so that it
says what the error is; the step is halved until that is small enough, at every evaluation
anew: a fixed rule would be exploited by whoever minimises over it.  Beyond two dimensions draws,
the same in every step, with the slopes of f.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from blrgen.core import Derivation
from blrgen.fitting.loss import Target
from blrgen.fitting.nodes import Parts, log_densities, log_sum, nodes
from blrgen.value.tape import Tape

Array = Any
Values = Callable[[Array], Array]
MOST = {1: 8, 2: 2}  # how often the step is halved in a step of the rule, by the dimension
FINER = 2  # how much more often for what is reported
GOAL = {1: 1e-8, 2: 1e-5}
DRAWS = 4096


@dataclass
class Gaussians:
    """All components of a mixture of Gaussians as the rule keeps them."""

    d: Derivation
    target: Target
    seed: int = 0
    level: dict[int, int] = field(default_factory=dict)  # by component: where the last one ended
    rough: float = 0.0  # the largest error that was left in the last evaluation
    doubt: float = 0.0  # the error of E_q[ℓ + log q] in it
    share: float = 1.0  # of the goal
    most: int = 0

    def __post_init__(self) -> None:
        self.most = MOST.get(self.target.dimension, 0)
        candidate = dict(self.d.candidate)
        self.matrix = not (
            self.d.geometry.ring.elementwise or self.d.geometry.ring.components
        )  # fmt: skip
        self.states = [q.name for q in self.d.rule.of("state") if q.name != "pi"]
        symbols = [self.d.rule[x].symbol for x in self.states]
        self.mean = candidate["mean"].name
        constants = {q.symbol: q.default for q in self.d.rule.of("hyper") if q.name != "rho"}
        self.precision = candidate["precision"].subs(constants)
        self._tape = None if self.matrix else Tape([self.precision], symbols)

    # the candidate ------------------------------------------------------------------------
    def precisions(self, state: dict[str, Array]) -> Array:
        """(K, d, d)."""
        m = self.means(state)
        K, d = m.shape
        if self.matrix:
            return np.asarray(state[self.precision.name])
        (found,) = self._tape.run([state[x] for x in self.states], doubles=True)  # type: ignore[union-attr]
        found = np.asarray(found, dtype=float)
        diagonal = np.broadcast_to(found.reshape(K, -1) if found.ndim else found, (K, d))
        return diagonal[:, :, None] * np.eye(d)

    def means(self, state: dict[str, Array]) -> Array:
        """(K, d)."""
        m = np.asarray(state[self.mean])
        return m.reshape(len(m), -1)

    def log_q(self, points: Array, state: dict[str, Array]) -> tuple[Array, Array]:
        """log q at points (N, d), and its slopes."""
        logs, slopes = self._logs(points, state)
        top = logs.max(0)
        shares = np.exp(logs - top)
        total = shares.sum(0)
        return top + np.log(total), np.einsum("kn,kni->ni", shares / total, slopes)

    def values(self, points: Array, state: dict[str, Array]) -> Array:
        """log q at points (N, d)."""
        logs = log_densities(points, self._parts(state))
        top = logs.max(0)
        return top + np.log(np.exp(logs - top).sum(0))

    def _parts(self, state: dict[str, Array]) -> Parts:
        factors = np.linalg.cholesky(self.precisions(state))
        with np.errstate(divide="ignore"):
            weights = np.log(state["pi"])
        return self.means(state), factors, weights

    def _logs(self, points: Array, state: dict[str, Array]) -> tuple[Array, Array]:
        parts = self._parts(state)
        logs = log_densities(points, parts)
        slopes = np.stack([-(points - m) @ L @ L.T for m, L in zip(*parts[:2], strict=True)])
        return logs, slopes

    # expectations -------------------------------------------------------------------------
    def closely(self, state: dict[str, Array]) -> float:
        """E_q[ℓ + log q] with a smaller step than any step of the rule has had."""
        most = self.most
        self.share, self.most = 1e-3, MOST.get(self.target.dimension, 0) + FINER + 1
        value, _ = self.expected(state)
        self.share, self.most = 1.0, most
        return value

    def refined(self) -> bool:
        """One more halving of the step is allowed, where no step of the rule helps any more."""
        if self.target.dimension > 2 or self.most >= MOST[self.target.dimension] + FINER:
            return False
        self.most += 1
        return self.rough > GOAL[self.target.dimension]

    def expected(self, state: dict[str, Array]) -> tuple[float, dict[str, Array]]:
        """E_q[ℓ + log q], and for every component what the rule asks of ℓ + log q."""
        d = self.target.dimension
        parts = self._parts(state)
        means, factors, _ = parts
        found, self.rough, self.doubt = [], 0.0, 0.0
        for k, (m, L) in enumerate(zip(means, factors, strict=True)):
            back = np.linalg.inv(L).T
            if d <= 2:
                value, g, H = self._moments(k, m, back, parts)
            else:
                value, g, H = self._drawn(m, back, state)
            found.append((value, L @ g, L @ H @ L.T))
        values, slopes, curvatures = (np.array([x[i] for x in found]) for i in range(3))
        return float(state["pi"] @ values), self._named(values, slopes, curvatures)

    def _moments(self, k: int, m: Array, back: Array, parts: Parts) -> tuple[float, Array, Array]:
        """E[f], E[f z], E[f (zzᵀ − I)] by the rule whose error is small enough."""
        d = self.target.dimension
        level = max(self.level.get(k, 0) - 1, 0)
        while True:
            rule = nodes(d, level)
            points = (m[:, None] + back @ rule.z).T
            f = self.target(points) + log_sum(rule, m, back, parts)
            fine, rough = rule.moments(f, rule.fine), rule.moments(f, rule.coarse)
            scale = 1 + abs(fine[0])
            gap = max(float(np.abs(x - y).max()) for x, y in zip(fine, rough, strict=True)) / scale
            if gap < GOAL[d] * self.share or level >= self.most or not np.isfinite(gap):
                break
            level += 1
        self.level[k] = level
        self.rough = max(self.rough, gap)
        self.doubt += float(np.exp(parts[2][k])) * abs(fine[0] - rough[0]) / 3  # a corner's: as h²
        return fine

    def _drawn(self, m: Array, back: Array, state: dict[str, Array]) -> tuple[float, Array, Array]:
        """The same by draws and slopes: E[f], E[∂_z f], E[z ∂_z fᵀ], which is E[∂_z² f]."""
        z = draws(len(m), self.seed)
        points = m + z @ back.T
        values, slopes = self.log_q(points, state)
        f, slope = self.target(points) + values, self.target.slope(points) + slopes
        g = slope @ back  # in the coordinates of z
        H = z.T @ g / len(z)
        return float(f.mean()), g.mean(0), (H + H.T) / 2

    def _named(self, values: Array, g: Array, H: Array) -> dict[str, Array]:
        """By the names of the rule, in their shapes; all of it as of ℓ, nothing as of log q."""
        made: dict[str, Array] = {}
        for p in self.d.facts.probes:
            if p.name not in self.d.rule:
                continue
            rank = self.d.rule[p.name].rank
            value = {0: values, 1: g, 2: H}[p.order]
            if p.order == 2 and not self.matrix:
                value = np.einsum("kii->ki", H)
                value = value.mean(1) if rank == "scalar" else value
            if not self.d.geometry.family.support.size and p.order:
                value = value.reshape(len(values))
            made[p.name] = np.zeros_like(value) if p.of_mixture else value
        return made


@lru_cache(maxsize=4)
def draws(d: int, seed: int) -> Array:
    """Normal numbers in opposite pairs."""
    half = np.random.default_rng(seed).standard_normal((DRAWS // 2, d))
    return np.concatenate([half, -half])
