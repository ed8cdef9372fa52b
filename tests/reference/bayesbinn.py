"""BayesBiNN, with the mean parameter of the present λ: binary weights, q(θ = 1) = p.

    θ = tanh((λ + ε)/τ),            ε = ½ log(u/(1 − u)), u ~ Uniform(0, 1)
    s = (1 − θ²)/(τ (1 − μ²)),      μ = tanh λ
    λ ← (1 − ρ) λ − ρ (s ∘ g − λ₀)

ε is half a standard logistic variable.  g is the gradient of the loss at the relaxed θ;
λ₀ is the prior's natural parameter.

Source: Meng, Bachmann & Khan (2020), Training Binary Neural Networks using the Bayesian
Learning Rule; Khan & Rue, The Bayesian Learning Rule.
"""

from __future__ import annotations

import numpy as np


def draw(lam: np.ndarray, eps: np.ndarray, tau: float) -> np.ndarray:
    """Return where g is evaluated; eps = ½ log(u/(1 − u)), u uniform."""
    theta: np.ndarray = np.tanh((lam + eps) / tau)
    return theta


def step(
    lam: np.ndarray,
    g: np.ndarray,
    eps: np.ndarray,
    rho: float,
    tau: float,
    lam0: float,
) -> np.ndarray:
    """Return the next lam; g = ∇ℓ at draw(lam, eps, tau)."""
    theta = np.tanh((lam + eps) / tau)
    mu = np.tanh(lam)
    s = (1 - theta**2) / (tau * (1 - mu**2))
    lam_next: np.ndarray = (1 - rho) * lam - rho * (s * g - lam0)
    return lam_next
