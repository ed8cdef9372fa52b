"""First components: groups of points in proportion to exp(−ℓ).

In one and two dimensions the points are those of a grid over what is not negligible of
exp(−ℓ); beyond, draws around the origin.  Gaussians start with means, spreads and shares of
groups (`groups`); others with the member of the family that is most likely for a group.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.core import Derivation
from blrgen.errors import UserError
from blrgen.fitting.gaussian import Gaussians
from blrgen.fitting.groups import First, covering, grouped, moments
from blrgen.fitting.line import Lines, stretch
from blrgen.fitting.loss import Target

Array = Any
WIDEST = 2.0**12


def first_state(
    d: Derivation, candidate: Gaussians | Lines, target: Target, count: int, seed: int
) -> dict[str, Array]:
    """The parameters of all components."""
    rng = np.random.default_rng(seed)
    if isinstance(candidate, Lines):
        points, weights = _line(candidate, target)
        groups = grouped(np.arcsinh(points), weights, count, rng)
        return _fitted(d, candidate, points[:, 0], weights, groups, count, rng)
    points, weights = plane(target, rng)
    if target.dimension > 2:
        first = moments(points, weights, grouped(points, weights, count, rng), count)
    else:
        first = covering(points, weights, count, rng)
    return _gaussian(d, candidate, first)


def plane(target: Target, rng: np.random.Generator) -> tuple[Array, Array]:
    """Points of R^d and their shares of exp(−ℓ)."""
    d = target.dimension
    if d > 2:
        points = 2 * rng.standard_normal((4096, d))
        return points, np.full(len(points), 1 / len(points))
    low, high = np.full(d, -4.0), np.full(d, 4.0)
    while True:
        points = _grid(low, high, 161 if d == 2 else 2001)
        weights = _shares(target(points))
        if high.max() >= WIDEST or _inside(points, weights, low, high):
            break
        low, high = 2 * low, 2 * high
    for _ in range(3):  # closer, to what counts
        kept = points[weights > weights.max() * 1e-7]
        edge = (high - low) / (160 if d == 2 else 2000)
        low, high = kept.min(0) - edge, kept.max(0) + edge
        points = _grid(low, high, 161 if d == 2 else 2001)
        weights = _shares(target(points))
    return points, weights


def _inside(points: Array, weights: Array, low: Array, high: Array) -> bool:
    """Whether hardly anything is near the frame, and the mass is no single point."""
    middle, half = (low + high) / 2, (high - low) / 2
    out = (np.abs(points - middle) > 0.9 * half).any(1)
    return bool(weights[out].sum() < 1e-6)


def _grid(low: Array, high: Array, count: int) -> Array:
    lines = [np.linspace(a, b, count) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*lines, indexing="ij"), -1).reshape(-1, len(lines))


def _shares(loss: Array) -> Array:
    loss = np.where(np.isfinite(loss), loss, np.inf)
    if not np.isfinite(loss).any():
        raise UserError("the loss has no finite value on the grid that a start is looked for on",
                        where="--loss", how="--start FILE.json begins elsewhere")  # fmt: skip
    weights = np.exp(loss.min() - loss)
    return weights / weights.sum()


def _line(candidate: Lines, target: Target) -> tuple[Array, Array]:
    """Points of the support and their shares of exp(−ℓ)."""
    support = candidate.d.geometry.family.support
    if support.kind in ("finite", "integers"):
        points = (
            np.array([float(p) for p in support.points])
            if support.kind == "finite"
            else np.arange(candidate.ends[0], min(candidate.ends[1], 5000.0) + 1)
        )
        return points[:, None], _shares(target(points[:, None]))

    def height(u: Array) -> Array:
        x, log_slope = candidate.place(u)
        return log_slope - target(x[:, None])

    u = np.linspace(*stretch(height), 4001)
    x, _ = candidate.place(u)
    level = height(u)
    weights = np.exp(level - np.nanmax(level))
    weights = np.where(np.isfinite(weights), weights, 0.0)
    return x[:, None], weights / weights.sum()


def _gaussian(d: Derivation, candidate: Gaussians, first: First) -> dict[str, Array]:
    """Mean and spread of every group, as the family has them."""
    means, spreads, shares = first
    state: dict[str, Array] = {"pi": shares}
    precisions = np.linalg.inv(spreads)
    for q in d.rule.of("state"):
        if q.name == "pi":
            continue
        if q.name == candidate.mean:
            state[q.name] = means if d.geometry.family.support.size else means[:, 0]
        elif q.rank == "symmetric":
            state[q.name] = precisions
        else:
            state[q.name] = _scale(d, q.meaning, q.rank, spreads)
    return state


def _scale(d: Derivation, meaning: str, rank: str, spreads: Array) -> Array:
    """Variances, or precisions, of the coordinates."""
    variances = np.einsum("kii->ki", spreads)
    if rank == "scalar":
        variances = variances.mean(1)
    elif not d.geometry.family.support.size:
        variances = variances[:, 0]
    return variances if meaning == "variance" else 1 / variances


def _fitted(
    d: Derivation, candidate: Lines, x: Array, weights: Array, groups: Array, count: int,
    rng: np.random.Generator,
) -> dict[str, Array]:  # fmt: skip
    """The member of the family that is most likely for the points of every group."""
    from blrgen.geometry.fit_samples import fit_samples

    state: dict[str, list[float]] = {x: [] for x in candidate.states}
    shares = []
    for k in range(count):
        own = weights * (groups == k)
        total = own.sum()
        share = own / total if total > 0 else weights
        sample = rng.choice(x, size=100, p=share)
        try:
            found = {n: float(v) for n, v in fit_samples(d.geometry, sample, {}).working.items()}
        except (UserError, ValueError, ArithmeticError):
            found = {}
        for q in d.rule.of("state"):
            if q.name != "pi":
                first = float(q.init) * float(np.exp(rng.normal(0, 0.3)))
                state[q.name].append(found.get(q.name, first))
        shares.append(max(float(total), 1e-3))
    made = {name: np.array(values) for name, values in state.items()}
    return {**made, "pi": np.array(shares) / sum(shares)}
