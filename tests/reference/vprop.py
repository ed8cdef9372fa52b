"""Vprop: RMSprop at a sample of the posterior N(m, 1/(N (s + δ))), δ = λ/N.

    θ = m + ε/√(N (s + δ)),         ε ~ N(0, I)
    s ← (1 − β) s + β g²
    m ← m − α (g + δ m) / (√s + δ), with the new s

g is the gradient at θ of the mean loss without the regulariser, which enters as δ m.
N is used only where θ is drawn.  No momentum and no bias correction.

Source: Khan et al. (2018), Fast and Scalable Bayesian Deep Learning, and its public code.
"""

from __future__ import annotations

import numpy as np


def draw(m: np.ndarray, s: np.ndarray, eps: np.ndarray, delta: float, N: float) -> np.ndarray:
    """Return where g is evaluated; eps ~ N(0, I)."""
    return m + eps / np.sqrt(N * (s + delta))


def step(
    m: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    alpha: float,
    beta: float,
    delta: float,
    N: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, s); g is the mean loss's gradient at draw(...)."""
    s_next = (1 - beta) * s + beta * g**2
    m_next = m - alpha * (g + delta * m) / (np.sqrt(s_next) + delta)
    return m_next, s_next
