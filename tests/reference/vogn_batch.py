"""Variational online Gauss–Newton on minibatches, diagonal: OGN at a draw from N(m, 1/(N (s + δ))).

    θ = m + ε/√(N (s + δ)),         ε ~ N(0, I);  δ = λ/N, λ the precision of the prior
    s ← (1 − ρ) s + ρ h
    m ← m − ρ (g + δ m) / (s + δ),  with the new s

g is the mean over the M rows of a minibatch of gᵢ, h that of gᵢ², where gᵢ is the gradient at θ
of one row's loss, without the regulariser.

Source: Khan et al. (2018), Fast and Scalable Bayesian Deep Learning, and its public code, where
g and h are N times these and s is N times this one.
"""

from __future__ import annotations

import numpy as np


def draw(m: np.ndarray, s: np.ndarray, eps: np.ndarray, delta: float, N: float) -> np.ndarray:
    """Return where g and h are evaluated; eps ~ N(0, I)."""
    theta: np.ndarray = m + eps / np.sqrt(N * (s + delta))
    return theta


def step(
    m: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    rho: float,
    delta: float,
    N: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, s); g and h are means over a minibatch's rows of gᵢ and gᵢ²."""
    s_next = (1 - rho) * s + rho * h
    m_next = m - rho * (g + delta * m) / (s_next + delta)
    return m_next, s_next
