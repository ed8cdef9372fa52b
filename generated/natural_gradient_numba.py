"""Natural gradient.

The Bayesian learning rule for the candidate: Gaussian with unknown mean and variance, N(m, v).

Here m is mean; v is variance; g is the gradient of the loss, in expectation under q (the sum over
all rows, with the prior's in it); h is the second derivative of the loss, in expectation under q
(the sum over all rows, with the prior's in it); x⁺ is the next value of x.

Update:

    m⁺ = m − ρvg
    v⁺ = (1 + ρ)v − ρv²h

Approximations, in the order in which they were made:

    coordinates=working: the natural-gradient step taken in (m, v): ψ⁺ = ψ − ρF_ψ⁻¹∇_ψ(𝔼_q[ℓ] − 𝓗)

Hyperparameters:

    rho  step size of the rule, in [0, 1], 0.1 by default

See Amari (1998).
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from os import getpid
from typing import Any, TypeAlias

import numpy as np
from numba import config, get_num_threads, njit, prange
from numpy.typing import NDArray

__all__ = ["NaturalGradient"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = {"rho": "[0, 1]"}


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step(m: Array, v: Array, g: Array, h: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    rho, one_plus_rho = numbers
    for i in range(m.size):
        m[i] = m[i] - rho * g[i] * v[i]
        v[i] = one_plus_rho * v[i] - rho * h[i] * (v[i] * v[i])


class NaturalGradient:
    """Natural gradient.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps.

        opt = NaturalGradient(params)
        opt.step(g, h)
    """

    def __init__(self, params: Arrays, *, rho: float = 0.1, check_finite: bool = True) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self.v = [np.full_like(m, 1) for m in self.m]
        self.check_finite = check_finite

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(self.params)]

    def step(self, g: Arrays, h: Arrays) -> None:
        """Update the parameters in place from g and h, at m."""
        g = _views("g", g, self.params, self.check_finite)
        h = _views("h", h, self.params, self.check_finite)
        one_plus_rho = 1 + self.rho
        _run(_step, _step_threads, (self.m, self.v, g, h), self.rho, one_plus_rho)
        self.t += 1

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means, deviations = [], []
        for m, v in zip(self.m, self.v, strict=True):
            means.append(m.copy())
            deviations.append(_deviation(1 / v))
        return _shaped(means, self.params), _shaped(deviations, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        _generator(rng)
        means, deviations = self.posterior()
        pairs = zip(_listed(means), _listed(deviations), strict=True)
        values = [mean + deviation * _normals(rng, mean) for mean, deviation in pairs]
        return _shaped(values, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies."""
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        return deepcopy({"t": self.t, "hyperparameters": numbers, "m": self.params, "v": self.v})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        _load(self, saved, "m", HYPERPARAMETERS | {"v": "(0, inf)"})

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


# --- The same rule in other passes over memory, and what is made for it alone


@njit(cache=True, parallel=True, fastmath=FASTMATH, error_model="numpy")
def _step_threads(stretch: int, numbers: Numbers, *arrays: Array) -> None:
    """Run `_step` on stretches of the arrays, with threads."""
    m, v, g, h = arrays
    for part in prange(-(-m.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(m[here], v[here], g[here], h[here], numbers)


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


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError("pass rng=np.random.default_rng(seed)" + f", or {other}" * bool(other))
    return rng


def _normals(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)
