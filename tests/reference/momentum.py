"""Heavy-ball momentum, with the velocity kept as a state.

    u ← γ u + ĝ
    m ← m − ρ u

It is Polyak's two-step form m⁺ = m − ρ ĝ + γ (m − m₋) under the map u = −(m − m₋)/ρ:
m − ρ (γ u + ĝ) = m − ρ ĝ + γ (m − m₋).  Starts from u = 0, which is m₋ = m.

Source: Polyak (1964); Khan & Rue, The Bayesian Learning Rule, natural momentum with
the candidate N(m, I).
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    u: np.ndarray,
    g: np.ndarray,
    rho: float,
    gamma: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, u); g is a minibatch estimate of ∇ℓ(m)."""
    u_next = gamma * u + g
    m_next = m - rho * u_next
    return m_next, u_next
