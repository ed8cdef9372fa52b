"""Variational online Newton, diagonal covariance: q = N(m, diag(s)⁻¹), elementwise.

    s ← (1 − ρ) s + ρ E_q[diag ∇²ℓ]
    m ← m − ρ E_q[∇ℓ] / s,          with the new s

Source: Khan & Rue, The Bayesian Learning Rule; Khan et al. (2018).
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    rho: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, s); g and h estimate E_q[∇ℓ] and E_q[diag ∇²ℓ]."""
    s_next = (1 - rho) * s + rho * h
    m_next = m - rho * g / s_next
    return m_next, s_next
