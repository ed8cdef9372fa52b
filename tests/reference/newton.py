"""Newton's method: m ← m − H⁻¹ g, with g = ∇ℓ(m) and H = ∇²ℓ(m).

Source: Khan & Rue, The Bayesian Learning Rule, Table 1: the candidate
N(m, S⁻¹), expectations taken at its mean, learning rate one, so that S⁺ = H.
"""

from __future__ import annotations

import numpy as np


def step(m: np.ndarray, g: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Return the next m; g = ∇ℓ(m) and H = ∇²ℓ(m)."""
    return m - np.linalg.solve(H, g)
