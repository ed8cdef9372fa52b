"""The straight-through estimator for binary weights: λ ← λ − α ĝ, with ĝ = ∇ℓ(sign λ).

Real-valued λ are moved by the gradient taken at their signs.

Source: Hinton's lectures (2012), Bengio et al. (2013); Khan & Rue, The Bayesian Learning
Rule: the Bernoulli candidate, relaxed, temperature to zero.
"""

from __future__ import annotations

import numpy as np


def step(lam: np.ndarray, g: np.ndarray, alpha: float) -> np.ndarray:
    """Return the next lam; g = ∇ℓ at sign(lam)."""
    return lam - alpha * g
