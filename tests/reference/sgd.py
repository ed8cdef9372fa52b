"""Stochastic gradient descent: m ← m − ρ ĝ.

ĝ is a minibatch estimate of ∇ℓ(m), scaled to the full loss.
Source: Robbins & Monro (1951); Khan & Rue, The Bayesian Learning Rule, Table 1.
"""

from __future__ import annotations

import numpy as np


def step(m: np.ndarray, g: np.ndarray, rho: float) -> np.ndarray:
    """Return the next m; g is a minibatch estimate of ∇ℓ(m)."""
    return m - rho * g
