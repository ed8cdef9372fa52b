"""Adam.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m, diag(s)⁻¹).

Here m is mean; u is moving average of the gradient; s is scale: the average of what stands for the
curvature; g is a minibatch estimate of the gradient of the loss, at the mean m (the sum or the mean
over rows, as only c tells them apart, with the prior's in it); t counts steps from 1; x⁺ is the
next value of x.

Update:

    u⁺ = β₁u + (1 − β₁)g
    s⁺ = β₂s + (1 − β₂)g²
    m⁺ = m − αu⁺/((1 − β₁ᵗ)(√(s⁺/(1 − β₂ᵗ)) + c))

Approximations, in the order in which they were made:

    delta: 𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean
    stochastic: a minibatch stands for the data
    hessian=squared-gradient: the square of the minibatch gradient stands for the curvature
    square-root: s → √s where it divides the mean step, and a small c keeps the divisor from zero; s
        is an average and may start at 0
    separate-rates: once mean and scale have equations of their own, each gets a step size of its
        own
    slow-scale: from here on s₋ ≈ s where momentum compares two scales; nothing to rewrite yet
    momentum: the last step, λ − λ₋, is repeated in natural coordinates; with α → α(1−β₁) and γ →
        β₁, the rates of the equivalent proximal step
    momentum: an exact change of state, with D what divides the mean step
    bias-correction: u and s: after t steps an average that started at 0 has gathered the weight 1 −
        βᵗ

There is no posterior: the root of s divides the mean step and no θ is drawn from q, so that no line
of the update uses s as a precision.

Hyperparameters:

    alpha  step size of the mean, in [0, ∞), 0.001 by default
    beta1  decay of the gradient average, in [0, 1), 0.9 by default
    beta2  decay of the curvature average, in [0, 1), 0.999 by default
    c      small constant that keeps the divisor from zero, in [0, ∞), 1e-8 by default

See Kingma & Ba (2015).
"""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from os import getpid
from typing import Any, TypeAlias

import numpy as np
from numba import config, get_num_threads, njit, prange
from numpy.typing import NDArray

__all__ = ["Adam"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = {"alpha": "[0, inf)", "beta1": "[0, 1)", "beta2": "[0, 1)", "c": "[0, inf)"}


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
    Hyperparameters are plain attributes and may be changed between steps.

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
        check_finite: bool = True,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha, self.beta1, self.beta2, self.c = alpha, beta1, beta2, c
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self.u = [np.zeros_like(m) for m in self.m]
        self.s = [np.zeros_like(m) for m in self.m]
        self.check_finite = check_finite

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(self.params)]

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, at m."""
        g = _views("g", g, self.params, self.check_finite)
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        beta2_correction = _one_minus_power(self.beta2, t)
        beta1_correction = _one_minus_power(self.beta1, t)
        scaled_alpha = math.sqrt(beta2_correction) * self.alpha / beta1_correction
        c_times_sqrt_beta2_correction = self.c * math.sqrt(beta2_correction)
        numbers = (self.beta1, self.beta2, one_minus_beta1, one_minus_beta2, scaled_alpha,
                   c_times_sqrt_beta2_correction)  # fmt: skip
        _run(_step, _step_threads, (self.m, self.u, self.s, g), *numbers)
        self.t += 1

    def __getattr__(self, name: str) -> Any:
        """Say of what is not there why it is not."""
        if name in ("posterior", "sample"):
            raise AttributeError(
                f"{type(self).__name__} has no {name}: the root of s divides the mean step and no "
                "θ is drawn from q, so that no line of the update uses s as a precision"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies."""
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        kept = {"m": self.params, "u": self.u, "s": self.s}
        return deepcopy({"t": self.t, "hyperparameters": numbers, **kept})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        _load(self, saved, "m", HYPERPARAMETERS | {"s": "[0, inf)"})

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


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


def _views(name: str, arrays: Arrays, params: Arrays, finite: bool = False) -> list[Array]:
    """Return one array or several as flat ones; refuse what does not fit the parameters."""
    found, like = _listed(arrays), _listed(params)
    if len(found) != len(like):
        raise ValueError(f"{name}: {len(found)} arrays for {len(like)} arrays of parameters")
    names = [name] if len(like) == 1 else [f"{name}[{i}]" for i in range(len(like))]
    rows = zip(names, found, like, strict=True)
    return [_shaped_as(own, x, p.shape, p, finite).ravel() for own, x, p in rows]


def _shaped_as(name: str, x: Array, shape: tuple[int, ...], like: Array, finite: Any = 0) -> Array:
    """Return the array; refuse what is none, of another dtype or shape, or not finite."""
    if not isinstance(x, np.ndarray) or isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a {type(x).__name__}; pass a NumPy array")
    if x.dtype != like.dtype or x.shape != shape:
        wrong = ValueError if x.dtype == like.dtype else TypeError
        raise wrong(f"{name} is {x.dtype}{[*x.shape]}; here it must be {like.dtype}{[*shape]}")
    if finite and not abs(np.einsum("i->", x.ravel())) < np.inf and not np.isfinite(x).all():
        raise ValueError(f"{name} is not finite; nothing has been changed")
    return x


def _held(name: str, params: Arrays) -> Arrays:
    """Return the arrays to update; refuse what cannot be updated in place, or shares memory."""
    for i, x in enumerate(_listed(params)):
        where = f"{name}[{i}]" if isinstance(params, list | tuple) else name
        if _shaped_as(where, x, np.shape(x), x).dtype not in DTYPES:
            raise TypeError(f"{where} is {x.dtype}, not {' or '.join(d.__name__ for d in DTYPES)}")
        if not x.flags.carray:
            raise ValueError(f"{where} is read-only or not contiguous, and is updated in place")
    ends = sorted((x.ctypes.data, x.ctypes.data + x.nbytes) for x in _listed(params) if x.size)
    if any(end > start for (_, end), (start, _) in pairwise(ends)):
        raise ValueError(f"two arrays of {name} share memory, which a step would update twice")
    return list(params) if isinstance(params, list | tuple) else params


def _set(opt: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute, a number in its domain; refuse a name that there is not."""
    held = vars(opt)
    if domains.get(name):
        value = _fitting(name, value, 0.0, domains)
    elif "check_finite" in held and (name not in held or name == "params"):
        raise AttributeError(f"{type(opt).__name__}.{name} cannot be set; {[*domains]} can")
    elif isinstance(held.get(name), list):
        value = _fitting(name, value, held[name], {})
    elif isinstance(held.get(name), np.ndarray):
        _shaped_as(name, value, held[name].shape, held[name])
    held[name] = value


def _fitting(name: str, x: Any, like: Any, domains: Mapping[str, str]) -> Any:
    """Return a copy of what can stand in the place of another; refuse what cannot."""
    if isinstance(like, dict):
        if odd := like.keys() ^ (x.keys() if isinstance(x, Mapping) else {type(x).__name__}):
            raise ValueError(f"{name} lacks or has too much: {', '.join(sorted(map(str, odd)))}")
        return {key: _fitting(key, x[key], like[key], domains) for key in like}
    if isinstance(like, list):
        if not isinstance(x, list) or len(x) != len(like):
            raise ValueError(f"{name} = {x!r:.60} is no list of {len(like)} arrays")
        return [_fitting(f"{name}[{i}]", x[i], like[i], domains) for i in range(len(x))]
    kind = int | np.integer if isinstance(like, int) else int | np.integer | float | np.floating
    if isinstance(like, np.ndarray):
        _shaped_as(name, x, like.shape, like)
    elif isinstance(x, bool) or not isinstance(x, kind):
        raise TypeError(f"{name} = {x!r} is no {'whole ' * isinstance(like, int)}number")
    domain = domains.get(name.partition("[")[0]) or "(-inf, inf)"
    low, high = map(float, domain[1:-1].split(","))
    above = x >= low if domain[0] == "[" else x > low
    if not np.all(above & (x <= high if domain[-1] == "]" else x < high)):
        raise ValueError(f"{name} = {x!r} is outside {domain}")
    return x.copy() if isinstance(x, np.ndarray) else type(like)(x)


def _load(opt: Any, saved: Any, main: str, domains: Mapping[str, str], **left: Any) -> None:
    """Take all of what was saved; where something is wrong, none of it."""
    like = opt.state_dict() | {k: x if dict(saved or ()).get(k) else {} for k, x in left.items()}
    beside = {"t": "[0, inf)", "draws": "[1, inf)" if like.get("sums") else "[0, 0]"}
    found = _fitting("the saved state", saved, like, {**beside, **domains})
    params = _listed(found.pop(main))
    found |= found.pop("hyperparameters")
    for one in (deepcopy(opt), opt):
        for x, value in zip(_listed(one.params), params, strict=True):
            x[...] = value
        vars(one).update({f"_{k}" if f"_{k}" in vars(one) else k: x for k, x in found.items()})
        getattr(one, "_check_state", bool)()


def _told(opt: Any, numbers: Mapping[str, str]) -> str:
    """Return what an object is: its arrays, its hyperparameters, its steps."""
    shapes = [f"{x.dtype}{[*x.shape]}" for x in _listed(opt.params)]
    values = [f"{name}={getattr(opt, name)!r}" for name in (*numbers, "t")]
    return f"{type(opt).__name__}({', '.join(shapes + values)})"


THREADED = 65536  # elements from which a thread of its own is worth its start
PORTION = 2048  # elements of which a thread takes a whole number, so that blocks stay whole
PROCESS = getpid()  # where this was imported


def _run(serial: Any, threaded: Any, rows: Sequence[Sequence[Array]], *numbers: float) -> None:
    """Run a kernel on lists of arrays, place by place; with threads if it has a form for them."""
    dtype = None
    for arrays in zip(*rows, strict=True):
        if arrays[0].dtype is not dtype:
            dtype = arrays[0].dtype
            typed = [tuple(map(dtype.type, numbers))] if numbers else []
        if threaded and (stretch := _stretch(arrays[0].size)):
            threaded(stretch, *typed, *arrays)
        else:
            serial(*arrays, *typed)


def _stretch(size: int) -> int:
    """Return how many elements a thread takes; 0: one takes all, as in a process forked off."""
    few = size < THREADED or config.NUMBA_NUM_THREADS == 1 or getpid() != PROCESS
    threads = 1 if few else min(get_num_threads(), 1 + size // THREADED)
    return (size // threads // PORTION + 1) * PORTION if threads > 1 else 0


def _one_minus_power(x: float, t: int) -> float:
    """Return 1 − xᵗ for x from 0 to 1 and t ≥ 1: all its digits, also where x is close to 1."""
    return type(x)(-math.expm1(t * math.log(x or 1e-30)))


@njit(cache=True, error_model="numpy", forceinline=True)
def _flushed(x: Any) -> Any:
    """Return x, or 0 for a number below the smallest normal one: with those sums are slow."""
    return type(x)(0) if abs(x) < np.finfo(type(x)).tiny else x
