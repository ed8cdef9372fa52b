"""Points in groups: means, covariances and shares of a first mixture of Gaussians.

Groups are those of k-means++; where the points are a grid and their weights its shares of
exp(−ℓ), a few rounds of EM follow, which covers what there is, from several groupings; the one
whose KL(q‖p) over the grid is the least is taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = Any
First = tuple[Array, Array, Array]  # means (K, d), covariances (K, d, d), shares (K)
ROUNDS, COVERING, TRIES = 30, 40, 8
NEGLIGIBLE = 1e-9  # of the largest weight


def grouped(points: Array, weights: Array, count: int, rng: np.random.Generator) -> Array:
    """The group of every point: k-means++ with weights."""
    centres = points[rng.choice(len(points), p=weights)][None]
    for _ in range(count - 1):
        far = ((points[:, None] - centres[None]) ** 2).sum(-1).min(1) * weights
        share = far / far.sum() if far.sum() > 0 else weights
        centres = np.concatenate([centres, points[rng.choice(len(points), p=share)][None]])
    groups = np.zeros(len(points), int)
    for _ in range(ROUNDS):
        groups = ((points[:, None] - centres[None]) ** 2).sum(-1).argmin(1)
        for k in range(count):
            own = weights * (groups == k)
            if own.sum() > 0:
                centres[k] = own @ points / own.sum()
    return groups


def moments(points: Array, weights: Array, groups: Array, count: int) -> First:
    """Mean and spread of every group."""
    whole = covariance(points, weights) + 1e-12 * np.eye(points.shape[1])
    means, spreads, shares = [], [], []
    for k in range(count):
        own = weights * (groups == k)
        total = own.sum()
        if total <= 0:
            own, total = weights, 1.0
        means.append(own @ points / total)
        spreads.append(covariance(points, own / total) + 1e-3 * whole)
        shares.append(max(float(total), 1e-3))
    return np.array(means), np.array(spreads), np.array(shares) / sum(shares)


def covering(points: Array, weights: Array, count: int, rng: np.random.Generator) -> First:
    """The best of several groupings of a grid, each after some rounds of EM."""
    kept = weights > NEGLIGIBLE * weights.max()
    near, shares = points[kept], weights[kept] / weights[kept].sum()
    tries = TRIES if count > 1 else 1
    found = [_covered(near, shares, moments(near, shares, grouped(near, shares, count, rng), count))
             for _ in range(tries)]  # fmt: skip
    return min(found, key=lambda first: _divergence(points, weights, first))


def _covered(points: Array, weights: Array, first: First) -> First:
    """EM of a mixture for weighted points; a component that loses all of them stays."""
    means, spreads, shares = first
    least = 1e-4 * covariance(points, weights) + 1e-12 * np.eye(points.shape[1])
    for _ in range(COVERING):
        level = logs(points, (means, spreads, shares))
        own = np.exp(level - np.logaddexp.reduce(level)) * weights
        total = own.sum(1)
        if not (total > 1e-12).all():
            break
        shares = total / total.sum()
        means = own @ points / total[:, None]
        spreads = np.array([
            covariance(points, r / t, m) + least for r, t, m in zip(own, total, means, strict=True)
        ])  # fmt: skip
    return means, spreads, shares


def logs(points: Array, first: First) -> Array:
    """log(π_k q_k) at every point, (K, N)."""
    found = []
    for m, V, share in zip(*first, strict=True):
        root = np.linalg.cholesky(V)
        z = np.linalg.solve(root, (points - m).T)
        constant = np.log(share) - np.log(np.diag(root)).sum() - len(m) * np.log(2 * np.pi) / 2
        found.append(constant - (z * z).sum(0) / 2)
    return np.array(found)


def _divergence(points: Array, weights: Array, first: First) -> float:
    """Σ q (log q − log p) − q + p over the grid: no term gains by what is off it."""
    sides = [np.unique(x) for x in points.T]
    cell = float(np.prod([x[1] - x[0] for x in sides]))
    log_q = np.logaddexp.reduce(logs(points, first)) + np.log(cell)
    log_p = np.log(np.maximum(weights, 1e-300))
    q = np.exp(log_q)
    return float((q * (log_q - log_p) - q + weights).sum())


def covariance(points: Array, share: Array, middle: Array | None = None) -> Array:
    """Σ share (x − middle)(x − middle)ᵀ, around the mean where no middle is given."""
    off = points - (share @ points if middle is None else middle)
    return np.einsum("n,ni,nj->ij", share, off, off)
