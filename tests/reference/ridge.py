"""Ridge regression, exactly, in one step with learning rate one.

    S = Xᵀ X + δ I
    m = S⁻¹ Xᵀ y

The posterior N(m, S⁻¹) of ℓ = ½‖y − X θ‖² + ½ δ ‖θ‖²; the states m, S it starts from do
not matter.

Source: Khan & Rue, The Bayesian Learning Rule, Table 1.
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    S: np.ndarray,
    X: np.ndarray,
    y: np.ndarray,
    delta: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, S), whatever the present ones."""
    S_next = X.T @ X + delta * np.eye(len(m))
    m_next = np.linalg.solve(S_next, X.T @ y)
    return m_next, S_next
