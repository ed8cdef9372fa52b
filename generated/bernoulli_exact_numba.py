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

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from difflib import get_close_matches
from itertools import pairwise
from os import getpid
from threading import Thread, current_thread
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

__all__ = ["ExactBernoulli"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = {"rho": "[0, 1]"}
KEPT = {"lam": "(-inf, inf)"}


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
    place. Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

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
        return [x.reshape(-1) for x in _listed(_mine(self))]

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
            _signs_threads(value, share, -1.0, 1.0, key, stream, _stretch(share.size))
            values.append(value.reshape(mean.shape))
        return _shaped(values, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies."""
        hyperparameters = {name: deepcopy(getattr(self, name)) for name in HYPERPARAMETERS}
        kept = {name: deepcopy(getattr(self, name)) for name in KEPT}
        return {"t": self.t, "hyperparameters": hyperparameters, **kept}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        _load(self, saved, HYPERPARAMETERS, KEPT)

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


def _views(name: str, arrays: Arrays, params: Any = None, finite: bool = False) -> list[Array]:
    """Return one array or several as flat views; refuse what cannot be used as it is."""
    found, like = _listed(arrays), _listed(arrays if params is None else params)
    if len(found) != len(like):
        raise ValueError(f"{name}: {len(found)} arrays for {len(like)} arrays of parameters")
    for index, (x, other) in enumerate(zip(found, like, strict=True)):
        where = f"{name}[{index}]" if isinstance(arrays, list | tuple) else name
        if params is None or type(x) is not np.ndarray:
            _check_kind(where, x, updated=params is None)
        if x.dtype != other.dtype:
            raise TypeError(f"{where} is {x.dtype}, but its parameters are {other.dtype}")
        if not x.flags.c_contiguous:
            raise ValueError(f"{where} is not contiguous: its elements are not side by side")
        if x.shape != other.shape:
            raise ValueError(f"{where} has shape {x.shape}, but its parameters have {other.shape}")
        if finite:
            _finite(where, x)
    return [x.reshape(-1) for x in found]


def _check_kind(name: str, array: Any, updated: bool = False) -> None:
    """Refuse what is no plain NumPy array, and one that must be updated in place and cannot be."""
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{name} is a {type(array).__name__}; pass a NumPy array")
    if updated and array.dtype not in DTYPES:
        wanted = " or ".join(np.dtype(d).name for d in DTYPES)
        raise TypeError(f"{name} is {array.dtype}, not {wanted}, and is updated in place")
    if updated and not array.flags.writeable:
        raise ValueError(f"{name} is read-only and cannot be updated in place")


def _held(name: str, params: Arrays) -> Arrays:
    """Return the arrays to update; refuse those of which two share memory."""
    ends = sorted((x.ctypes.data, x.ctypes.data + x.nbytes) for x in _views(name, params) if x.size)
    if any(end > start for (_, end), (start, _) in pairwise(ends)):
        raise ValueError(f"two arrays of {name} share memory, which a step would update twice")
    return list(params) if isinstance(params, list | tuple) else params


def _finite(name: str, array: Array) -> None:
    """Refuse an array with a NaN or an infinity in it; a sum of finite numbers may overflow."""
    if not abs(np.einsum("i->", array.reshape(-1))) < np.inf and not np.isfinite(array).all():
        raise ValueError(f"{name} is not finite; nothing has been changed")


def _shaped(flat: Sequence[Array], params: Arrays) -> Arrays:
    """Return flat arrays in the shape of the parameters, one array if they are one."""
    shaped = [x.reshape(a.shape) for x, a in zip(flat, _listed(params), strict=True)]
    return shaped if isinstance(params, list | tuple) else shaped[0]


OWNERS = WeakKeyDictionary[Any, Thread]()  # the thread that uses an object


def _mine(opt: Any) -> Any:
    """Return the parameters, to the one thread that uses the object while it lives."""
    me = current_thread()
    if OWNERS.get(opt) is not me and "check_finite" in vars(opt):
        if (owner := OWNERS.setdefault(opt, me)) is not me and owner.is_alive():
            raise RuntimeError("another thread uses it; copy.copy(it) hands it to this one")
        OWNERS[opt] = me
    return opt.params


def _set(opt: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute, a number in its domain; refuse a name that there is not."""
    held = vars(opt)
    like = held.get(name)
    if domains.get(name):
        value = _fitting(name, value, 0.0, domains[name])
    elif "check_finite" in held and (name not in held or name == "params"):
        near = ", ".join(get_close_matches(name, held, 1) or domains)
        raise AttributeError(f"{type(opt).__name__}.{name} cannot be set; {near} can")
    elif isinstance(like, list):
        value = _fitting(name, value, like, "")
    elif isinstance(like, np.ndarray):
        kinds = [(type(x), np.shape(x), getattr(x, "dtype", None)) for x in (value, like)]
        value = value if kinds[0] == kinds[1] else _fitting(name, value, like, "")
    held[name] = value


def _fitting(name: str, x: Any, like: Any, domain: Any) -> Any:
    """Return a copy of what can stand in the place of another; refuse what cannot."""
    if isinstance(like, dict | list):
        if not isinstance(x, Mapping if isinstance(like, dict) else list):
            raise TypeError(f"{name} is a {type(x).__name__}, not a {type(like).__name__}")
        own, wanted = (v if isinstance(v, Mapping) else dict(enumerate(v)) for v in (x, like))
        for said, names in ("lacks", wanted.keys() - own), ("has unknown", own.keys() - wanted):
            if names:
                raise ValueError(f"{name} {said} {', '.join(sorted(map(str, names)))}")
        inner = domain if isinstance(domain, Mapping) else dict.fromkeys(wanted, domain)
        told = (lambda k: f"{name}[{k}]") if isinstance(like, list) else str
        found = {k: _fitting(told(k), own[k], wanted[k], inner[k]) for k in wanted}
        return found if isinstance(like, dict) else list(found.values())
    kind, other = ((getattr(v, "dtype", "a number"), np.shape(v)) for v in (like, x))
    if isinstance(like, np.ndarray):
        if type(x) is not np.ndarray or kind != other:
            raise ValueError(f"{name} is {other}, but here it must be {kind}")
    elif not isinstance(x, np.floating | np.integer | int | float) or isinstance(x, bool):
        raise TypeError(f"{name} = {x!r} is no number")
    low, high = map(float, (domain or "(-inf, inf)")[1:-1].split(","))
    inside = ((x > low) | (domain[:1] == "[") & (x == low)) & (x < high)
    if not np.all(inside | (domain[-1:] == "]") & (x == high)):
        raise ValueError(f"{name} = {x!r} is outside {domain}")
    if isinstance(like, int) and x != int(x):
        raise ValueError(f"{name} = {x!r} is no whole number")
    return x.copy() if isinstance(x, np.ndarray) else type(like)(x)


def _load(opt: Any, saved: Any, numbers: Any, kept: Mapping[str, Any], **left: Any) -> None:
    """Take all of what was saved; where something is wrong, none of it."""
    like = opt.state_dict() | {name: x if saved.get(name) else {} for name, x in left.items()}
    domains = {"t": "[0, inf)", "hyperparameters": numbers}
    domains |= {name.lstrip("_"): domain for name, domain in kept.items()}
    found = _fitting("the saved state", saved, like, domains)
    if bool(found.get("sums")) != bool(found.get("draws")):
        raise ValueError("of the saved sums and draws one is empty and the other is not")
    values = _listed(found.pop(next(iter(kept))))
    found |= found.pop("hyperparameters")
    trial = copy(opt)
    vars(trial)["params"] = deepcopy(opt.params)
    for one in (trial, opt):
        rest = np.concatenate([x.ravel() for x in values])
        for array in _listed(one.params):
            array[...], rest = rest[: array.size].reshape(array.shape), rest[array.size :]
        vars(one).update({f"_{k}" if f"_{k}" in kept else k: x for k, x in found.items()})
        getattr(one, "_check_state", bool)()


def _told(opt: Any, numbers: Mapping[str, str]) -> str:
    """Return what an object is: its arrays, its hyperparameters, its steps."""
    arrays = _listed(opt.params)
    shapes = [f"{x.dtype}{list(x.shape)}" for x in arrays[:3]] + ["…"] * (len(arrays) > 3)
    values = [f"{name}={getattr(opt, name)!r}" for name in (*numbers, "t")]
    return f"{type(opt).__name__}({', '.join(shapes + values)})"


THREADED = 65536  # elements from which a thread of its own is worth its start
PORTION = 2048  # elements of which a thread takes a whole number, so that blocks stay whole
PROCESS = getpid()  # where this was imported


def _run(serial: Any, threaded: Any, rows: Sequence[Sequence[Array]], *numbers: float) -> None:
    """Run a kernel on lists of arrays, on those in the same place of every list at a time."""
    dtype = None
    for arrays in zip(*rows, strict=True):
        if arrays[0].dtype is not dtype:
            dtype = arrays[0].dtype
            typed = [tuple(map(dtype.type, numbers))] if numbers else []
        if stretch := _stretch(arrays[0].size):
            threaded(stretch, *typed, *arrays)
        else:
            serial(*arrays, *typed)


def _stretch(size: int) -> int:
    """Return how many elements a thread takes, whole portions; 0 where one thread takes all.

    One does in a process that was forked off this one, where the others have ended.
    """
    few = size < THREADED or getpid() != PROCESS
    threads = 1 if few else min(get_num_threads(), 1 + size // THREADED)
    return (size // threads // PORTION + 1) * PORTION if threads > 1 else 0


CALLED = {"fastmath": FASTMATH, "error_model": "numpy"}
INLINED = CALLED | {"forceinline": True}


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        hint = f", or {other} with the noise itself" if other else ""
        raise TypeError(f"pass rng=np.random.default_rng(seed){hint}")
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


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _signs_threads(
    out: Array, p: Array, low: Any, high: Any, key: Any, stream: int, stretch: int
) -> None:
    """Fill `out` from the beginning of a stream with threads, or without where `stretch` is 0."""
    if stretch == 0:
        _signs(out, p, low, high, key, stream, 0)
        return
    for part in prange(-(-out.size // stretch)):
        begin, end = part * stretch, (part + 1) * stretch
        _signs(out[begin:end], p[begin:end], low, high, key, stream, begin)
