"""Momentum.

The Bayesian learning rule for the candidate: Gaussian with unit covariance, N(m, I).

Here m is mean; u is moving average of the gradient; g is a minibatch estimate of the
gradient of the loss, at the mean m; x⁺ is the next value of x.

Update:

    u⁺ = g + γ·u
    m⁺ = m − ρ·u⁺

Approximations, in the order in which they were made:

    delta: 𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean
    stochastic: a minibatch stands for the data
    momentum: the last step, λ − λ₋, is repeated in natural coordinates
    momentum: an exact change of state: the last step, by the step size

Hyperparameters:

    rho    step size of the rule, in (0, 1], 0.1 by default
    gamma  momentum: how much of the last step is repeated, in [0, 1), 0.9 by default

See Polyak (1964).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Momentum"]

DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]


def _step(m: Array, u: Array, g: Array, rho: float, gamma: float) -> None:
    """Update every element in place."""
    real = m.dtype.type
    rho = real(rho)
    gamma = real(gamma)
    u_next = g + gamma * u
    m_next = m - rho * u_next
    m[:] = m_next
    u[:] = u_next


def _views(name: str, arrays: Arrays, like: Sequence[Array] | None = None) -> list[Array]:
    """Return one array or several as flat views; refuse what cannot be used as it is."""
    if like is not None and len(like) == 1 and type(arrays) is np.ndarray:
        usual = arrays.dtype == like[0].dtype and arrays.flags.c_contiguous
        if usual and arrays.shape == like[0].shape:
            return [arrays if arrays.ndim == 1 else arrays.reshape(-1)]
    several = isinstance(arrays, list | tuple)
    found: list[Any] = list(arrays) if several else [arrays]
    if like is not None and len(found) != len(like):
        raise ValueError(f"{name}: {len(found)} arrays for {len(like)} arrays of parameters")
    for index, array in enumerate(found):
        where = f"{name}[{index}]" if several else name
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{where} is a {type(array).__name__}; pass a NumPy array")
        if array.dtype not in DTYPES:
            wanted = " or ".join(np.dtype(d).name for d in DTYPES)
            raise TypeError(f"{where} is {array.dtype}, not {wanted}; convert it with astype")
        if not array.flags.c_contiguous:
            raise ValueError(f"{where} is not contiguous; pass np.ascontiguousarray({where})")
        if like is None and not array.flags.writeable:
            raise ValueError(f"{where} is read-only and cannot be updated in place; pass a copy")
        if like is not None and array.dtype != like[index].dtype:
            raise TypeError(f"{where} is {array.dtype}, but its parameters are {like[index].dtype}")
        if like is not None and array.shape != like[index].shape:
            raise ValueError(
                f"{where} has shape {array.shape}, but its parameters have {like[index].shape}"
            )
    return [array.reshape(-1) for array in found]


def _listed(arrays: Arrays) -> list[Array]:
    """Return one array or several as a list."""
    return list(arrays) if isinstance(arrays, list | tuple) else [arrays]


def _restored(name: str, saved: Sequence[Array], current: Sequence[Array]) -> list[Array]:
    """Return copies of saved arrays; refuse those that do not fit the current ones."""
    if len(saved) != len(current):
        raise ValueError(f"saved {name}: {len(saved)} arrays, but there are {len(current)}")
    for index, (old, new) in enumerate(zip(saved, current, strict=True)):
        if old.shape != new.shape or old.dtype != new.dtype:
            raise ValueError(
                f"saved {name}[{index}] is {old.dtype} of shape {old.shape}, "
                f"but the parameters need {new.dtype} of shape {new.shape}"
            )
    return [array.copy() for array in saved]


def _standard_normal(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


class Momentum:
    """Momentum.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = Momentum(params)
        opt.step(g)
    """

    def __init__(
        self,
        params: Arrays,
        *,
        rho: float = 0.1,
        gamma: float = 0.9,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self.gamma = gamma
        self._check_hyperparameters()
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.m = _views("params", params)
        self.u = [np.zeros_like(m) for m in self.m]

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle is made of: nothing that says where arrays lie."""
        left = ("_arrays", "m")
        return {name: value for name, value in vars(self).items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it over; m looks into the parameters again."""
        vars(self).update(state)
        self._arrays = _listed(self.params)
        self.m = _views("params", self.params)

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.rho <= 1:
            raise ValueError(f"rho = {self.rho!r} is outside (0, 1]")
        if not 0 <= self.gamma < 1:
            raise ValueError(f"gamma = {self.gamma!r} is outside [0, 1)")

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, at m."""
        self._check_hyperparameters()
        g = _views("g", g, self._arrays)
        for index, m in enumerate(self.m):
            _step(m, self.u[index], g[index], self.rho, self.gamma)
        self.t += 1

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means = []
        deviations = []
        for m in self.m:
            means.append(m.copy())
            deviations.append(_deviation(np.full_like(m, 1)))
        return self._shaped(means), self._shaped(deviations)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        means, deviations = self.posterior()
        pairs = zip(_listed(means), _listed(deviations), strict=True)
        return self._shaped([m + s * _standard_normal(rng, m) for m, s in pairs])

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to resume exactly, as copies."""
        return {
            "t": self.t,
            "hyperparameters": {"rho": self.rho, "gamma": self.gamma},
            "m": [x.copy() for x in self.m],
            "u": [x.copy() for x in self.u],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [key for key in ("t", "hyperparameters", "m", "u") if key not in saved]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        m = _restored("m", saved["m"], self.m)
        u = _restored("u", saved["u"], self.u)
        for array, value in zip(self.m, m, strict=True):
            array[:] = value
        for array, value in zip(self.u, u, strict=True):
            array[:] = value
        self.t = int(saved["t"])
        self.rho = saved["hyperparameters"]["rho"]
        self.gamma = saved["hyperparameters"]["gamma"]

    def _shaped(self, flat: list[Array]) -> Arrays:
        """Return flat arrays in the shape of the parameters, one array if they are one."""
        shaped = [x.reshape(a.shape) for x, a in zip(flat, self._arrays, strict=True)]
        return shaped if isinstance(self.params, list | tuple) else shaped[0]
