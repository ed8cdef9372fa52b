"""Inverted dropout with SGD: what is kept of the weights w is divided by π.

    θ = z ∘ w / π,                  z ~ Bernoulli(π)
    w ← w − α ∂ℓ(θ)/∂w = w − α (z/π) ∘ g

g is a minibatch estimate of ∇ℓ(θ); ∂θ/∂w = z/π is the chain rule.

Source: Srivastava et al. (2014), section 10, as deep-learning libraries have it.
"""

from __future__ import annotations

import numpy as np


def draw(w: np.ndarray, z: np.ndarray, pi: float) -> np.ndarray:
    """Return where g is evaluated; z is 1 with probability π, else 0."""
    theta: np.ndarray = z * w / pi
    return theta


def step(w: np.ndarray, g: np.ndarray, z: np.ndarray, alpha: float, pi: float) -> np.ndarray:
    """Return the next w; g = ∇ℓ at draw(w, z, pi)."""
    slope = z / pi
    return w - alpha * slope * g
