"""Natural-gradient descent in mean and variance, q = N(m, v), elementwise.

    m ← m − ρ v g
    v ← v − ρ 2v² (h/2 − 1/(2v))

g = E_q[ℓ′] and h = E_q[ℓ″], so that ∂_m (E_q[ℓ] − 𝓗) = g and ∂_v (E_q[ℓ] − 𝓗) =
h/2 − 1/(2v); the Fisher matrix is diag(1/v, 1/(2v²)).  Both lines use the old v.

Source: Amari (1998), Natural Gradient Works Efficiently in Learning; Khan & Rue, The
Bayesian Learning Rule.
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    v: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    rho: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, v); g and h estimate E_q[ℓ′] and E_q[ℓ″]."""
    m_next = m - rho * v * g
    v_next = v - rho * 2 * v**2 * (h / 2 - 1 / (2 * v))
    return m_next, v_next
