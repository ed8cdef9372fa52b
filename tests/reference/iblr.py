"""The improved Bayesian learning rule, full covariance: a step that keeps S positive definite.

    G = H − S
    S ← S + ρ G + ½ ρ² G S⁻¹ G = ½ (S + (S + ρ G) S⁻¹ (S + ρ G))
    m ← m − ρ S⁻¹ g,            with the old S

g and H estimate E_q[∇ℓ] and E_q[∇²ℓ] for q = N(m, S⁻¹), the regulariser included; H is
symmetric.  The step is taken in the block coordinates (m, S), whose metric for m is the
present S, so the old precision divides the mean step.

Source: Lin, Schmidt & Khan (2020), Handling the Positive-Definite Constraint in the
Bayesian Learning Rule.
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
    G = H - S
    S_next = S + rho * G + rho**2 / 2 * (G @ np.linalg.solve(S, G))
    m_next = m - rho * np.linalg.solve(S, g)
    return m_next, S_next
