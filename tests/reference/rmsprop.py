"""RMSprop: the step is divided by the root of a moving average of squared gradients.

    s ← (1 − β) s + β ĝ²
    m ← m − α ĝ / (√s + c),     with the new s; square root first, then c

Starts from s = 0.  Source: Tieleman & Hinton (2012); Khan & Rue, The Bayesian Learning
Rule.
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    alpha: float,
    beta: float,
    c: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, s); g is a minibatch estimate of ∇ℓ(m)."""
    s_next = (1 - beta) * s + beta * g**2
    m_next = m - alpha * g / (np.sqrt(s_next) + c)
    return m_next, s_next
