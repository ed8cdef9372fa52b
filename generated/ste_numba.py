"""STE.

The Bayesian learning rule for the candidate: Bernoulli on signs, θ in {-1, +1}.

Here λ is natural parameter; g is a minibatch estimate of the gradient of the loss, at
theta; x⁺ is the next value of x.

The loss is probed at:

    θ = sign(λ)

Update:

    λ⁺ = λ − α·g

Approximations, in the order in which they were made:

    relax: θ = sign(λ + ε) is relaxed to tanh((λ + ε)/τ), so that the loss has a gradient
    delta: the noise of the relaxation is put to its mean, 0
    stochastic: a minibatch stands for the data
    straight-through: the relaxation's slope over the Fisher information, (1−θ²)/(τ(1−μ²)),
        is taken as 1
    no-shrinkage: the entropy's pull is left out, (1−ρ)λ → λ; what is left of ρ is a step
        size α
    tau=0: tanh(x/τ) → sign(x) as τ → 0

Hyperparameters:

    alpha  step size, in (0, ∞), 0.001 by default

See Bengio, Léonard & Courville (2013).
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

__all__ = ["STE"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = ("alpha",)
KEPT = ("lam",)


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _draw(theta: Array, lam: Array) -> None:
    """Write where to evaluate the loss into theta."""
    for i in range(theta.size):
        theta[i] = np.sign(lam[i])


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step(lam: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    (alpha,) = numbers
    for i in range(lam.size):
        lam[i] = lam[i] - alpha * g[i]


class STE:
    """STE.

    `params` is the array, or the list of arrays, with the natural parameter; it is updated in
    place. Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = STE(params)
        theta = opt.draw()
        opt.step(g)  # g at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        alpha: float = 0.001,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha = alpha
        self._check_hyperparameters()
        _views("params", params)
        self.params = params
        self.t = 0  # steps taken

    @property
    def lam(self) -> list[Array]:
        """The parameters as flat views."""
        return [array.reshape(-1) for array in _listed(self.params)]

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha!r} is outside (0, inf)")

    def draw(self) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        theta = [np.empty_like(lam) for lam in self.lam]
        _run(_draw, _draw_threads, (theta, self.lam))
        return _lent(theta, self.params)

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, where `draw` said."""
        self._check_hyperparameters()
        g = _views("g", g, self.params)
        _run(_step, _step_threads, (self.lam, g), self.alpha)
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
        means, _ = self.posterior()
        values, key = [], int(rng.integers(2**63))
        for stream, mean in enumerate(_listed(means)):
            share = np.ravel((mean + 1) / 2)
            value, stretch = np.empty_like(share), _stretch(share.size)
            _signs_threads(value, share, -1.0, 1.0, key, stream, stretch)
            values.append(value.reshape(mean.shape))
        return _shaped(values, self.params)

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
        for array, value in zip(self.lam, found.pop("lam"), strict=True):
            array[:] = value
        vars(self).update(found, t=int(saved["t"]))


# --- The same rule in other passes over memory, and what is made for it alone


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(stretch: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step` on stretches of the arrays, with threads."""
    lam, g = arrays
    for part in prange(-(-lam.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(lam[here], g[here], numbers)


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _draw_threads(stretch: int, *arrays: Array) -> None:
    """Run `_draw` on stretches of the arrays, with threads."""
    theta, lam = arrays
    for part in prange(-(-theta.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _draw(theta[here], lam[here])


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


def _typed(like: Array, *numbers: float) -> list[tuple[Any, ...]]:
    """Return numbers in the type of an array as the last argument of a kernel, if it has some."""
    return [tuple(map(like.dtype.type, numbers))] if numbers else []


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


CALLED = {"fastmath": FASTMATH, "error_model": "numpy"}
INLINED = CALLED | {"forceinline": True}
WORDS = 1024  # of 32 bits, as many as are made at once


@njit(**INLINED)
def _round(x: Any, y: Any, left: Any) -> Any:
    """Return x + y and rotl(y, left) ⊕ (x + y)."""
    word = np.uint32
    right = word(32 - left)
    left = word(left)
    x = word(x + y)
    return x, word(word(word(y << left) | word(y >> right)) ^ x)


@njit(**INLINED)
def _rounds(x: Any, y: Any, lefts: tuple[int, ...], k: Any, other: Any) -> Any:
    """Return a pair of words after four rounds, with a part of the key added to each."""
    a, b, c, d = lefts
    x, y = _round(x, y, a)
    x, y = _round(x, y, b)
    x, y = _round(x, y, c)
    x, y = _round(x, y, d)
    return np.uint32(x + k), np.uint32(y + other)


@njit(**INLINED)
def _random_words(words: Array, count: int, key: Any, stream: int, first: int) -> None:
    """Fill `words` with pairs of random words: Threefry2x32-20 of `count` counters from `first`.

    The second words of all pairs follow the first ones. A counter is encrypted together with
    its stream, so that no two of them give the same pair (up to 2²³ streams and 2⁴⁰ counters;
    a multiple of 2³² can only be first). Four rounds are a loop: no processor looks far enough
    ahead to work on several chains of twenty.
    """
    word = np.uint32
    k0, k1 = word(key), word(np.uint64(key) >> np.uint64(32))
    k2 = word(word(k0 ^ k1) ^ word(0x1BD11BDA))
    low = word(word(first) + k0)
    high = word(word(stream + ((first >> 32) << 24)) + k1)
    for j in range(count):
        x, y = _rounds(word(low + word(j)), high, (13, 15, 26, 6), k1, word(k2 + word(1)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (17, 29, 16, 24), k2, word(k0 + word(2)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (13, 15, 26, 6), k0, word(k1 + word(3)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (17, 29, 16, 24), k1, word(k2 + word(4)))
        words[j], words[j + count] = x, y
    for j in range(count):
        x, y = _rounds(words[j], words[j + count], (13, 15, 26, 6), k2, word(k0 + word(5)))
        words[j], words[j + count] = x, y


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
