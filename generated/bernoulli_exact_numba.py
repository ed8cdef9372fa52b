"""Exact Bernoulli.

The Bayesian learning rule for the candidate: Bernoulli on signs, θ in {-1, +1}.

Here λ is natural parameter; lminus is expected loss with this coordinate fixed at −1 (the sum over
all rows, with the prior's in it); lplus is expected loss with this coordinate fixed at 1 (the sum
over all rows, with the prior's in it); x⁺ is the next value of x.

Update:

    λ⁺ = (1 − ρ)λ + ½ρ lminus − ½ρ lplus

Hyperparameters:

    rho  step size of the rule, in [0, 1], 0.1 by default

See Khan & Rue (2023).
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from os import getpid
from typing import Any, TypeAlias

import numpy as np
from numba import config, get_num_threads, njit, prange
from numpy.typing import NDArray

__all__ = ["ExactBernoulli"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = {"rho": "[0, 1]"}


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step(lam: Array, lminus: Array, lplus: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    one_minus_rho, half_times_rho = numbers
    for i in range(lam.size):
        part = one_minus_rho * lam[i] + half_times_rho * lminus[i]
        lam[i] = part - half_times_rho * lplus[i]


class ExactBernoulli:
    """Exact Bernoulli.

    `params` is the array, or the list of arrays, with the natural parameter; it is updated in
    place. Hyperparameters are plain attributes and may be changed between steps.

        opt = ExactBernoulli(params)
        opt.step(lminus, lplus)
    """

    def __init__(self, params: Arrays, *, rho: float = 0.1, check_finite: bool = True) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self.check_finite = check_finite

    @property
    def lam(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(self.params)]

    def step(self, lminus: Arrays, lplus: Arrays) -> None:
        """Update the parameters in place from lminus and lplus, at lam."""
        lminus = _views("lminus", lminus, self.params, self.check_finite)
        lplus = _views("lplus", lplus, self.params, self.check_finite)
        one_minus_rho = 1 - self.rho
        half_times_rho = 0.5 * self.rho
        _run(_step, _step_threads, (self.lam, lminus, lplus), one_minus_rho, half_times_rho)
        self.t += 1

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
        """Return what resuming exactly needs, as copies."""
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        return deepcopy({"t": self.t, "hyperparameters": numbers, "lam": self.params})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        _load(self, saved, "lam", HYPERPARAMETERS)

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


# --- The same rule in other passes over memory, and what is made for it alone


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(stretch: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step` on stretches of the arrays, with threads."""
    lam, lminus, lplus = arrays
    for part in prange(-(-lam.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(lam[here], lminus[here], lplus[here], numbers)


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


CALLED = {"fastmath": FASTMATH, "error_model": "numpy"}
INLINED = CALLED | {"forceinline": True}


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError("pass rng=np.random.default_rng(seed)" + f", or {other}" * bool(other))
    return rng


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
