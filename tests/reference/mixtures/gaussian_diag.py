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


def delta(
    m: Numbers, s: Numbers, pi: Numbers, g: Numbers, h: Numbers, loss: Numbers | None, rho: float
) -> States:
    """Return the next m, s, pi; without a loss the weights stay."""
    there = [log_q(x, m, s, pi) for x in m]
    s_next = s + rho * (h + np.array([x[2] for x in there]))
    m_next = m - rho * (g + np.array([x[1] for x in there])) / s_next
    return m_next, s_next, weights(pi, loss, [x[0] for x in there], rho)


def delta_retraction(
    m: Numbers, s: Numbers, pi: Numbers, g: Numbers, h: Numbers, loss: Numbers | None, rho: float
) -> States:
    """Return the next m, s, pi; without a loss the weights stay."""
    there = [log_q(x, m, s, pi) for x in m]
    G = h + np.array([x[2] for x in there])
    m_next = m - rho * (g + np.array([x[1] for x in there])) / s
    return m_next, s + rho * G + rho**2 / 2 * G**2 / s, weights(
        pi, loss, [x[0] for x in there], rho
    )  # fmt: skip


def weights(pi: Numbers, loss: Numbers | None, values: list[float], rho: float) -> Numbers:
    """Return the next weights by their log ratios to the last one; as they are without a loss."""
    if loss is None:
        return pi
    f = np.asarray(loss) + np.array(values)
    with np.errstate(divide="ignore"):
        ratios = np.log(pi / pi[-1]) - rho * (f - f[-1])
    odds = np.exp(ratios - ratios.max())
    return np.asarray(odds / odds.sum())
