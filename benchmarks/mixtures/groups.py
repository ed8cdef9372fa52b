"""A step of the hierarchical logistic regression, emitted and by hand, with the same nodes.

    python -m benchmarks.mixtures.groups

Rows by hundreds lie in columns while they are worked on; exp and log vectorise. Levels first,
then coefficients with the new levels, then the precision of the levels: as `--ncvmp` does.  The
kernel has the objective and the error estimate of the nodes too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from benchmarks.axes.kernels.common import BLOCK, FAST, exp, log1p, transposed
from benchmarks.models.clock import best
from benchmarks.models.emitted import model_class

Array = Any


@njit(**FAST)  # type: ignore[untyped-decorator]
def _expected(mean: Array, spread: Array, nodes: Array) -> tuple[Array, Array, Array, Array]:
    """E log(1 + eᵘ), E σ, E σ′ and the error of E σ′; arrays made here are known to be apart."""
    value, slope, second, rest = (
        np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK),
    )  # fmt: skip
    for q in range(nodes.shape[1]):
        at, weight, signed = nodes[0, q], nodes[1, q], nodes[2, q]
        for b in range(BLOCK):
            u = mean[b] + spread[b] * at
            small = exp(-abs(u))
            over = 1.0 / (1.0 + small)
            p = over if u >= 0.0 else small * over
            bent = small * over * over
            value[b] += weight * (max(u, 0.0) + log1p(small))
            slope[b] += weight * p
            second[b] += weight * bent
            rest[b] += signed * bent
    return value, slope, second, rest


@njit(**FAST)  # type: ignore[untyped-decorator]
def _slopes(mean: Array, spread: Array, nodes: Array) -> tuple[Array, Array, Array]:
    """The same without the first, which the objective alone needs."""
    slope, second, rest = np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK)
    for q in range(nodes.shape[1]):
        at, weight, signed = nodes[0, q], nodes[1, q], nodes[2, q]
        for b in range(BLOCK):
            u = mean[b] + spread[b] * at
            small = exp(-abs(u))
            over = 1.0 / (1.0 + small)
            p = over if u >= 0.0 else small * over
            bent = small * over * over
            slope[b] += weight * p
            second[b] += weight * bent
            rest[b] += signed * bent
    return slope, second, rest


@njit(**FAST)  # type: ignore[untyped-decorator]
def _predictors(columns: Array, w: Array, cov: Array, mean: Array, var: Array, t: Array) -> None:
    """Mean and variance of w·x in every column."""
    p = len(w)
    mean[:] = 0.0
    var[:] = 0.0
    for i in range(p):
        x = columns[i]
        t[:] = 0.0
        for j in range(i):
            y, c = columns[j], 2.0 * cov[i, j]
            for b in range(BLOCK):
                t[b] += c * y[b]
        c = cov[i, i]
        for b in range(BLOCK):
            mean[b] += w[i] * x[b]
            var[b] += x[b] * (t[b] + c * x[b])


@njit(**FAST)  # type: ignore[untyped-decorator]
def _levels(
    X: Array, g: Array, nodes: Array, w: Array, cov: Array, bm: Array, bv: Array,
    keep: Array, first: Array, second: Array,
) -> tuple[float, float]:  # fmt: skip
    """Sums over rows for every group; means and variances of w·x are kept."""
    N, p = X.shape
    columns = np.empty((p, BLOCK))
    mean, var, t, spread = np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK)
    first[:] = 0.0
    second[:] = 0.0
    total, worst = 0.0, 0.0
    for n in range(0, N, BLOCK):
        rows = min(BLOCK, N - n)
        transposed(X, n, rows, columns)
        _predictors(columns, w, cov, mean, var, t)
        for b in range(rows):
            keep[0, n + b], keep[1, n + b] = mean[b], var[b]
            k = g[n + b]
            mean[b] += bm[k]
            spread[b] = np.sqrt(max(var[b] + bv[k], 0.0))
        value, slope, bent, rest = _expected(mean, spread, nodes)
        for b in range(rows):
            k = g[n + b]
            first[k] += slope[b] - bm[k] * bent[b]
            second[k] += bent[b] / 2
            total += value[b]
            worst = max(worst, abs(spread[b] ** 2 * rest[b]) / (1 + slope[b]))
    return total, worst


@njit(**FAST)  # type: ignore[untyped-decorator]
def _coefficients(
    X: Array, g: Array, nodes: Array, bm: Array, bv: Array, keep: Array, first: Array,
    second: Array,
) -> float:  # fmt: skip
    """Sums over rows for the coefficients, with the new levels."""
    N, p = X.shape
    columns = np.empty((p, BLOCK))
    mean, spread, e, t = np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK), np.zeros(BLOCK)
    first[:] = 0.0
    second[:] = 0.0
    worst = 0.0
    for n in range(0, N, BLOCK):
        rows = min(BLOCK, N - n)
        transposed(X, n, rows, columns)
        for b in range(rows):
            k = g[n + b]
            mean[b] = keep[0, n + b] + bm[k]
            spread[b] = np.sqrt(max(keep[1, n + b] + bv[k], 0.0))
        slope, bent, rest = _slopes(mean, spread, nodes)
        for b in range(rows):
            e[b] = slope[b] - keep[0, n + b] * bent[b]
            worst = max(worst, abs(spread[b] ** 2 * rest[b]) / (1 + slope[b]))
        e[rows:] = 0.0
        for i in range(p):
            x, s = columns[i], 0.0
            for b in range(BLOCK):
                s += e[b] * x[b]
                t[b] = bent[b] * x[b] / 2
            first[i] += s
            for j in range(i + 1):
                y, s = columns[j], 0.0
                for b in range(BLOCK):
                    s += t[b] * y[b]
                second[i, j] += s
    return worst


def by_hand(
    X: Array, g: Array, nodes: Array, sums: tuple[Array, Array], state: dict[str, Array]
) -> tuple[dict[str, Array], float]:
    """The next state with all scales of priors 1, and the sum over rows of E log(1 + eᵘ)."""
    K, (N, p) = len(state["b_m"]), X.shape
    keep, tau = np.empty((2, N)), state["tau_a"] / state["tau_b"]
    b1, b2, w1, w2 = np.empty(K), np.empty(K), np.empty(p), np.empty((p, p))
    cov = np.linalg.inv(state["w_S"])
    bm, bv = state["b_m"], state["b_v"]
    total, _ = _levels(X, g, nodes, state["w_m"], cov, bm, bv, keep, b1, b2)
    v = 1 / (tau + 2 * b2)
    m = v * (sums[0] - b1)
    _coefficients(X, g, nodes, m, v, keep, w1, w2)
    S = 2 * (w2 + np.tril(w2, -1).T) + np.eye(p)
    w = np.linalg.solve(S, sums[1] - w1)
    new = {"b_m": m, "b_v": v, "w_m": w, "w_S": S, "tau_a": np.array(K / 2 + 1),
           "tau_b": np.array(1 + ((m * m + v) / 2).sum())}  # fmt: skip
    return new, total


def main(N: int = 100_000, p: int = 20, K: int = 100) -> None:
    """One row, after both were held to one another."""
    rng = np.random.default_rng(0)
    X, g = rng.standard_normal((N, p)), rng.integers(0, K, N)
    level = X @ rng.standard_normal(p) / 4 + rng.standard_normal(K)[g]
    y = (rng.random(N) < 1 / (1 + np.exp(-level))).astype(float)
    opt = model_class("logistic-regression-groups", "ncvmp")(y=y, X=X, g=g, K=K)
    for _ in range(20):  # to rest, so that the number of nodes stays
        opt.step()
    given = np.stack([opt.nodes[f"node_{x}"] for x in ("points", "weights", "signed")])
    sums, state = (opt.sums["sum_1"], opt.sums["sum_2"]), opt.state
    theirs, _ = by_hand(X, g, given, sums, state)
    ours = opt._swept_once(1.0)[1]
    for name, value in theirs.items():
        np.testing.assert_allclose(ours[name], value, rtol=1e-8, atol=1e-9, err_msg=name)
    calls: dict[str, Callable[[], object]] = {
        "ours": opt.step,
        "sweep": lambda: opt._swept_once(1.0),
        "kernel": lambda: by_hand(X, g, given, sums, state),
    }
    found = best(calls, 5, 1)
    assert opt.sizes["node_count"] == given.shape[1]
    print(
        f"{given.shape[1]} nodes; " + ", ".join(f"{k} {1e3 * t:.1f} ms" for k, t in found.items())
    )
    print(f"step / kernel {found['ours'] / found['kernel']:.2f}, "
          f"sweep alone {found['sweep'] / found['kernel']:.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
