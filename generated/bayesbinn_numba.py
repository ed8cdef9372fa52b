"""BayesBiNN.

The Bayesian learning rule for the candidate: Bernoulli on signs, θ in {-1, +1}.

Here λ is natural parameter; g is a minibatch estimate of the gradient of the loss, at theta (the
sum over all N rows, or N/M times that over the M rows of a minibatch, without the prior, whose λ₀
the update adds); ε is ½log(u/(1−u)) with u uniform on (0, 1); x⁺ is the next value of x.

The loss is probed at:

    θ = tanh((λ + ε)/τ)

Update:

    μ = tanh(λ)
    λ⁺ = (1 − ρ)λ − ρ(1 − θ²)g/(τ(1 − μ²)) + ρλ₀

Approximations, in the order in which they were made:

    relax: θ = sign(λ + ε) is relaxed to tanh((λ + ε)/τ), so that the loss has a gradient
    stochastic: a minibatch stands for the data
    prior=total: −log p(θ) = −λ₀T(θ) + const is linear in T, so its gradient in μ is −λ₀

Hyperparameters:

    rho   step size of the rule, in [0, 1], 0.1 by default
    tau   temperature of the relaxation, in (0, ∞), 1 by default
    lam0  natural parameter of the prior, in (−∞, ∞), 0 by default

See Meng, Bachmann & Khan (2020).
"""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from os import getpid
from typing import Any, TypeAlias

import numpy as np
from numba import config, get_num_threads, njit, prange, types
from numba.extending import intrinsic, overload
from numpy.typing import NDArray

__all__ = ["BayesBiNN"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = {"rho": "[0, 1]", "tau": "(0, inf)", "lam0": "(-inf, inf)"}


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _draw(theta: Array, lam: Array, eps: Array, numbers: Numbers) -> None:
    """Write where to evaluate the loss into theta."""
    (tau,) = numbers
    for i in range(theta.size):
        theta[i] = _tanh((eps[i] + lam[i]) / tau)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy", forceinline=True)
def _step(theta: Array, lam: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    one_minus_rho, lam0_times_rho, rho_over_tau = numbers
    real = theta.dtype.type
    one = real(1)
    for i in range(theta.size):
        cosh_lam = _cosh(lam[i])
        part = rho_over_tau * g[i] * (one - theta[i]) * (one + theta[i]) * (cosh_lam * cosh_lam)
        lam[i] = one_minus_rho * lam[i] + lam0_times_rho - part


class BayesBiNN:
    """BayesBiNN.

    `params` is the array, or the list of arrays, with the natural parameter; it is updated in
    place. Hyperparameters are plain attributes and may be changed between steps.

        opt = BayesBiNN(params)
        theta = opt.draw(rng)
        opt.step(g)  # g at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        rho: float = 0.1,
        tau: float = 1.0,
        lam0: float = 0.0,
        check_finite: bool = True,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho, self.tau, self.lam0 = rho, tau, lam0
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self._pending: dict[str, list[Array]] = {}  # what the last draw left
        self.check_finite = check_finite

    @property
    def lam(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(self.params)]

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        theta = [np.empty_like(lam) for lam in self.lam]
        if eps is None:
            rng = _generator(rng, "eps=")
            _run_anew(_draw_anew, _draw_anew_threads, rng, (theta, self.lam), self.tau)
        else:
            eps = _views("eps", eps, self.params, self.check_finite)
            _run(_draw, None, (theta, self.lam, eps), self.tau)
        self._pending = {"theta": theta}
        return _lent(theta, self.params)

    def step(self, g: Arrays, *, rng: np.random.Generator | None = None) -> Arrays | None:
        """Update the parameters in place from g, where `draw` said; with rng, draw again."""
        if rng is not None:
            _generator(rng)
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self.params, self.check_finite)
        one_minus_rho = 1 - self.rho
        lam0_times_rho = self.lam0 * self.rho
        rho_over_tau = self.rho / self.tau
        numbers = one_minus_rho, lam0_times_rho, rho_over_tau
        if rng is None:
            _run(_step, _step_threads, (self._pending["theta"], self.lam, g), *numbers)
            self._pending = {}
        else:
            rows = [self._pending["theta"], self.lam, g]
            _run_anew(_both_anew, _both_anew_threads, rng, rows, *numbers, self.tau)
        self.t += 1
        if rng is None:
            return None
        return _lent(self._pending["theta"], self.params) if self._pending else self.draw(rng)

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every binary variable."""
        means = []
        for lam in self.lam:
            means.append(np.tanh(lam))
        deviations = [np.sqrt((mean + 1) * (1 - mean)) for mean in means]
        return _shaped(means, self.params), _shaped(deviations, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw -1 or 1 for each; the same seed, the same draw."""
        _generator(rng)
        means, _ = self.posterior()
        values, key = [], int(rng.integers(2**63))
        for stream, mean in enumerate(_listed(means)):
            share = np.ravel((mean + 1) / 2)
            value = np.empty_like(share)
            _signs(value, share, -1.0, 1.0, key, stream, 0)
            values.append(value.reshape(mean.shape))
        return _shaped(values, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies; save rng.bit_generator.state beside it."""
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        kept = {"lam": self.params, "pending": self._pending}
        return deepcopy({"t": self.t, "hyperparameters": numbers, **kept})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        left = {"pending": {"theta": self.lam}}
        _load(self, saved, "lam", HYPERPARAMETERS, **left)

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


# --- The same rule in other passes over memory, and what is made for it alone


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(stretch: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step` on stretches of the arrays, with threads."""
    theta, lam, g = arrays
    for part in prange(-(-theta.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(theta[here], lam[here], g[here], numbers)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _draw_anew(key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_draw` with new noise, of the elements from `at` on."""
    theta, lam = arrays
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(theta.dtype)[:BLOCK]
    for begin in range(-(at % BLOCK), theta.size, BLOCK):
        _logistic_block(eps, words, np.uint64(key), 0, at + begin, 0.0, 0.5)
        low, high = max(begin, 0), min(begin + BLOCK, theta.size)
        _draw(theta[low:high], lam[low:high], eps[low - begin : high - begin], numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_anew_threads(stretch: int, key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_draw_anew` on stretches of the arrays, with threads."""
    theta, lam = arrays
    for part in prange(-(-theta.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _draw_anew(key, at + part * stretch, numbers, theta[here], lam[here])


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _both_anew(key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step`, then `_draw` with new noise, of the elements from `at` on."""
    theta, lam, g = arrays
    words = np.empty(WORDS, np.uint32)
    eps = words[WORDS // 2 :].view(theta.dtype)[:BLOCK]
    for begin in range(-(at % BLOCK), theta.size, BLOCK):
        _logistic_block(eps, words, np.uint64(key), 0, at + begin, 0.0, 0.5)
        low, high = max(begin, 0), min(begin + BLOCK, theta.size)
        _step(theta[low:high], lam[low:high], g[low:high], numbers[:3])
        _draw(theta[low:high], lam[low:high], eps[low - begin : high - begin], numbers[3:])


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _both_anew_threads(stretch: int, key: int, at: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_both_anew` on stretches of the arrays, with threads."""
    theta, lam, g = arrays
    for part in prange(-(-theta.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _both_anew(key, at + part * stretch, numbers, theta[here], lam[here], g[here])


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


CALLED = {"fastmath": FASTMATH, "error_model": "numpy"}
INLINED = CALLED | {"forceinline": True}


@njit(cache=True, error_model="numpy", forceinline=True)
def _where(condition: Any, yes: Array, no: Array) -> Array:
    """Return one of two numbers."""
    return yes if condition else no


@njit(cache=True, error_model="numpy", forceinline=True)
def _real_of(x: Any) -> Callable[[Any], Array]:
    """Return the type of a float."""
    return type(x)


@njit(cache=True, error_model="numpy", forceinline=True)
def _whole_of(x: Any) -> Callable[[Any], Array]:
    """Return the type of an integer as wide as a float."""
    return type(_integer_of(x))


@intrinsic
def _integer_of(context: Any, x: Any) -> Any:
    """Return the bits of a float as an integer of its width."""
    result = types.int32 if x == types.float32 else types.int64

    def cast(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return result(x), cast


@intrinsic
def _float_of(context: Any, k: Any) -> Any:
    """Return the float that has these bits."""
    result = types.float32 if k == types.int32 else types.float64

    def cast(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    return result(k), cast


LOG_TWO_HIGH = 0.693145751953125
LOG_TWO_LOW = 1.4286068203094173e-06
INVERSE_LOG_TWO = 1.4426950408889634
RISE_FIRST_SINGLE = 0.0013926176
RISE_SINGLE = (0.008363173, 0.041666556, 0.16666578, 0.5)
RISE_FIRST_DOUBLE = 2.5100375832561234e-08
RISE_DOUBLE = (
    2.7620075879983367e-07, 2.7557268480310024e-06, 2.4801521322368692e-05, 0.00019841269863040545,
    0.0013888888917196719, 0.008333333333330065, 0.041666666666624164, 0.16666666666666669,
    0.5000000000000001,
)  # fmt: skip


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _tanh(x: Array) -> Any:
    """Return tanh x = (e²ˣ − 1)/(e²ˣ + 1), from |x| and with the sign bit of x."""
    real = _real_of(x)
    whole = _whole_of(x)
    size = np.abs(x)
    end = real(10 if real(16777217) == real(16777216) else 20)  # float32: 24 bits
    inside = _where(size > end, end, size)
    k, r = _octaves(inside + inside)
    scale = _power_of_two(k)
    top = scale * _rise(r) + (scale - real(1))
    bits = _integer_of(top / (top + real(2)))
    return _float_of(whole(bits | (_integer_of(x) & _integer_of(real(-0.0)))))


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _cosh(x: Array) -> Any:
    """Return cosh x = ½(e + 1/e) with e = 2ᵏ(1 + s) and s = eʳ − 1."""
    real = _real_of(x)
    whole = _whole_of(x)
    size = np.abs(x)
    end = real(89.5 if real(16777217) == real(16777216) else 710.5)
    k, r = _octaves(_where(size > end, end, size))
    quarter = _power_of_two(whole(k - whole(2)))
    other = _power_of_two(whole(whole(-2) - _where(k < whole(60), k, whole(60))))
    s = _rise(r)
    half = quarter + (quarter * s + other / (s + real(1)))
    return half + half


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _octaves(x: Array) -> tuple[Array, Array]:
    """Return k and r with x = k log 2 + r and |r| at most half of log 2."""
    real = _real_of(x)
    whole = _whole_of(x)
    single = real(16777217) == real(16777216)  # float32: 24 bits
    shift = real(12582912.0 if single else 6755399441055744.0)  # a sum with it is whole
    shifted = x * real(INVERSE_LOG_TWO) + shift
    n = shifted - shift
    r = (x - n * real(LOG_TWO_HIGH)) - n * real(LOG_TWO_LOW)
    return whole(_integer_of(shifted) - _integer_of(shift)), r


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _rise(r: Array) -> Any:
    """Return eʳ − 1 = r + r² q(r) where |r| is at most half of log 2."""
    real = _real_of(r)
    if real(16777217) == real(16777216):  # float32: 24 bits
        q = real(RISE_FIRST_SINGLE)
        for c in RISE_SINGLE:
            q = q * r + real(c)
    else:
        q = real(RISE_FIRST_DOUBLE)
        for c in RISE_DOUBLE:
            q = q * r + real(c)
    return r + r * r * q


@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)
def _power_of_two(k: Array) -> Any:
    """Return 2ᵏ by its bits, for the exponents of normal numbers; 0 for the one below them."""
    whole = _real_of(k)
    real = _real_of(_float_of(k))
    one, two = _integer_of(real(1)), _integer_of(real(2))
    return _float_of(whole(one + whole(k * whole(two - one))))


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


LOG_ODDS_SINGLE = (0.3043253, 0.39952818, 0.66667044, 2.0)
LOG_ODDS_DOUBLE = (
    0.15387002998272473, 0.15247352914447826, 0.18186527068251934, 0.22222133251303575,
    0.2857142948152904, 0.3999999999543685, 0.6666666666667537, 2.0,
)  # fmt: skip
LOG_TWO_OF_BITS_SINGLE = 8.262958e-08
LOG_TWO_OF_BITS_DOUBLE = 1.539095918623324e-16


@njit(**INLINED)
def _log_odds_single(w: Any) -> Any:
    """Return log u − log(1 − u) for u = (2k + 1)/2^32 with k = w // 2, accurate at both ends.

    With a whole number j that brings a = u/2ʲ and b = 1 − u near to each other, it is
    j log 2 + 2 artanh(s), s = (a − b)/(a + b).
    """
    real, word, signed = np.float32, np.uint32, np.int32
    a, b = real(word(w | word(1))), real(word(~w | word(1)))
    bits = _integer_of(a)
    j = signed(bits - _integer_of(b) + signed(0x400000))
    j = signed(j & signed(-0x800000))  # whole, at the place of an exponent
    near = _float_of(signed(bits - j))
    s = (near - b) / (near + b)
    square = s * s
    p = real(LOG_ODDS_SINGLE[0])
    for c in LOG_ODDS_SINGLE[1:]:
        p = p * square + real(c)
    return s * p + real(j) * real(LOG_TWO_OF_BITS_SINGLE)


@njit(**INLINED)
def _log_odds_double(w: Any) -> Any:
    """Return log u − log(1 − u) for u = (2k + 1)/2^64 with k = w // 2, accurate at both ends.

    With a whole number j that brings a = u/2ʲ and b = 1 − u near to each other, it is
    j log 2 + 2 artanh(s), s = (a − b)/(a + b).
    """
    real, word, signed = np.float64, np.uint64, np.int64
    a, b = real(word(w | word(1))), real(word(~w | word(1)))
    bits = _integer_of(a)
    j = signed(bits - _integer_of(b) + signed(0x8000000000000))
    j = signed(j & signed(-0x10000000000000))  # whole, at the place of an exponent
    near = _float_of(signed(bits - j))
    s = (near - b) / (near + b)
    square = s * s
    p = real(LOG_ODDS_DOUBLE[0])
    for c in LOG_ODDS_DOUBLE[1:]:
        p = p * square + real(c)
    return s * p + real(j) * real(LOG_TWO_OF_BITS_DOUBLE)


@njit(**INLINED)
def _other(w: Any, upper: Any) -> Any:
    """Return the upper half of one word with the two lower bytes of another, exchanged."""
    word = np.uint32
    left, right = word(w << word(8)) & word(0xFF00), word(w >> word(8)) & word(0xFF)
    return word(word(upper & word(0xFFFF0000)) | word(left | right))


def _logistic_single(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """location + scale·x with x = log u − log(1 − u); four numbers from three words.

    Half a word is the upper half of another u, whose lower half is that of the first one with
    its bytes exchanged: to 24 bits the two are independent.
    """
    quarter = BLOCK // 4
    location, scale = np.float32(location), np.float32(scale)
    _random_words(words, 3 * quarter // 2, key, stream, first // BLOCK * 128)
    for j in range(quarter):
        v, w, halves = words[j], words[j + quarter], words[j + 2 * quarter]
        u = _log_odds_single(v)
        out[j] = location + scale * u
        u = _log_odds_single(w)
        out[j + quarter] = location + scale * u
        u = _log_odds_single(_other(v, halves))
        out[j + 2 * quarter] = location + scale * u
        u = _log_odds_single(_other(w, np.uint32(halves << np.uint32(16))))
        out[j + 3 * quarter] = location + scale * u


def _logistic_double(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """location + scale·x with x = log u − log(1 − u)."""
    whole = words.view(np.uint64)
    location, scale = np.float64(location), np.float64(scale)
    _random_words(words, BLOCK, key, stream, first // BLOCK * 256)
    for j in range(BLOCK):
        u = _log_odds_double(whole[j])
        out[j] = location + scale * u


def _logistic_block(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> None:
    """Fill one whole block; what is compiled in its place depends on the dtype."""
    raise NotImplementedError


@overload(_logistic_block, jit_options=CALLED)
def _logistic_chosen(
    out: Array, words: Array, key: Any, stream: int, first: int, location: Any, scale: Any
) -> Any:
    """Return the function for a dtype."""
    return _logistic_single if out.dtype == types.float32 else _logistic_double


@njit(fastmath=FASTMATH, error_model="numpy")
def _settle(
    out: Array, p: Array, low: Any, high: Any, words: Array, key: Any, stream: int, first: int
) -> None:
    """Compare 64 more bits where the first sixteen say nothing, in one whole portion.

    They are made for such an element alone, in a stream of their own; what is left is 2⁻⁸⁰.
    """
    half, few, scale = PORTION // 2, 64, p.dtype.type(65536)
    more = np.empty(2, np.uint32)
    for begin in (0, half):
        right, chances = np.uint32(0 if begin else 16), p[begin : begin + half]
        for start in range(0, half, few):
            same = 0
            for i in range(start, start + few):
                bits = np.int32((words[i] >> right) & np.uint32(65535))
                same += bits == np.int32(chances[i] * scale)
            for i in range(start, start + few if same else start):
                bits = np.int32((words[i] >> right) & np.uint32(65535))
                if bits == np.int32(chances[i] * scale):
                    _random_words(more, 1, key, stream + 2**23, first + begin + i)
                    scaled = np.float64(chances[i]) * 65536.0
                    rest = np.uint64((scaled - np.floor(scaled)) * 2.0**64)
                    out[begin + i] = high if more.view(np.uint64)[0] < rest else low


@njit(**INLINED)
def _signs_block(
    out: Array, p: Array, low: Any, high: Any, words: Array, key: Any, stream: int, first: int
) -> bool:
    """Choose `high` in one whole portion wherever sixteen random bits are below 2¹⁶ p.

    One half of it after the other: memory is read and written in its own order. Return
    whether these sixteen bits are those of the probability somewhere, so that more must be seen.
    """
    real, half = out.dtype.type, PORTION // 2
    _random_words(words, half // 2, key, stream, first // PORTION * (half // 2))
    scale, nearest = real(65536), np.uint32(65536)
    for j in range(half):
        u = np.int32(np.int32(words[j] >> np.uint32(16)) - np.int32(p[j] * scale))
        nearest = min(nearest, np.uint32(u))
        out[j] = high if u < 0 else low
    for j in range(half):
        u = np.int32(np.int32(words[j] & np.uint32(65535)) - np.int32(p[j + half] * scale))
        nearest = min(nearest, np.uint32(u))
        out[j + half] = high if u < 0 else low
    return bool(nearest == 0)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _signs(out: Array, p: Array, low: Any, high: Any, key: Any, stream: int, first: int) -> None:
    """Fill `out` with `high` with the probability p of each element, else `low`.

    A choice depends on the key, the stream, its place in the stream and its probability, which
    is met within 2⁻⁸⁰; `first`, the place of the first, is a multiple of PORTION.
    """
    low, high = out.dtype.type(low), out.dtype.type(high)
    words, key = np.empty(WORDS, np.uint32), np.uint64(key)
    whole = out.size // PORTION * PORTION
    for start in range(0, whole, PORTION):
        to, chance = out[start : start + PORTION], p[start : start + PORTION]
        if _signs_block(to, chance, low, high, words, key, stream, first + start):
            _settle(to, chance, low, high, words, key, stream, first + start)
    if whole < out.size:
        to, chance = np.empty(PORTION, out.dtype), np.zeros(PORTION, p.dtype)
        for i in range(whole, out.size):
            chance[i - whole] = p[i]
        if _signs_block(to, chance, low, high, words, key, stream, first + whole):
            _settle(to, chance, low, high, words, key, stream, first + whole)
        for i in range(whole, out.size):
            out[i] = to[i - whole]
