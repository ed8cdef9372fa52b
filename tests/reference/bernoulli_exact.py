"""The rule for one sign θ ∈ {−1, +1} with both conditional expectations at hand.

    λ ← (1 − ρ) λ − ½ ρ (ℓ₊ − ℓ₋),      ℓ± = E[ℓ | θ = ±1], the other signs averaged out

∇_μ E_q[ℓ] = ½ (ℓ₊ − ℓ₋) is exact: E_q[ℓ] is linear in each μ.  Fixed point
λ = −½ (ℓ₊ − ℓ₋), which in one dimension is the exact posterior.

Source: Khan & Rue, The Bayesian Learning Rule.
"""

from __future__ import annotations

import numpy as np


def step(lam: np.ndarray, lplus: np.ndarray, lminus: np.ndarray, rho: float) -> np.ndarray:
    """Return the next lam; lplus and lminus are E[ℓ | θ = ±1]."""
    lam_next: np.ndarray = (1 - rho) * lam - rho * (lplus - lminus) / 2
    return lam_next
