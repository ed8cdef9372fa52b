"""Natural gradient.

The Bayesian learning rule for the candidate: Gaussian with unknown mean and variance, N(m,
v).

Here m is mean; v is variance; g is the gradient of the loss, in expectation under q; h is
the second derivative of the loss, in expectation under q; x⁺ is the next value of x.

Update:

    m⁺ = m − ρ·g·v
    v⁺ = (1 + ρ)·v − ρ·h·v²

Approximations, in the order in which they were made:

    coordinates=working: the natural-gradient step taken in (m, v): ψ⁺ = ψ −
        ρF_ψ⁻¹∇_ψ(𝔼_q[ℓ] − 𝓗)

Hyperparameters:

    rho  step size of the rule, in (0, 1], 0.1 by default

See Amari (1998).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numba import get_num_threads, njit, prange
from numpy.typing import NDArray

__all__ = ["NaturalGradient"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
FASTMATH = {"contract", "nsz", "arcp", "afn"}  # NaN stays NaN; a/√x may be NaN for x = 0 or ∞
HYPERPARAMETERS = ("rho",)
KEPT = ("m", "v")


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
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = NaturalGradient(params)
        opt.step(g, h)
    """

    def __init__(
        self,
        params: Arrays,
        *,
        rho: float = 0.1,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self._check_hyperparameters()
        _views("params", params)
        self.params = params
        self.t = 0  # steps taken
        self.v = [_apart(m, 1, 1) for m in self.m]

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [array.reshape(-1) for array in _listed(self.params)]

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.rho <= 1:
            raise ValueError(f"rho = {self.rho!r} is outside (0, 1]")

    def step(self, g: Arrays, h: Arrays) -> None:
        """Update the parameters in place from g and h, at m."""
        self._check_hyperparameters()
        g = _views("g", g, self.params)
        h = _views("h", h, self.params)
        one_plus_rho = 1 + self.rho
        _run(_step, _step_threads, (self.m, self.v, g, h), self.rho, one_plus_rho)
        self.t += 1

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means = []
        deviations = []
        for index, m in enumerate(self.m):
            means.append(m.copy())
            deviations.append(_deviation(1 / self.v[index]))
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
    m, v, g, h = arrays
    for part in prange(-(-m.size // stretch)):
        here = slice(part * stretch, (part + 1) * stretch)
        _step(m[here], v[here], g[here], h[here], numbers)


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
