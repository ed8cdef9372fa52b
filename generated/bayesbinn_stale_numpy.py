"""BayesBiNN stale mean.

The Bayesian learning rule for the candidate: Bernoulli on signs, θ in {-1, +1}.

Here λ is natural parameter; λ₋ is natural parameter one step earlier; g is a minibatch
estimate of the gradient of the loss, at theta; ε is ½log(u/(1−u)) with u uniform on (0, 1);
x⁺ is the next value of x.

The loss is probed at:

    θ = tanh((ε + λ)/τ)

Update:

    μ = tanh(λ₋)
    λ⁺ = (1 − ρ)·λ + λ₀·ρ − ρ·g·(1 − θ²)/(τ·(1 − μ²))
    λ₋⁺ = λ

Approximations, in the order in which they were made:

    relax: θ = sign(λ + ε) is relaxed to tanh((λ + ε)/τ), so that the loss has a gradient
    stochastic: a minibatch stands for the data
    prior=total: −log p(θ) = −λ₀T(θ) + const is linear in T, so its gradient in μ is −λ₀
    stale-mean: a deviation: the rule has the mean of this step, public code that of the
        step before

Hyperparameters:

    rho   step size of the rule, in (0, 1], 0.1 by default
    tau   temperature of the relaxation, in (0, ∞), 1 by default
    lam0  natural parameter of the prior, in (−∞, ∞), 0 by default

See the published BayesBiNN code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BayesBiNNStaleMean"]

DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]


def _draw(theta: Array, lam: Array, eps: Array, tau: float) -> None:
    """Write where to evaluate the loss into theta."""
    real = theta.dtype.type
    tau = real(tau)
    theta[:] = np.tanh((eps + lam) / tau)


def _step(
    theta: Array,
    lam: Array,
    lam_prev: Array,
    g: Array,
    one_minus_rho: float,
    lam0_times_rho: float,
    rho_over_tau: float,
) -> None:
    """Update every element in place."""
    real = theta.dtype.type
    one_minus_rho = real(one_minus_rho)
    lam0_times_rho = real(lam0_times_rho)
    rho_over_tau = real(rho_over_tau)
    cosh_lam_prev = np.cosh(lam_prev)
    part = rho_over_tau * g * (1 - theta) * (1 + theta) * (cosh_lam_prev * cosh_lam_prev)
    lam_next = one_minus_rho * lam + lam0_times_rho - part
    lam_prev_next = lam.copy()
    lam[:] = lam_next
    lam_prev[:] = lam_prev_next


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


def _logistic(rng: np.random.Generator, like: Array) -> Array:
    """Draw independently from Logistic(0, 1/2)."""
    edge = np.finfo(like.dtype).epsneg
    u = np.clip(rng.random(like.shape, dtype=like.dtype), edge, 1 - edge)
    return 0.5 * (np.log(u) - np.log1p(-u))


def _noise(
    name: str,
    given: Arrays | None,
    rng: np.random.Generator | None,
    like: Sequence[Array],
    distribution: Callable[[np.random.Generator, Array], Array],
) -> list[Array]:
    """Return a copy of the noise that was given, or draw it."""
    if given is not None:
        return [array.copy() for array in _views(name, given, like)]
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"pass rng=np.random.default_rng(seed), or {name}= with the noise itself")
    return [distribution(rng, array.reshape(-1)) for array in like]


class BayesBiNNStaleMean:
    """BayesBiNN stale mean.

    `params` is the array, or the list of arrays, with the natural parameter; it is updated in
    place. Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = BayesBiNNStaleMean(params)
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
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self.tau = tau
        self.lam0 = lam0
        self._check_hyperparameters()
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.lam = _views("params", params)
        self.lam_prev = [lam.copy() for lam in self.lam]
        self._pending: dict[str, Sequence[Array]] = {}  # what the last draw left

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle is made of: nothing that says where arrays lie."""
        left = ("_arrays", "lam")
        return {name: value for name, value in vars(self).items() if name not in left}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take it over; lam looks into the parameters again."""
        vars(self).update(state)
        self._arrays = _listed(self.params)
        self.lam = _views("params", self.params)

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.rho <= 1:
            raise ValueError(f"rho = {self.rho!r} is outside (0, 1]")
        if not 0 < self.tau < math.inf:
            raise ValueError(f"tau = {self.tau!r} is outside (0, inf)")
        if not -math.inf < self.lam0 < math.inf:
            raise ValueError(f"lam0 = {self.lam0!r} is outside (-inf, inf)")

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        theta = [np.empty_like(lam) for lam in self.lam]
        eps = _noise("eps", eps, rng, self._arrays, _logistic)
        for index, lam in enumerate(self.lam):
            _draw(theta[index], lam, eps[index], self.tau)
        self._pending = {"theta": theta}
        return self._lent(theta)

    def step(self, g: Arrays, *, rng: np.random.Generator | None = None) -> Arrays | None:
        """Update the parameters in place from g, where `draw` said; with rng, draw again."""
        self._check_hyperparameters()
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self._arrays)
        one_minus_rho = 1 - self.rho
        lam0_times_rho = self.lam0 * self.rho
        rho_over_tau = self.rho / self.tau
        for index, lam in enumerate(self.lam):
            _step(
                self._pending["theta"][index],
                lam,
                self.lam_prev[index],
                g[index],
                one_minus_rho,
                lam0_times_rho,
                rho_over_tau,
            )
        self._pending = {}
        self.t += 1
        if rng is None:
            return None
        return self.draw(rng)

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every binary variable."""
        means = []
        for lam in self.lam:
            means.append(np.tanh(lam))
        deviations = [np.sqrt((mean + 1) * (1 - mean)) for mean in means]
        return self._shaped(means), self._shaped(deviations)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw -1 or 1 for each; the same seed, the same draw."""
        means, _ = self.posterior()
        values = []
        for mean in _listed(means):
            u = rng.random(mean.shape, dtype=mean.dtype)
            low, high = mean.dtype.type(-1), mean.dtype.type(1)
            values.append(np.where(u < (mean + 1) / 2, high, low))
        return self._shaped(values)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to resume exactly, as copies."""
        return {
            "t": self.t,
            "hyperparameters": {"rho": self.rho, "tau": self.tau, "lam0": self.lam0},
            "lam": [x.copy() for x in self.lam],
            "lam_prev": [x.copy() for x in self.lam_prev],
            "pending": {k: [x.copy() for x in v] for k, v in self._pending.items()},
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [
            key
            for key in ("t", "hyperparameters", "lam", "lam_prev", "pending")
            if key not in saved
        ]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        lam = _restored("lam", saved["lam"], self.lam)
        lam_prev = _restored("lam_prev", saved["lam_prev"], self.lam_prev)
        pending = {k: tuple(_restored(k, v, self.lam)) for k, v in saved["pending"].items()}
        for array, value in zip(self.lam, lam, strict=True):
            array[:] = value
        for array, value in zip(self.lam_prev, lam_prev, strict=True):
            array[:] = value
        self._pending = pending
        self.t = int(saved["t"])
        self.rho = saved["hyperparameters"]["rho"]
        self.tau = saved["hyperparameters"]["tau"]
        self.lam0 = saved["hyperparameters"]["lam0"]

    def _lent(self, arrays: Sequence[Array]) -> Arrays:
        """Return arrays in the shape of the parameters, to be read only: the step reads them."""
        lent = []
        for array, like in zip(arrays, self._arrays, strict=True):
            view = array.view() if like.ndim == 1 else array.reshape(like.shape)
            view.setflags(write=False)
            lent.append(view)
        return lent if isinstance(self.params, list | tuple) else lent[0]

    def _shaped(self, flat: list[Array]) -> Arrays:
        """Return flat arrays in the shape of the parameters, one array if they are one."""
        shaped = [x.reshape(a.shape) for x, a in zip(flat, self._arrays, strict=True)]
        return shaped if isinstance(self.params, list | tuple) else shaped[0]
