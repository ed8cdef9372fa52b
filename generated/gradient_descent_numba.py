"""Gradient descent.

The Bayesian learning rule for the candidate: Gaussian with unit covariance, N(m, I).

Here m is mean; g is the gradient of the loss, at the mean m (the sum or the mean over rows, with a
step size to match, with the prior's in it); x⁺ is the next value of x.

Update:

    m⁺ = m − ρg

Approximations, in the order in which they were made:

    delta: 𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean

There is no posterior: the scale of q is given and not learned and no θ is drawn from q, so that its
spread says nothing of the loss.

Hyperparameters:

    rho  step size of the rule, in [0, 1], 0.1 by default

See Cauchy (1847).
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

__all__ = ["GradientDescent"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = {"rho": "[0, 1]"}
KEPT = {"m": "(-inf, inf)"}


@njit(cache=True, fastmath=FASTMATH, error_model="numpy")
def _step(m: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    (rho,) = numbers
    for i in range(m.size):
        m[i] = m[i] - rho * g[i]


class GradientDescent:
    """Gradient descent.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's docstring
    has the equations.

        opt = GradientDescent(params)
        opt.step(g)
    """

    def __init__(self, params: Arrays, *, rho: float = 0.1, check_finite: bool = True) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self.check_finite = check_finite

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(_mine(self))]

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, at m."""
        g = _views("g", g, self.params, self.check_finite)
        _run(_step, _step_threads, (self.m, g), self.rho)
        self.t += 1

    def __getattr__(self, name: str) -> Any:
        """Say of what is not there why it is not."""
        if name in ("posterior", "sample"):
            raise AttributeError(
                f"{type(self).__name__} has no {name}: the scale of q is given and not learned and "
                "no θ is drawn from q, so that its spread says nothing of the loss"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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
    m, g = arrays
    for part in prange(-(-m.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(m[here], g[here], numbers)


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
