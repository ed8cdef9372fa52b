"""Dropout: of the weights m a mask z keeps each with probability π, and the kept ones learn.

    θ = z ∘ m,                      z ~ Bernoulli(π)
    m ← m − α (z/π) ∘ g

g is a minibatch estimate of ∇ℓ(θ).

Source: Srivastava et al. (2014); Khan & Rue, The Bayesian Learning Rule, section 4.2.
"""

from __future__ import annotations

import numpy as np


def draw(m: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return where g is evaluated; z is 1 with probability π, else 0."""
    return z * m


def step(m: np.ndarray, g: np.ndarray, z: np.ndarray, alpha: float, pi: float) -> np.ndarray:
    """Return the next m; g = ∇ℓ at draw(m, z)."""
    return m - alpha * (z / pi) * g
