"""Online Gauss–Newton on minibatches, diagonal: OGN counted per example, the prior kept apart.

    s ← (1 − ρ) s + ρ h
    m ← m − ρ (g + δ m) / (s + δ),  with the new s;  δ = λ/N, λ the precision of the prior

g is the mean over the M rows of a minibatch of gᵢ, h that of gᵢ², where gᵢ is the gradient at m
of one row's loss, without the regulariser.  The precision of the candidate is N (s + δ).

Source: Khan et al. (2018), Fast and Scalable Bayesian Deep Learning; Khan & Rue, The
Bayesian Learning Rule.
"""

from __future__ import annotations

import numpy as np


def step(
    m: np.ndarray,
    s: np.ndarray,
    g: np.ndarray,
    h: np.ndarray,
    rho: float,
    delta: float,
    N: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (m, s); g and h are means over a minibatch's rows of gᵢ and gᵢ²."""
    s_next = (1 - rho) * s + rho * h
    m_next = m - rho * (g + delta * m) / (s_next + delta)
    return m_next, s_next
