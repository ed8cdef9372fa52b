"""Adam: RMSprop with an averaged gradient and corrections for starting from zero.

    u ← β₁ u + (1 − β₁) ĝ
    s ← β₂ s + (1 − β₂) ĝ²
    m ← m − α (u/(1 − β₁ᵗ)) / (√(s/(1 − β₂ᵗ)) + c)

t counts steps from 1; u = s = 0 at the start.  The constant c stands outside the root,
beside the corrected scale.

Source: Kingma & Ba (2015), Algorithm 1; Khan & Rue, The Bayesian Learning Rule.
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    u: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    t: int,
    alpha: float,
    beta1: float,
    beta2: float,
    c: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the next (m, u, s); g is a minibatch estimate of ∇ℓ(m)."""
    u_next = beta1 * u + (1 - beta1) * g
    s_next = beta2 * s + (1 - beta2) * g**2
    u_hat = u_next / (1 - beta1**t)
    s_hat = s_next / (1 - beta2**t)
    m_next = m - alpha * u_hat / (np.sqrt(s_hat) + c)
    return m_next, u_next, s_next
