"""Gradient descent: m ← m − ρ g, with g = ∇ℓ(m).

Source: Khan & Rue, The Bayesian Learning Rule (JMLR 24, 2023), Table 1:
the candidate N(m, I) with the expectation taken at its mean.
"""

from __future__ import annotations

import numpy as np


def step(m: np.ndarray, g: np.ndarray, rho: float) -> np.ndarray:
    """Return the next m; g = ∇ℓ(m)."""
    return m - rho * g
