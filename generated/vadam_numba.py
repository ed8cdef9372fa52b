"""Vadam.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m, diag(s)⁻¹).

Here m is mean; u is moving average of the gradient; s is curvature of the loss alone, per example;
g is a minibatch estimate of the gradient of the loss, at theta (the mean over the rows of a
minibatch, not times N, without the prior's δm, which the update adds); ε is standard normal noise;
t counts steps from 1; x⁺ is the next value of x.

The loss is probed at:

    θ = m + ε/√(N(s + δ))

Estimated there, and averaged over several such points:

    ĥ = g²

Update:

    u⁺ = β₁u + (1 − β₁)(g + δm)
    s⁺ = β₂s + (1 − β₂)ĥ
    m⁺ = m − αu⁺/((1 − β₁ᵗ)(√(s⁺/(1 − β₂ᵗ)) + δ))

Approximations, in the order in which they were made:

    stochastic: one draw θ ~ q and a minibatch stand for the expectation and the data
    ess: ℓ is N times the mean loss ℓ̄ that the probes now mean, and s → Ns, so that N stands in
        front of the precision
    hessian=squared-gradient: the square of the minibatch gradient stands for the curvature
    prior=apart: ½δ‖θ‖² is added to the loss: δm enters with the gradient; s keeps the curvature of
        the loss alone, precision N(s + δ)
    square-root: s → √s where it divides the mean step; s is an average and may start at 0
    separate-rates: once mean and scale have equations of their own, each gets a step size of its
        own
    slow-scale: from here on s₋ ≈ s where momentum compares two scales; nothing to rewrite yet
    momentum: the last step, λ − λ₋, is repeated in natural coordinates; with α → α(1−β₁) and γ →
        β₁, the rates of the equivalent proximal step
    momentum: an exact change of state, with D what divides the mean step
    bias-correction: u and s: after t steps an average that started at 0 has gathered the weight 1 −
        βᵗ

Of the posterior: squared minibatch gradients stand for the curvature: the spread is that of the
posterior with one row in a minibatch, and with M rows about √M times too wide.

Hyperparameters:

    alpha  step size of the mean, in [0, ∞), 0.001 by default
    beta1  decay of the gradient average, in [0, 1), 0.9 by default
    beta2  decay of the curvature average, in [0, 1), 0.999 by default
    delta  precision of the Gaussian prior (weight decay), per example, in [0, ∞), 0.0001 by default
    N      effective number of examples, in (0, ∞), 1000 by default

See Khan et al. (2018).
"""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from os import getpid
from typing import Any, TypeAlias

import numpy as np
from numba import config, get_num_threads, njit, prange, types
from numba.extending import overload
from numpy.typing import NDArray

__all__ = ["Vadam"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = {"alpha": "[0, inf)", "beta1": "[0, 1)", "beta2": "[0, 1)", "delta": "[0, inf)",
                   "N": "(0, inf)"}  # fmt: skip


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _draw(theta: Array, m: Array, s: Array, eps: Array, numbers: Numbers) -> None:
    """Write where to evaluate the loss into theta."""
    delta, one_over_sqrt_N = numbers
    for i in range(theta.size):
        theta[i] = m[i] + one_over_sqrt_N * eps[i] / np.sqrt(s[i] + delta)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _step(m: Array, u: Array, s: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    beta1, beta2, delta, one_minus_beta1, one_minus_beta2, scaled_alpha = numbers[:6]
    (scaled_delta,) = numbers[6:]
    for i in range(m.size):
        h_hat = g[i] * g[i]
        u_next = beta1 * u[i] + one_minus_beta1 * (g[i] + delta * m[i])
        s_next = beta2 * s[i] + one_minus_beta2 * h_hat
        m[i] = m[i] - scaled_alpha * u_next / (np.sqrt(s_next) + scaled_delta)
        u[i] = _flushed(u_next)
        s[i] = s_next


class Vadam:
    """Vadam.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps.

        opt = Vadam(params)
        theta = opt.draw(rng)
        opt.step(g)  # g at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        alpha: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        delta: float = 0.0001,
        N: float = 1000.0,
        check_finite: bool = True,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha, self.beta1, self.beta2, self.delta, self.N = alpha, beta1, beta2, delta, N
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self.u = [np.zeros_like(m) for m in self.m]
        self.s = [np.zeros_like(m) for m in self.m]
        self._pending: dict[str, list[Array]] = {}  # what the last draw left
        self._sums: dict[str, list[Array]] = {}  # over this step's draws
        self._draws = 0  # how many there are in them
        self.check_finite = check_finite

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(self.params)]

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        one_over_sqrt_N = 1 / math.sqrt(self.N)
        theta = [np.empty_like(m) for m in self.m]
        if eps is None:
            rng = _generator(rng, "eps=")
            rows = [theta, self.m, self.s]
            _run_anew(_draw_anew, _draw_anew_threads, rng, rows, self.delta, one_over_sqrt_N)
        else:
            eps = _views("eps", eps, self.params, self.check_finite)
            _run(_draw, None, (theta, self.m, self.s, eps), self.delta, one_over_sqrt_N)
        self._pending = {"theta": theta}
        return _lent(theta, self.params)

    def observe(self, g: Arrays) -> None:
        """Take g at the last draw, one of several."""
        if not self._pending:
            raise RuntimeError("observe needs a draw: call draw first")
        g = _views("g", g, self.params, self.check_finite)
        if not self._sums:
            self._sums["g_sum"] = [np.zeros_like(m) for m in self.m]
            self._sums["h_hat_sum"] = [np.zeros_like(m) for m in self.m]
        _run(_observe, None, (g, self._sums["g_sum"], self._sums["h_hat_sum"]))
        self._pending = {}
        self._draws += 1

    def step(
        self, g: Arrays | None = None, *, rng: np.random.Generator | None = None
    ) -> Arrays | None:
        """Update in place from g at the draw, or all observed; with rng, draw again."""
        if rng is not None:
            _generator(rng)
        if not self._draws and g is not None:
            self._step_single(g, rng)
        else:
            if g is not None:
                self.observe(g)
            self._step_averaged()
        self.t += 1
        if rng is None:
            return None
        return _lent(self._pending["theta"], self.params) if self._pending else self.draw(rng)

    def _step_single(self, g: Arrays, rng: np.random.Generator | None) -> None:
        """Estimate and update in one pass, from one draw."""
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self.params, self.check_finite)
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        beta2_correction = _one_minus_power(self.beta2, t)
        beta1_correction = _one_minus_power(self.beta1, t)
        scaled_alpha = math.sqrt(beta2_correction) * self.alpha / beta1_correction
        scaled_delta = self.delta * math.sqrt(beta2_correction)
        numbers = (self.beta1, self.beta2, self.delta, one_minus_beta1, one_minus_beta2,
                   scaled_alpha, scaled_delta)  # fmt: skip
        if rng is None:
            _run(_step, _step_threads, (self.m, self.u, self.s, g), *numbers)
            self._pending = {}
        else:
            one_over_sqrt_N = 1 / math.sqrt(self.N)
            of_draw = self.delta, one_over_sqrt_N
            rows = [self._pending["theta"], self.m, self.u, self.s, g]
            _run_anew(_both_anew, _both_anew_threads, rng, rows, *numbers, *of_draw)

    def _step_averaged(self) -> None:
        """Update from several draws, observed one by one."""
        if self._pending:
            raise RuntimeError("the last draw was not observed: pass what it showed")
        if not self._draws:
            raise RuntimeError("step needs a draw: call draw first")
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        beta2_correction = _one_minus_power(self.beta2, t)
        beta1_correction = _one_minus_power(self.beta1, t)
        scaled_alpha = math.sqrt(beta2_correction) * self.alpha / beta1_correction
        scaled_delta = self.delta * math.sqrt(beta2_correction)
        numbers = (self.beta1, self.beta2, self.delta, float(self._draws), one_minus_beta1,
                   one_minus_beta2, scaled_alpha, scaled_delta)  # fmt: skip
        rows = [self.m, self.u, self.s, self._sums["g_sum"], self._sums["h_hat_sum"]]
        _run(_step_averaged, None, rows, *numbers)
        self._sums = {}
        self._draws = 0

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means, deviations = [], []
        for m, s in zip(self.m, self.s, strict=True):
            real = m.dtype.type
            means.append(m.copy())
            deviations.append(_deviation(real(self.N) * (s + real(self.delta))))
        return _shaped(means, self.params), _shaped(deviations, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        _generator(rng)
        means, deviations = self.posterior()
        pairs = zip(_listed(means), _listed(deviations), strict=True)
        values, key = [], int(rng.integers(2**63))
        for stream, (mean, deviation) in enumerate(pairs):
            noise = np.empty(mean.size, mean.dtype)
            _standard_normal(noise, key, stream, 0)
            values.append(mean + deviation * noise.reshape(mean.shape))
        return _shaped(values, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies; save rng.bit_generator.state beside it."""
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        kept = {"m": self.params, "u": self.u, "s": self.s, "pending": self._pending,
                "sums": self._sums, "draws": self._draws}  # fmt: skip
        return deepcopy({"t": self.t, "hyperparameters": numbers, **kept})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        left = {"pending": {"theta": self.m}, "sums": {"g_sum": self.m, "h_hat_sum": self.m}}
        _load(self, saved, "m", HYPERPARAMETERS | {"s": "[0, inf)"}, **left)

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


# --- The same rule in other passes over memory, and what is made for it alone


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _observe(g: Array, g_sum: Array, h_hat_sum: Array) -> None:
    """Add what one draw has shown to the sums."""
    for i in range(g.size):
        g_sum[i] += g[i]
        h_hat_sum[i] += g[i] * g[i]


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step_averaged(
    m: Array, u: Array, s: Array, g_sum: Array, h_hat_sum: Array, numbers: Numbers
) -> None:
    """Update every element in place, from averages over draws."""
    beta1, beta2, delta, draws, one_minus_beta1, one_minus_beta2, scaled_alpha = numbers[:7]
    (scaled_delta,) = numbers[7:]
    for i in range(m.size):
        g = g_sum[i] / draws
        h_hat = h_hat_sum[i] / draws
        u_next = beta1 * u[i] + one_minus_beta1 * (g + delta * m[i])
        s_next = beta2 * s[i] + one_minus_beta2 * h_hat
        m[i] = m[i] - scaled_alpha * u_next / (np.sqrt(s_next) + scaled_delta)
        u[i] = _flushed(u_next)
        s[i] = s_next


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(stretch: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step` on stretches of the arrays, with threads."""
    m, u, s, g = arrays
    for part in prange(-(-m.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(m[here], u[here], s[here], g[here], numbers)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _draw_anew(key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_draw` with new noise, of the elements from `at` on."""
    theta, m, s = arrays
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(theta.dtype)[:BLOCK]
    for begin in range(-(at % BLOCK), theta.size, BLOCK):
        _standard_normal_block(eps, words, np.uint64(key), 0, at + begin)
        low, high = max(begin, 0), min(begin + BLOCK, theta.size)
        _draw(theta[low:high], m[low:high], s[low:high], eps[low - begin : high - begin], numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_anew_threads(stretch: int, key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_draw_anew` on stretches of the arrays, with threads."""
    theta, m, s = arrays
    for part in prange(-(-theta.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _draw_anew(key, at + part * stretch, numbers, theta[here], m[here], s[here])


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _both_anew(key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step`, then `_draw` with new noise, of the elements from `at` on."""
    theta, m, u, s, g = arrays
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(theta.dtype)[:BLOCK]
    for begin in range(-(at % BLOCK), theta.size, BLOCK):
        _standard_normal_block(eps, words, np.uint64(key), 0, at + begin)
        low, high = max(begin, 0), min(begin + BLOCK, theta.size)
        _step(m[low:high], u[low:high], s[low:high], g[low:high], numbers[:7])
        _draw(
            theta[low:high], m[low:high], s[low:high], eps[low - begin : high - begin], numbers[7:]
        )


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _both_anew_threads(stretch: int, key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_both_anew` on stretches of the arrays, with threads."""
    theta, m, u, s, g = arrays
    for part in prange(-(-theta.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _both_anew(
            key, at + part * stretch, numbers, theta[here], m[here], u[here], s[here], g[here]
        )


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


def _shaped(flat: Sequence[Array], params: Arrays) -> Arrays:
    """Return flat arrays in the shape of the parameters, one array if they are one."""
    shaped = [x.reshape(a.shape) for x, a in zip(flat, _listed(params), strict=True)]
    return shaped if isinstance(params, list | tuple) else shaped[0]


def _lent(flat: Sequence[Array], params: Arrays) -> Arrays:
    """Return them to be read only, as the step reads them again."""
    lent = _shaped(flat, params)
    for array in _listed(lent):
        array.setflags(write=False)
    return lent


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


def _run_anew(
    serial: Any, threaded: Any, rng: Any, rows: Sequence[Sequence[Array]], *numbers: float
) -> None:
    """Run a kernel that makes noise, of which the generator gives the key.

    Arrays of one dtype take their noise from one stream, however their elements are split.
    """
    together = len({array.dtype for array in rows[0]}) == 1
    key, first = 0, 0
    for place, arrays in enumerate(zip(*rows, strict=True)):
        if place == 0 or not together:
            key, first = int(rng.integers(2**63)), 0
        typed = [tuple(map(arrays[0].dtype.type, numbers))] if numbers else []
        if stretch := _stretch(arrays[0].size):
            threaded(stretch, key, first, *typed, *arrays)
        else:
            serial(key, first, *typed, *arrays)
        first += arrays[0].size


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


def _one_minus_power(x: float, t: int) -> float:
    """Return 1 − xᵗ for x from 0 to 1 and t ≥ 1: all its digits, also where x is close to 1."""
    return type(x)(-math.expm1(t * math.log(x or 1e-30)))


CALLED = {"fastmath": FASTMATH, "error_model": "numpy"}
INLINED = CALLED | {"forceinline": True}


@njit(cache=True, error_model="numpy", forceinline=True)
def _flushed(x: Any) -> Any:
    """Return x, or 0 for a number below the smallest normal one: with those sums are slow."""
    return type(x)(0) if abs(x) < np.finfo(type(x)).tiny else x


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError("pass rng=np.random.default_rng(seed)" + f", or {other}" * bool(other))
    return rng


BLOCK = 256  # numbers that are made at once, of words that stay in the fastest cache
WORDS = 1024  # of 32 bits, as many as are made at once


@njit(**INLINED)
def _rounds(x: Any, y: Any, lefts: tuple[int, ...], k: Any, other: Any) -> Any:
    """Return a pair of words after four rounds, with a part of the key added to each.

    A round is x + y, then rotl(y, left) ⊕ (x + y).
    """
    word = np.uint32
    for left in lefts:
        x = word(x + y)
        y = word(word(word(y << word(left)) | word(y >> word(32 - left))) ^ x)
    return word(x + k), word(y + other)


@njit(**INLINED)
def _random_words(words: Array, n: int, key: Any, stream: int, first: int) -> None:
    """Fill `words` with pairs of random words: Threefry2x32-20 of `n` counters from `first`.

    The second words of all pairs follow the first ones. A counter is encrypted together with
    its stream, so that no two of them give the same pair (up to 2²³ streams and 2⁴⁰ counters;
    a multiple of 2³² can only be first). Four rounds are a loop: no processor looks far enough
    ahead to work on several chains of twenty.
    """
    word, even, odd = np.uint32, (13, 15, 26, 6), (17, 29, 16, 24)
    k0, k1 = word(key), word(np.uint64(key) >> np.uint64(32))
    k2 = word(word(k0 ^ k1) ^ word(0x1BD11BDA))
    low, high = word(word(first) + k0), word(word(stream + ((first >> 32) << 24)) + k1)
    for j in range(n):
        words[j], words[j + n] = _rounds(word(low + word(j)), high, even, k1, word(k2 + word(1)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], odd, k2, word(k0 + word(2)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], even, k0, word(k1 + word(3)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], odd, k1, word(k2 + word(4)))
    for j in range(n):
        words[j], words[j + n] = _rounds(words[j], words[j + n], even, k2, word(k0 + word(5)))


LOG_SINGLE = (0x4FAAAAAA, 23, 31, 2.0**33, 1.3862944)
LOG_DOUBLE = (0x43F5555555555554, 52, 63, 2.0**65, 1.3862943611198906)
ARTANH_SINGLE = (-0.6086506, -0.79905635, -1.3333409, -4.0)
ARTANH_DOUBLE = (
    -0.30774005996544945, -0.3049470582889565, -0.3637305413650387, -0.4444426650260715,
    -0.5714285896305809, -0.799999999908737, -1.3333333333335073, -4.0,
)  # fmt: skip
SINE_SINGLE = (-3.595429e-05, 0.0024900069, -0.080745436, 0.7853982)
SINE_DOUBLE = (
    6.877360573166326e-12, -1.7571500746983935e-09, 3.133616225433416e-07, -3.657620415891387e-05,
    0.002490394570188844, -0.08074551218828054, 0.7853981633974483,
)  # fmt: skip
COSINE_SINGLE = (-0.0003188775, 0.01584991, -0.30842426, 1.0)
COSINE_DOUBLE = (
    1.1365469207731353e-10, -2.4609507094028117e-08, 3.590859179850238e-06, -0.00032599188648354014,
    0.015854344243741547, -0.30842513753403783, 1.0,
)  # fmt: skip


@njit(**INLINED)
def _polynomial(x: Any, terms: tuple[float, ...]) -> Any:
    """Return a polynomial by its coefficients, the highest first."""
    real = type(x)
    p = real(terms[0])
    for a in terms[1:]:
        p = p * x + real(a)
    return p


@njit(**INLINED)
def _minus_two_log(odd: Any, bits: Any, one: Any, log: Any, artanh: tuple[float, ...]) -> Any:
    """Return −2 log u for u = odd/2^32, or over 2^64, accurate also as u → 1.

    u = (1 + f)/2ᵉ with 1 + f in [2/3, 4/3); with s = f/(2 + f), log(1 + f) is 2 artanh(s). e is
    read off the bits of the float nearest to the odd word, and f is exact: what a shift leaves.
    """
    real, word, signed = type(one), type(odd), type(bits)
    start, digits, last, two, four = log
    e = word(word(start) - word(bits)) >> word(digits)
    f = real(signed(word(odd << word(e & word(last)))))
    s = f / (f + real(two))
    return s * _polynomial(s * s, artanh) + real(signed(e)) * real(four)


@njit(**INLINED)
def _turn(w: Any, part: Any, sines: tuple[float, ...], cosines: tuple[float, ...]) -> Any:
    """Return cos φ and sin φ for one of as many equally spaced angles as there are words.

    All bits but two choose an angle between −π/4 and π/4, `part` in [−1, 1) of it; those two
    a quarter of the circle.
    """
    signed, square = type(w), part * part
    s, c = part * _polynomial(square, sines), _polynomial(square, cosines)
    c = -c if w < 0 else c
    crosswise = signed(w << signed(1)) < 0
    return (s if crosswise else c), (c if crosswise else s)


@njit(**INLINED)
def _pair_single(w: Any, angle: Any) -> Any:
    """Return two numbers: √(−2 log u) for one of 2^31 numbers u, by cos φ and sin φ of 2^32 φ."""
    real, word = np.float32, np.uint32
    odd, angle = word(w | word(1)), word(angle)
    bits = np.float32(odd).view(np.int32)
    r = np.sqrt(_minus_two_log(odd, bits, real(1), LOG_SINGLE, ARTANH_SINGLE))
    part = real(np.int32(word(angle << word(2)))) * real(2.0**-31) + real(2.0**-30)
    c, s = _turn(np.int32(angle), part, SINE_SINGLE, COSINE_SINGLE)
    return r * c, r * s


def _standard_normal_single(out: Array, words: Array, key: Any, stream: int, first: int) -> None:
    """Four numbers from three words by Box and Muller: √(−2 log u) cos φ and √(−2 log u) sin φ.

    Half a word is the upper half of an angle. The lower half of a word says both what little
    it adds to its own radius and the lower half of the angle there.
    """
    quarter = BLOCK // 4
    upper, lower = np.uint32(0xFFFF0000), np.uint32(0xFFFF)
    _random_words(words, 3 * quarter // 2, key, stream, first // BLOCK * 128)
    for j in range(quarter):
        v, w, angles = words[j], words[j + quarter], words[j + 2 * quarter]
        out[j], out[j + quarter] = _pair_single(v, (angles & upper) | (v & lower))
        angle = (angles << np.uint32(16)) | (w & lower)
        out[j + 2 * quarter], out[j + 3 * quarter] = _pair_single(w, angle)


def _standard_normal_double(out: Array, words: Array, key: Any, stream: int, first: int) -> None:
    """Two numbers a time by Box and Muller: √(−2 log u) cos φ and √(−2 log u) sin φ."""
    real, word, half, pairs = np.float64, np.uint64, BLOCK // 2, words.view(np.uint64)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(half):
        odd, angle = word(pairs[j] | word(1)), pairs[j + half]
        bits = np.float64(odd).view(np.int64)
        r = np.sqrt(_minus_two_log(odd, bits, real(1), LOG_DOUBLE, ARTANH_DOUBLE))
        part = real(np.int64(word(angle << word(2)))) * real(2.0**-63) + real(2.0**-62)
        c, s = _turn(np.int64(angle), part, SINE_DOUBLE, COSINE_DOUBLE)
        out[j], out[j + half] = r * c, r * s


def _standard_normal_block(out: Array, words: Array, key: Any, stream: int, first: int) -> None:
    """Fill one whole block; what is compiled in its place depends on the dtype."""
    raise NotImplementedError


@overload(_standard_normal_block, jit_options=CALLED)
def _standard_normal_chosen(out: Array, words: Array, key: Any, stream: int, first: int) -> Any:
    """Return the function for a dtype."""
    return _standard_normal_single if out.dtype == types.float32 else _standard_normal_double


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _standard_normal(out: Array, key: Any, stream: int, first: int) -> None:
    """Fill `out` with a stretch of a stream of standard normal numbers.

    A number depends on the key, the stream and its place in it only; `first`, the place of the
    first, is a multiple of BLOCK.
    """
    words, whole = np.empty(WORDS, np.uint32), np.empty(BLOCK, out.dtype)
    for start in range(0, out.size, BLOCK):
        part = out[start : start + BLOCK]
        _standard_normal_block(whole, words, np.uint64(key), stream, first + start)
        for i in range(part.size):
            part[i] = whole[i]
