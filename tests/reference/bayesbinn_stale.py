"""BayesBiNN as the public code runs it: the scale uses the mean parameter of the step before.

    θ = tanh((λ + ε)/τ),            ε = ½ log(u/(1 − u)), u ~ Uniform(0, 1)
    s = (1 − θ²)/(τ (1 − μ²)),      μ = tanh λ₋, λ₋ the λ of the step before
    λ ← (1 − ρ) λ − ρ (s ∘ g − λ₀)

A deviation from the rule, which has μ = tanh λ.  Not included: the code's 1e-10 guards in
s, its momentum and its scaling by N.

Source: the public implementation of Meng, Bachmann & Khan (2020).
"""

from __future__ import annotations

import numpy as np


def draw(lam: np.ndarray, eps: np.ndarray, tau: float) -> np.ndarray:
    """Return where g is evaluated; eps = ½ log(u/(1 − u)), u uniform."""
    theta: np.ndarray = np.tanh((lam + eps) / tau)
    return theta


def step(
    lam: np.ndarray,
    lam_prev: np.ndarray,
    g: np.ndarray,
    eps: np.ndarray,
    rho: float,
    tau: float,
    lam0: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the next (lam, lam_prev); g = ∇ℓ at draw(lam, eps, tau)."""
    theta = np.tanh((lam + eps) / tau)
    mu = np.tanh(lam_prev)
    s = (1 - theta**2) / (tau * (1 - mu**2))
    lam_next = (1 - rho) * lam - rho * (s * g - lam0)
    return lam_next, lam
