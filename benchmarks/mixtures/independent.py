"""KL(q‖p) of a mixture of Gaussians in the plane, made least by a general optimiser.

Knows nothing of natural gradients: means, triangular roots of precisions and logits are moved
by L-BFGS on the Riemann sum of q (log q − log p) − q + p over a fine grid, with its exact slopes,
from several starts that are drawn from p.  The last two keep it from gaining by what is off the
grid: no term is negative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

Array = Any
Loss = Callable[[Array], Array]
NARROWEST = 4.0  # cells of the grid in one standard deviation, at least


class Grid:
    """A square around the origin, and log p on it, normalised there."""

    def __init__(self, loss: Loss, half: float, count: int) -> None:
        line, self.cell = np.linspace(-half, half, count, retstep=True)
        self.points = np.stack(np.meshgrid(line, line, indexing="ij"), -1).reshape(-1, 2)
        log_p = -loss(self.points)
        log_p = np.where(np.isfinite(log_p), log_p, np.nanmin(log_p[np.isfinite(log_p)]))
        self.log_p = log_p - np.logaddexp.reduce(log_p) - 2 * np.log(self.cell)


def logs(v: Array, count: int, grid: Grid) -> tuple[Array, ...]:
    """log(π_k q_k) on the grid, with what slopes are made of."""
    m, root, logits = v[: 2 * count].reshape(-1, 2), v[2 * count : 5 * count].reshape(-1, 3), v[
        5 * count :]  # fmt: skip
    a, c = np.exp(root[:, 0]), np.exp(root[:, 2])
    x, y = (grid.points[None, :, i] - m[:, i, None] for i in range(2))
    s, t = a[:, None] * x + root[:, 1, None] * y, c[:, None] * y  # z = Lᵀ(θ − m)
    shares = logits - np.logaddexp.reduce(logits)
    level = shares + root[:, 0] + root[:, 2] - np.log(2 * np.pi)
    return level[:, None] - (s * s + t * t) / 2, x, y, s, t, a, c, shares, root[:, 1]


def fall(v: Array, count: int, grid: Grid) -> tuple[float, Array]:
    """The sum, and its slopes; a penalty where a component is narrower than the grid sees."""
    each, x, y, s, t, a, c, shares, b = logs(v, count, grid)
    top = each.max(0)
    parts = np.exp(each - top)
    total = parts.sum(0)
    log_q = top + np.log(total)
    cell = grid.cell**2
    q = np.exp(log_q) * cell
    gap = log_q - grid.log_p
    value = float(q @ gap - q.sum() + 1)
    by_log = parts / total * (q * gap)  # ∂value/∂log(π_k q_k), summed over points
    own = by_log.sum(1)
    g_m = np.stack([(by_log * s).sum(1) * a, (by_log * s).sum(1) * b + (by_log * t).sum(1) * c], 1)
    g_a = own - (by_log * s * x).sum(1) * a
    g_b = -(by_log * s * y).sum(1)
    g_c = own - (by_log * t * y).sum(1) * c
    g_w = own - np.exp(shares) * own.sum()
    limit = -np.log(NARROWEST * grid.cell)
    over = np.maximum(np.log(np.stack([a, c], 1)) - limit, 0)
    g_root = np.stack([g_a + 200 * over[:, 0], g_b, g_c + 200 * over[:, 1]], 1)
    return value + 100 * float((over**2).sum()), np.concatenate([g_m.ravel(), g_root.ravel(), g_w])


def start(count: int, grid: Grid, rng: np.random.Generator) -> Array:
    """Means drawn from p, spreads from how far the next ones are."""
    p = np.exp(grid.log_p)
    m = grid.points[rng.choice(len(p), size=count, p=p / p.sum(), replace=False)]
    far = np.sqrt(((m[:, None] - m[None]) ** 2).sum(-1)) + 1e9 * np.eye(count)
    spread = np.maximum(far.min(1), 8 * grid.cell)
    root = np.stack([-np.log(spread), np.zeros(count), -np.log(spread)], 1)
    return np.concatenate([m.ravel(), root.ravel(), np.zeros(count)])


def best(
    loss: Loss, count: int, half: float, *, size: int, starts: int, rounds: int, seed: int
) -> tuple[float, Array]:
    """The least value over all starts, and where."""
    grid, rng = Grid(loss, half, size), np.random.default_rng(seed)
    found = [
        minimize(fall, start(count, grid, rng), (count, grid), jac=True, method="L-BFGS-B",
                 options={"maxiter": rounds, "maxfun": 2 * rounds, "ftol": 1e-10})
        for _ in range(starts)
    ]  # fmt: skip
    least = min(found, key=lambda x: float(x.fun))
    return float(least.fun), least.x
