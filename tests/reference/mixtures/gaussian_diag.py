"""Mixture of Gaussians with diagonal covariances, N(m_k, diag(s_k)⁻¹), elementwise.

    s_k ← s_k + ρ (∇²ℓ + ∇²log q)(m_k)
    m_k ← m_k − ρ (∇ℓ + ∇log q)(m_k)/s_k             with the new s_k

∇² is the diagonal of the Hessian.  With the retraction s_k ← s_k + ρ G_k + ½ρ² G_k²/s_k, and
m_k with the old s_k.  Sources as in `gaussian_full`.
"""

from __future__ import annotations

import numpy as np

Numbers = np.ndarray
States = tuple[np.ndarray, np.ndarray, np.ndarray]


def log_q(theta: Numbers, m: Numbers, s: Numbers, pi: Numbers) -> tuple[float, Numbers, Numbers]:
    """log q, its gradient and the diagonal of its Hessian at θ."""
    gaps = theta - m
    with np.errstate(divide="ignore"):
        logs = np.log(pi) + (np.log(s / (2 * np.pi)) - s * gaps**2).sum(1) / 2
    value = logs.max() + np.log(np.exp(logs - logs.max()).sum())
    r = np.exp(logs - value)[:, None]
    gradient = -(r * s * gaps).sum(0)
    curvature = (r * ((s * gaps + gradient) ** 2 - s)).sum(0)
    return float(value), gradient, curvature


def component_delta(
    m: Numbers, s: Numbers, g: Numbers, h: Numbers, g_q: Numbers, h_q: Numbers, rho: float
) -> tuple[Numbers, Numbers]:
    """Return the next m, s of one component; g_q and h_q are of log q."""
    s_next = s + rho * (h + h_q)
    return m - rho * (g + g_q) / s_next, s_next


def component_delta_retraction(
    m: Numbers, s: Numbers, g: Numbers, h: Numbers, g_q: Numbers, h_q: Numbers, rho: float
) -> tuple[Numbers, Numbers]:
    """Return the next m, s of one component; g_q and h_q are of log q."""
    G = h + h_q
    return m - rho * (g + g_q) / s, s + rho * G + rho**2 * G**2 / (2 * s)


def delta(
    m: Numbers, s: Numbers, pi: Numbers, g: Numbers, h: Numbers, loss: Numbers | None, rho: float
) -> States:
    """Return the next m, s, pi; without a loss the weights stay."""
    values, g_q, h_q = (np.array(x) for x in zip(*(log_q(x, m, s, pi) for x in m), strict=True))
    return *component_delta(m, s, g, h, g_q, h_q, rho), weights(pi, loss, list(values), rho)


def delta_retraction(
    m: Numbers, s: Numbers, pi: Numbers, g: Numbers, h: Numbers, loss: Numbers | None, rho: float
) -> States:
    """Return the next m, s, pi; without a loss the weights stay."""
    values, g_q, h_q = (np.array(x) for x in zip(*(log_q(x, m, s, pi) for x in m), strict=True))
    moved = component_delta_retraction(m, s, g, h, g_q, h_q, rho)
    return *moved, weights(pi, loss, list(values), rho)


def weights(pi: Numbers, loss: Numbers | None, values: list[float], rho: float) -> Numbers:
    """Return the next weights by their log ratios to the last one; as they are without a loss."""
    if loss is None:
        return pi
    f = np.asarray(loss) + np.array(values)
    with np.errstate(divide="ignore"):
        ratios = np.log(pi / pi[-1]) - rho * (f - f[-1])
    odds = np.exp(ratios - ratios.max())
    return np.asarray(odds / odds.sum())
