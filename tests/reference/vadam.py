"""Vadam: Adam at a sample of the posterior N(m, 1/(N (s + δ))), δ = λ/N.

    θ = m + ε/√(N (s + δ)),         ε ~ N(0, I)
    u ← β₁ u + (1 − β₁) (g + δ m)
    s ← β₂ s + (1 − β₂) g²
    m ← m − α (u/(1 − β₁ᵗ)) / (√(s/(1 − β₂ᵗ)) + δ)

g is the gradient at θ of the mean loss without the regulariser, which enters u as δ m but
not s.  N is used only where θ is drawn.  t counts steps from 1; u = 0 at the start.

Source: Khan et al. (2018), Fast and Scalable Bayesian Deep Learning, and its public code.
"""

from __future__ import annotations

import numpy as np


def draw(m: np.ndarray, s: np.ndarray, eps: np.ndarray, delta: float, N: float) -> np.ndarray:
    """Return where g is evaluated; eps ~ N(0, I)."""
    return m + eps / np.sqrt(N * (s + delta))


def step(
    m: np.ndarray,
    u: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    t: int,
    alpha: float,
    beta1: float,
    beta2: float,
    delta: float,
    N: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the next (m, u, s); g is the mean loss's gradient at draw(...)."""
    u_next = beta1 * u + (1 - beta1) * (g + delta * m)
    s_next = beta2 * s + (1 - beta2) * g**2
    u_hat = u_next / (1 - beta1**t)
    s_hat = s_next / (1 - beta2**t)
    m_next = m - alpha * u_hat / (np.sqrt(s_hat) + delta)
    return m_next, u_next, s_next
