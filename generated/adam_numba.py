"""Adam.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m,
diag(s)⁻¹).

Here m is mean; u is moving average of the gradient; s is precision; g is a minibatch
estimate of the gradient of the loss, at the mean m; t counts steps from 1; x⁺ is the next
value of x.

Update:

    u⁺ = β₁·u + (1 − β₁)·g
    s⁺ = β₂·s + (1 − β₂)·g²
    m⁺ = m − α·u⁺/((1 − β₁ᵗ)·(√s⁺/√(1 − β₂ᵗ) + c))

Approximations, in the order in which they were made:

    delta: 𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean
    stochastic: a minibatch stands for the data
    hessian=squared-gradient: the square of the minibatch gradient stands for the curvature
    square-root: s → √s where it divides the mean step, and a small c keeps the divisor from
        zero; s is an average and may start at 0
    separate-rates: once mean and scale have equations of their own, each gets a step size
        of its own
    slow-scale: from here on s₋ ≈ s where momentum compares two scales; nothing to rewrite
        yet
    momentum: the last step, λ − λ₋, is repeated in natural coordinates; with α → α(1−β₁)
        and γ → β₁, the rates of the equivalent proximal step
    momentum: an exact change of state, with D what divides the mean step
    bias-correction: u and s: after t steps an average that started at 0 has gathered the
        weight 1 − βᵗ

Hyperparameters:

    alpha  step size of the mean, in (0, ∞), 0.001 by default
    beta1  decay of the gradient average, in [0, 1), 0.9 by default
    beta2  decay of the curvature average, in [0, 1), 0.999 by default
    c      small constant that keeps the divisor from zero, in [0, ∞), 10⁻⁸ by default

See Kingma & Ba (2015).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

__all__ = ["Adam"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = ("alpha", "beta1", "beta2", "c")
KEPT = ("m", "u", "s")


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step(m: Array, u: Array, s: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    beta1, beta2, one_minus_beta1, one_minus_beta2, scaled_alpha = numbers[:5]
    (c_times_sqrt_beta2_correction,) = numbers[5:]
    for i in range(m.size):
        u_next = beta1 * u[i] + one_minus_beta1 * g[i]
        s_next = beta2 * s[i] + one_minus_beta2 * (g[i] * g[i])
        m[i] = m[i] - scaled_alpha * u_next / (np.sqrt(s_next) + c_times_sqrt_beta2_correction)
        u[i] = _flushed(u_next)
        s[i] = s_next


class Adam:
    """Adam.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = Adam(params)
        opt.step(g)
    """

    def __init__(
        self,
        params: Arrays,
        *,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        c: float = 1e-8,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha = alpha
        self.beta1 = beta1
        self.beta2 = beta2
        self.c = c
        self._check_hyperparameters()
        _views("params", params)
        self.params = params
        self.t = 0  # steps taken
        self.u = [_apart(m, 1) for m in self.m]
        self.s = [_apart(m, 2) for m in self.m]

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [array.reshape(-1) for array in _listed(self.params)]

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha!r} is outside (0, inf)")
        if not 0 <= self.beta1 < 1:
            raise ValueError(f"beta1 = {self.beta1!r} is outside [0, 1)")
        if not 0 <= self.beta2 < 1:
            raise ValueError(f"beta2 = {self.beta2!r} is outside [0, 1)")
        if not 0 <= self.c < math.inf:
            raise ValueError(f"c = {self.c!r} is outside [0, inf)")

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, at m."""
        self._check_hyperparameters()
        g = _views("g", g, self.params)
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        beta2_correction = _one_minus_power(self.beta2, t)
        beta1_correction = _one_minus_power(self.beta1, t)
        scaled_alpha = math.sqrt(beta2_correction) * self.alpha / beta1_correction
        c_times_sqrt_beta2_correction = self.c * math.sqrt(beta2_correction)
        numbers = (
            self.beta1, self.beta2, one_minus_beta1, one_minus_beta2, scaled_alpha,
            c_times_sqrt_beta2_correction,
        )  # fmt: skip
        _run(_step, _step_threads, (self.m, self.u, self.s, g), *numbers)
        self.t += 1

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        deviations = [_deviation(x) for x in self.s]
        means = [x.copy() for x in self.m]
        return _shaped(means, self.params), _shaped(deviations, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        means, deviations = self.posterior()
        pairs = zip(_listed(means), _listed(deviations), strict=True)
        draws = [x + s * rng.standard_normal(x.shape, x.dtype) for x, s in pairs]
        return _shaped(draws, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to resume exactly, as copies."""
        hyperparameters = {name: deepcopy(getattr(self, name)) for name in HYPERPARAMETERS}
        kept = {name: deepcopy(getattr(self, name)) for name in KEPT}
        return {"t": self.t, "hyperparameters": hyperparameters, **kept}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [x for x in ("t", "hyperparameters", *KEPT) if x not in saved]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        found = {x: deepcopy(saved["hyperparameters"][x]) for x in HYPERPARAMETERS}
        found |= {x: _restored(x, saved[x], getattr(self, x)) for x in KEPT}
        for array, value in zip(self.m, found.pop("m"), strict=True):
            array[:] = value
        vars(self).update(found, t=int(saved["t"]))


# --- The same rule in other passes over memory, and what is made for it alone


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(stretch: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step` on stretches of the arrays, with threads."""
    m, u, s, g = arrays
    for part in prange(-(-m.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(m[here], u[here], s[here], g[here], numbers)


# --- Support functions, the same in every file that uses them


def _listed(arrays: Any) -> list[Any]:
    """Return one array or several as a list."""
    return list(arrays) if isinstance(arrays, list | tuple) else [arrays]


def _views(name: str, arrays: Arrays, params: Arrays | None = None) -> list[Array]:
    """Return one array or several as flat views; refuse what cannot be used as it is."""
    found, like = _listed(arrays), _listed(arrays if params is None else params)
    if len(found) != len(like):
        raise ValueError(f"{name}: {len(found)} arrays for {len(like)} arrays of parameters")
    for index, (array, other) in enumerate(zip(found, like, strict=True)):
        where = f"{name}[{index}]" if isinstance(arrays, list | tuple) else name
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{where} is a {type(array).__name__}; pass a NumPy array")
        if params is None and array.dtype not in DTYPES:
            wanted = " or ".join(np.dtype(d).name for d in DTYPES)
            raise TypeError(f"{where} is {array.dtype}, not {wanted}; convert it with astype")
        if array.dtype != other.dtype:
            raise TypeError(f"{where} is {array.dtype}, but its parameters are {other.dtype}")
        if not array.flags.c_contiguous:
            raise ValueError(f"{where} is not contiguous; pass np.ascontiguousarray({where})")
        if params is None and not array.flags.writeable:
            raise ValueError(f"{where} is read-only and cannot be updated in place; pass a copy")
        if array.shape != other.shape:
            raise ValueError(
                f"{where} has shape {array.shape}, but its parameters have {other.shape}"
            )
    return [array.reshape(-1) for array in found]


def _apart(like: Array, place: int, value: float = 0.0) -> Array:
    """Return a new array as large as another, which begins elsewhere in its page of memory.

    Where two begin alike, a store to one holds up the loads of the other.
    """
    before = (1024 * place + 48) // like.itemsize
    return np.full(like.size + before, value, like.dtype)[before:]


def _typed(like: Array, *numbers: float) -> list[tuple[Any, ...]]:
    """Return numbers in the type of an array as the last argument of a kernel, if it has some."""
    return [tuple(map(like.dtype.type, numbers))] if numbers else []


def _shaped(flat: Sequence[Array], params: Arrays) -> Arrays:
    """Return flat arrays in the shape of the parameters, one array if they are one."""
    shaped = [x.reshape(a.shape) for x, a in zip(flat, _listed(params), strict=True)]
    return shaped if isinstance(params, list | tuple) else shaped[0]


def _restored(name: str, saved: Any, current: Any) -> Any:
    """Return a copy of what was saved; refuse arrays that do not fit those that are there."""
    if isinstance(current, dict):
        return {key: _restored(key, x, current.get(key)) for key, x in saved.items()}
    if isinstance(current, list):
        if len(saved) != len(current):
            raise ValueError(f"saved {name}: {len(saved)} arrays, but there are {len(current)}")
        pairs = enumerate(zip(saved, current, strict=True))
        return [_restored(f"{name}[{k}]", old, new) for k, (old, new) in pairs]
    if isinstance(current, np.ndarray):
        wanted, found = ((x.dtype, x.shape) for x in (current, saved))
        if wanted != found:
            raise ValueError(f"saved {name} is {found}, but here it must be {wanted}")
    return deepcopy(saved)


THREADED = 65536  # elements from which a thread of its own is worth its start
PORTION = 2048  # elements of which a thread takes a whole number, so that blocks stay whole


def _run(serial: Any, threaded: Any, rows: Sequence[Sequence[Array]], *numbers: float) -> None:
    """Run a kernel on lists of arrays, on those in the same place of every list at a time."""
    dtype = None
    for arrays in zip(*rows, strict=True):
        if arrays[0].dtype is not dtype:
            typed, dtype = _typed(arrays[0], *numbers), arrays[0].dtype
        if stretch := _stretch(arrays[0].size):
            threaded(stretch, *typed, *arrays)
        else:
            serial(*arrays, *typed)


@cache
def _stretch(size: int) -> int:
    """Return how many elements a thread takes, whole portions; 0 where one thread takes all."""
    threads = min(get_num_threads(), 1 + size // THREADED) if size >= THREADED else 1
    return (size // threads // PORTION + 1) * PORTION if threads > 1 else 0


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


def _one_minus_power(x: float, t: int) -> float:
    """Return 1 − xᵗ for x from 0 to 1 and t ≥ 1: all its digits, also where x is close to 1."""
    return type(x)(-math.expm1(t * math.log(x or 1e-30)))


@njit(cache=True, error_model="numpy", forceinline=True)
def _flushed(x: Any) -> Any:
    """Return x, or 0 for a number below the smallest normal one: with those sums are slow."""
    real = type(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    smallest = real(1.1754943508222875e-38 if single else 2.2250738585072014e-308)
    return real(0) if abs(x) < smallest else x
