"""Online (damped) Newton: the precision is a moving average of Hessians at the mean.

    S ← (1 − ρ) S + ρ H,    H = ∇²ℓ(m)
    m ← m − ρ S⁻¹ g,        g = ∇ℓ(m), with the new S

Source: Khan & Rue, The Bayesian Learning Rule: Newton's method with ρ < 1.
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
    """Return the next (m, S); g = ∇ℓ(m) and H = ∇²ℓ(m)."""
    S_next = (1 - rho) * S + rho * H
    m_next = m - rho * np.linalg.solve(S_next, g)
    return m_next, S_next
