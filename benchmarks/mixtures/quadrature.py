"""A step of ten Gaussians in the plane with its integrals, and a kernel by hand with its nodes.

    python -m benchmarks.mixtures.quadrature

`fit` works on whole arrays, in NumPy: it can take any loss as it is given.  The kernel is
compiled for one loss, |θ₁| + |θ₂|; it has the trapezoidal rule, its error estimate and log q at
every node, and the step with retraction, all of which are held to ours before anything is timed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from benchmarks.axes.kernels.common import FAST, exp, log
from benchmarks.models.clock import best
from blrgen.api import derive
from blrgen.fitting.loss import target
from blrgen.fitting.nodes import nodes
from blrgen.fitting.run import Run, candidate_of
from blrgen.read.family import read_family

Array = Any
K, LEVEL, RHO = 10, 1, 0.3


@njit(**FAST)  # type: ignore[untyped-decorator]
def _integrals(
    m: Array, L: Array, pi: Array, z: Array, w: Array, coarse: Array
) -> tuple[Array, Array, Array, float]:
    """E[f], E[f z], E[f (zzᵀ − I)] for f = ℓ + log q, and the largest error of E[f]."""
    count, size = len(pi), len(w)
    value, first, second = np.zeros(count), np.zeros((count, 2)), np.zeros((count, 3))
    a, b, c, level = np.empty(count), np.empty(count), np.empty(count), np.empty(count)
    for k in range(count):
        a[k], b[k], c[k] = L[k, 0, 0], L[k, 1, 0], L[k, 1, 1]
        level[k] = math.log(pi[k] * a[k] * c[k] / (2 * math.pi))
    f, total, x, y, worst = np.empty(size), np.empty(size), np.empty(size), np.empty(size), 0.0
    for k in range(count):
        for n in range(size):
            y[n] = m[k, 1] + z[n, 1] / c[k]
            x[n] = m[k, 0] + (z[n, 0] - b[k] * z[n, 1] / c[k]) / a[k]
            f[n] = -1e300
            total[n] = 0.0
        for j in range(count):
            for n in range(size):
                u, v = x[n] - m[j, 0], y[n] - m[j, 1]
                s, t = a[j] * u + b[j] * v, c[j] * v
                f[n] = max(f[n], level[j] - (s * s + t * t) / 2)
        for j in range(count):
            for n in range(size):
                u, v = x[n] - m[j, 0], y[n] - m[j, 1]
                s, t = a[j] * u + b[j] * v, c[j] * v
                total[n] += exp(level[j] - (s * s + t * t) / 2 - f[n])
        mean, rough = 0.0, 0.0
        for n in range(size):
            f[n] += log(total[n]) + abs(x[n]) + abs(y[n])
            mean += w[n] * f[n]
            rough += coarse[n] * f[n]
        g0, g1, h0, h1, h2 = 0.0, 0.0, 0.0, 0.0, 0.0
        for n in range(size):
            held, p, q = w[n] * (f[n] - mean), z[n, 0], z[n, 1]
            g0 += held * p
            g1 += held * q
            h0 += held * p * p
            h1 += held * p * q
            h2 += held * q * q
        value[k], first[k, 0], first[k, 1] = mean, g0, g1
        second[k, 0], second[k, 1], second[k, 2] = h0, h1, h2
        worst = max(worst, abs(mean - rough))
    return value, first, second, worst


@njit(**FAST)  # type: ignore[untyped-decorator]
def _moved(
    m: Array, S: Array, L: Array, pi: Array, value: Array, first: Array, second: Array, rho: float
) -> tuple[Array, Array, Array]:
    """The step in block coordinates: G = L E[∂_z² f] Lᵀ, S⁺ = S + ρG + ½ρ²GS⁻¹G."""
    new_m, new_S, w = np.empty_like(m), np.empty_like(S), np.empty_like(pi)
    least = value.min()
    for k in range(len(pi)):
        H = np.array([[second[k, 0], second[k, 1]], [second[k, 1], second[k, 2]]])
        new_S[k] = S[k] + L[k] @ (rho * H + rho * rho / 2 * (H @ H)) @ L[k].T
        det = S[k, 0, 0] * S[k, 1, 1] - S[k, 0, 1] ** 2
        g = L[k] @ first[k]
        new_m[k, 0] = m[k, 0] - rho * (S[k, 1, 1] * g[0] - S[k, 0, 1] * g[1]) / det
        new_m[k, 1] = m[k, 1] - rho * (S[k, 0, 0] * g[1] - S[k, 0, 1] * g[0]) / det
        w[k] = pi[k] * math.exp(-rho * (value[k] - least))
    return new_m, new_S, w / w.sum()


def main() -> None:
    """One row."""
    d = derive("mixture:gaussian-full", ["retraction"])
    loss = target("abs(theta1) + abs(theta2)", read_family("gaussian-full"), {})
    candidate: Any = candidate_of(d, loss, 0)
    candidate.most = LEVEL  # as many nodes in every step
    candidate.level = dict.fromkeys(range(K), LEVEL + 1)
    run, rng = Run(d, candidate), np.random.default_rng(0)
    m = 2 * rng.standard_normal((K, 2))
    root = rng.standard_normal((K, 2, 2)) / 4
    S = np.eye(2) + root @ root.swapaxes(1, 2)
    state = {"m": m, "S": S, "pi": rng.dirichlet(np.full(K, 5.0))}
    rule = nodes(2, LEVEL)
    z = np.ascontiguousarray(rule.z.T)

    def ours() -> Any:
        candidate.level = dict.fromkeys(range(K), LEVEL + 1)
        return run.moves(state, candidate.expected(state)[1], RHO)

    def theirs() -> Any:
        L = np.linalg.cholesky(S)
        found = _integrals(m, L, state["pi"], z, rule.fine, rule.coarse)
        return _moved(m, S, L, state["pi"], *found[:3], RHO)

    for name, x in zip(("m", "S", "pi"), theirs(), strict=True):
        np.testing.assert_allclose(ours()[name], x, rtol=1e-9, atol=1e-11, err_msg=name)
    found = best({"ours": ours, "kernel": theirs}, 5, 1)
    times = {name: f"{1e3 * seconds:.1f} ms" for name, seconds in found.items()}
    print(f"K {K}, {len(z)} nodes a component: {times}")
    print(f"ours / kernel {found['ours'] / found['kernel']:.2f}")


if __name__ == "__main__":
    main()
