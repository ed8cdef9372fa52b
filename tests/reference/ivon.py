"""IVON with the reparameterised curvature estimate ('price').

    n = ε/√(N (h + δ)),             ε ~ N(0, I);  g at m + n
    ĥ = N (h + δ) n ∘ g = √(N (h + δ)) ε ∘ g
    u ← β₁ u + (1 − β₁) g
    h ← β₂ h + (1 − β₂) ĥ + ½ (1 − β₂)² (h − ĥ)²/(h + δ)
    m ← m − α (h₀ + δ) clip((u/(1 − β₁ᵗ) + δ m)/(h + δ), ±c),   with the new h

One Monte-Carlo draw.  The posterior precision is s = N (h + δ), δ = λ/N.  g is the
gradient at m + n of the mean loss, without the regulariser.  t counts steps from 1;
u = 0 and h = h₀ at the start.  The third term of h is the second-order one that keeps
h + δ ≥ ½ (h_old + δ); h alone may be negative.

Source: Shen et al. (2024), Variational Learning is Effective for Large Deep Networks,
and its public implementation's defaults (bias correction and rescaled learning rate on).
"""

from __future__ import annotations

import numpy as np


def draw(m: np.ndarray, h: np.ndarray, eps: np.ndarray, delta: float, N: float) -> np.ndarray:
    """Return where g is evaluated; eps ~ N(0, I)."""
    return m + eps / np.sqrt(N * (h + delta))


def step(
    m: np.ndarray,
    u: np.ndarray,
    h: np.ndarray,
    g: np.ndarray,
    eps: np.ndarray,
    t: int,
    alpha: float,
    beta1: float,
    beta2: float,
    delta: float,
    N: float,
    h0: float,
    c: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the next (m, u, h); g is the mean loss's gradient at draw(...)."""
    h_hat = np.sqrt(N * (h + delta)) * eps * g
    u_next = beta1 * u + (1 - beta1) * g
    correction = (1 - beta2) ** 2 * (h - h_hat) ** 2 / (2 * (h + delta))
    h_next = beta2 * h + (1 - beta2) * h_hat + correction
    direction = (u_next / (1 - beta1**t) + delta * m) / (h_next + delta)
    m_next = m - alpha * (h0 + delta) * np.clip(direction, -c, c)
    return m_next, u_next, h_next
