"""Variational online Gauss–Newton, diagonal: OGN at a sample of the posterior N(m, 1/s).

    θ = m + ε/√s,                   ε ~ N(0, I)
    s ← (1 − ρ) s + ρ (h + δ),      h = Σᵢ gᵢ² over examples
    m ← m − ρ g / s,                with the new s

g is the gradient at θ of the total loss, the regulariser ½δ‖θ‖² included; gᵢ is the
gradient at θ of one example's loss, without it.

Source: Khan et al. (2018), Fast and Scalable Bayesian Deep Learning; Khan & Rue, The
Bayesian Learning Rule.
"""

from __future__ import annotations

import numpy as np


def draw(m: np.ndarray, s: np.ndarray, eps: np.ndarray) -> np.ndarray:
    """Return where g and h are evaluated; eps ~ N(0, I)."""
    theta: np.ndarray = m + eps / np.sqrt(s)
    return theta


def step(
    m: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    rho: float,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, s); g = ∇ℓ(θ) and h = Σᵢ gᵢ² at θ = draw(...)."""
    s_next = (1 - rho) * s + rho * (h + delta)
    m_next = m - rho * g / s_next
    return m_next, s_next
