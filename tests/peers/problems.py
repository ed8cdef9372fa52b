"""The losses both sides are run on: non-quadratic, deterministic, gradients coded by hand.

    ℓᵢ(θ) = softplus(−yᵢ aᵢ·θ) + ½ log cosh(bᵢ·θ − cᵢ) + ½ κ ‖θ‖²

The data are dyadic fractions from an integer recurrence, so that no library's random
numbers are involved.  Every public package receives the same NumPy float64 gradient as the
class it is compared with.
"""

from __future__ import annotations

import numpy as np

EXAMPLES = 48
PARAMETERS = 20
BATCHES = 4
STEPS = 50
KAPPA = 0.05


def fractions(count: int, seed: int) -> np.ndarray:
    """Numbers in [−1, 1), multiples of 2⁻¹⁵, from x ← (69069 x + 1) mod 2³²."""
    out = np.empty(count)
    x = seed
    for i in range(count):
        x = (69069 * x + 1) % 2**32
        out[i] = (x >> 16) / 2**15 - 1
    return out


A = fractions(EXAMPLES * PARAMETERS, 11).reshape(EXAMPLES, PARAMETERS)
B = fractions(EXAMPLES * PARAMETERS, 12).reshape(EXAMPLES, PARAMETERS)
C = 2 * fractions(EXAMPLES, 13)
Y = np.sign(fractions(EXAMPLES, 14) + 2.0**-17)
START = fractions(PARAMETERS, 15)
NEAR = START / 4  # where undamped Newton steps go down


def logistic(x: np.ndarray) -> np.ndarray:
    """1/(1 + e⁻ˣ), without overflow."""
    out: np.ndarray = 0.5 * (1 + np.tanh(x / 2))
    return out


def rows(t: int | None) -> slice:
    """Which examples step t sees: every BATCHES-th, or all of them when t is None."""
    return slice(None) if t is None else slice(t % BATCHES, None, BATCHES)


def loss(theta: np.ndarray, t: int | None = None) -> float:
    """The mean loss over the examples of step t."""
    i = rows(t)
    z, r = -Y[i] * (A[i] @ theta), np.abs(B[i] @ theta - C[i])
    log_cosh = r + np.log1p(np.exp(-2 * r)) - np.log(2)
    return float(np.mean(np.logaddexp(0, z) + log_cosh / 2) + KAPPA / 2 * (theta @ theta))


def gradient(theta: np.ndarray, t: int | None = None) -> np.ndarray:
    """∇ of `loss`."""
    i = rows(t)
    z, r = -Y[i] * (A[i] @ theta), B[i] @ theta - C[i]
    total = A[i].T @ (-Y[i] * logistic(z)) + B[i].T @ np.tanh(r) / 2
    out: np.ndarray = total / len(r) + KAPPA * theta
    return out


def hessian(theta: np.ndarray) -> np.ndarray:
    """∇² of `loss` over all examples."""
    p, r = logistic(A @ theta), np.tanh(B @ theta - C)
    total = (A.T * (p * (1 - p))) @ A + (B.T * ((1 - r**2) / 2)) @ B
    out: np.ndarray = total / EXAMPLES + KAPPA * np.eye(PARAMETERS)
    return out


# One problem a coordinate, for methods in one dimension: ℓ(θ) = log cosh(θ − c) + ¼ θ² + eᶿ/8.
CENTRES = 2 * fractions(PARAMETERS, 16)


def separate_gradient(theta: np.ndarray) -> np.ndarray:
    """dℓ/dθ of each coordinate's own problem."""
    out: np.ndarray = np.tanh(theta - CENTRES) + theta / 2 + np.exp(theta) / 8
    return out


def separate_curvature(theta: np.ndarray) -> np.ndarray:
    """d²ℓ/dθ² of each coordinate's own problem."""
    out: np.ndarray = 1 - np.tanh(theta - CENTRES) ** 2 + 0.5 + np.exp(theta) / 8
    return out


# Ridge regression: y = X w + something not linear in X.
RIDGE_X = A + B / 4
RIDGE_Y = RIDGE_X @ fractions(PARAMETERS, 17) + C / 8
