"""Variational online Newton, full covariance: q = N(m, S⁻¹).

    S ← (1 − ρ) S + ρ E_q[∇²ℓ]
    m ← m − ρ S⁻¹ E_q[∇ℓ],      with the new S

Source: Khan & Rue, The Bayesian Learning Rule.  That the new precision divides
the step follows from a step in natural coordinates (S m, −S/2).
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    S: np.ndarray,
    g: np.ndarray,
    H: np.ndarray,
    rho: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, S); g and H estimate E_q[∇ℓ] and E_q[∇²ℓ]."""
    S_next = (1 - rho) * S + rho * H
    m_next = m - rho * np.linalg.solve(S_next, g)
    return m_next, S_next
