"""Laplace's approximation: one Newton step, iterated to its fixed point.

    S ← H,           H = ∇²ℓ(m)
    m ← m − S⁻¹ g,   g = ∇ℓ(m), with the new S

(m, S) is a fixed point exactly when ∇ℓ(m) = 0 and S = ∇²ℓ(m); with S positive definite
that is the posterior N(m, S⁻¹) of Laplace's approximation at a minimum of ℓ.

Source: Khan & Rue, The Bayesian Learning Rule, Table 1.
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    S: np.ndarray,
    g: np.ndarray,
    H: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, S); g = ∇ℓ(m) and H = ∇²ℓ(m).  S itself is replaced."""
    S_next = H
    m_next = m - np.linalg.solve(S_next, g)
    return m_next, S_next
