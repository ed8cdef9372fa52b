"""Mixture of Gaussians N(m_k, S_k⁻¹) with weights π_k: an ensemble of Newton methods.

    S_k ← S_k + ρ (∇²ℓ + ∇²log q)(m_k)
    m_k ← m_k − ρ S_k⁻¹ (∇ℓ + ∇log q)(m_k)          with the new S_k
    log(π_k/π_K) ← log(π_k/π_K) − ρ ((ℓ + log q)(m_k) − (ℓ + log q)(m_K))

log q and its derivatives by log-sum-exp over all components, from the old ones.  With the
retraction, in the block coordinates (m, S):

    S_k ← S_k + ρ G_k + ½ρ² G_k S_k⁻¹ G_k,  G_k = (∇²ℓ + ∇²log q)(m_k),  m_k with the old S_k.

Source: Khan & Rue, The Bayesian Learning Rule, section 3.2; Lin, Khan & Schmidt (2019), Fast and
Simple Natural-Gradient VI with Mixture of Exponential-Family Approximations; Lin, Schmidt &
Khan (2020), Handling the Positive-Definite Constraint in the Bayesian Learning Rule.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Numbers = np.ndarray
States = tuple[np.ndarray, np.ndarray, np.ndarray]


def log_q(theta: Numbers, m: Numbers, S: Numbers, pi: Numbers) -> tuple[float, Numbers, Numbers]:
    """log q, its gradient and its Hessian at θ."""
    logs, slopes = [], []
    for mean, precision, weight in zip(m, S, pi, strict=True):
        gap = theta - mean
        _, logdet = np.linalg.slogdet(precision)
        with np.errstate(divide="ignore"):
            log_weight = np.log(weight)
        logs.append(log_weight + (logdet - gap.size * np.log(2 * np.pi)) / 2
                    - gap @ precision @ gap / 2)  # fmt: skip
        slopes.append(-precision @ gap)
    highest = max(logs)
    value = highest + np.log(sum(np.exp(x - highest) for x in logs))
    r = [np.exp(x - value) for x in logs]
    gradient = sum(w * x for w, x in zip(r, slopes, strict=True))
    hessian = sum(
        w * (np.outer(x - gradient, x - gradient) - precision)
        for w, x, precision in zip(r, slopes, S, strict=True)
    )
    return float(value), np.asarray(gradient), np.asarray(hessian)


def component_delta(
    m: Numbers, S: Numbers, g: Numbers, H: Numbers, g_q: Numbers, H_q: Numbers, rho: float
) -> tuple[Numbers, Numbers]:
    """Return the next m, S of one component; g_q and H_q are of log q."""
    S_next = S + rho * (H + H_q)
    return m - rho * np.linalg.solve(S_next, g + g_q), S_next


def component_delta_retraction(
    m: Numbers, S: Numbers, g: Numbers, H: Numbers, g_q: Numbers, H_q: Numbers, rho: float
) -> tuple[Numbers, Numbers]:
    """Return the next m, S of one component; g_q and H_q are of log q."""
    G = H + H_q
    S_next = S + rho * G + rho**2 / 2 * G @ np.linalg.solve(S, G)
    return m - rho * np.linalg.solve(S, g + g_q), S_next


def delta(
    m: Numbers, S: Numbers, pi: Numbers, g: Numbers, H: Numbers, loss: Numbers | None, rho: float
) -> States:
    """Return the next m, S, pi; without a loss the weights stay."""
    return _all(component_delta, m, S, pi, g, H, loss, rho)


def delta_retraction(
    m: Numbers, S: Numbers, pi: Numbers, g: Numbers, H: Numbers, loss: Numbers | None, rho: float
) -> States:
    """Return the next m, S, pi; without a loss the weights stay."""
    return _all(component_delta_retraction, m, S, pi, g, H, loss, rho)


def _all(
    component: Callable[..., tuple[Numbers, Numbers]],
    m: Numbers, S: Numbers, pi: Numbers, g: Numbers, H: Numbers, loss: Numbers | None, rho: float,
) -> States:  # fmt: skip
    """Every component from the old ones."""
    there = [log_q(x, m, S, pi) for x in m]
    moved = [
        component(*own, c[1], c[2], rho) for *own, c in zip(m, S, g, H, there, strict=True)
    ]  # fmt: skip
    m_next, S_next = (np.array([x[i] for x in moved]) for i in (0, 1))
    return m_next, S_next, weights(pi, loss, [x[0] for x in there], rho)


def weights(pi: Numbers, loss: Numbers | None, values: list[float], rho: float) -> Numbers:
    """Return the next weights by their log ratios to the last one; as they are without a loss."""
    if loss is None:
        return pi
    with np.errstate(divide="ignore"):
        ratios = np.log(pi / pi[-1])
    f = np.asarray(loss) + np.array(values)
    ratios = ratios - rho * (f - f[-1])
    odds = np.exp(ratios - ratios.max())
    return np.asarray(odds / odds.sum())
