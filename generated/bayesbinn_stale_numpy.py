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
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["BayesBiNNStaleMean"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = ("rho", "tau", "lam0")
KEPT = ("lam", "lam_prev", "_pending")


def _draw(theta: Array, lam: Array, eps: Array, numbers: Numbers) -> None:
    """Write where to evaluate the loss into theta."""
    (tau,) = numbers
    theta[:] = np.tanh((eps + lam) / tau)


def _step(theta: Array, lam: Array, lam_prev: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    one_minus_rho, lam0_times_rho, rho_over_tau = numbers
    cosh_lam_prev = np.cosh(lam_prev)
    part = rho_over_tau * g * (1 - theta) * (1 + theta) * (cosh_lam_prev * cosh_lam_prev)
    lam_prev_next = np.copy(lam)
    lam[:] = one_minus_rho * lam + lam0_times_rho - part
    lam_prev[:] = lam_prev_next


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
        _views("params", params)
        self.params = params
        self.t = 0  # steps taken
        self.lam_prev = [lam.copy() for lam in self.lam]
        self._pending: dict[str, list[Array]] = {}  # what the last draw left

    @property
    def lam(self) -> list[Array]:
        """The parameters as flat views."""
        return [array.reshape(-1) for array in _listed(self.params)]

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
        eps = _noise("eps", eps, rng, self.params, _logistics, 0.0, 0.5)
        for arrays in zip(theta, self.lam, eps, strict=True):
            _draw(*arrays, *_typed(arrays[0], self.tau))
        self._pending = {"theta": theta}
        return _lent(theta, self.params)

    def step(self, g: Arrays, *, rng: np.random.Generator | None = None) -> Arrays | None:
        """Update the parameters in place from g, where `draw` said; with rng, draw again."""
        self._check_hyperparameters()
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self.params)
        one_minus_rho = 1 - self.rho
        lam0_times_rho = self.lam0 * self.rho
        rho_over_tau = self.rho / self.tau
        numbers = one_minus_rho, lam0_times_rho, rho_over_tau
        for arrays in zip(self._pending["theta"], self.lam, self.lam_prev, g, strict=True):
            _step(*arrays, *_typed(arrays[0], *numbers))
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
        return _shaped(means, self.params), _shaped(deviations, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw -1 or 1 for each; the same seed, the same draw."""
        means, _ = self.posterior()
        values = []
        for mean in _listed(means):
            u = rng.random(mean.shape, dtype=mean.dtype)
            low, high = mean.dtype.type(-1), mean.dtype.type(1)
            values.append(np.where(u < (mean + 1) / 2, high, low))
        return _shaped(values, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return everything that is needed to resume exactly, as copies."""
        hyperparameters = {name: deepcopy(getattr(self, name)) for name in HYPERPARAMETERS}
        kept = {name.lstrip("_"): deepcopy(getattr(self, name)) for name in KEPT}
        return {"t": self.t, "hyperparameters": hyperparameters, **kept}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        names = ["t", "hyperparameters", *(x.lstrip("_") for x in KEPT)]
        missing = [x for x in names if x not in saved]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        found = {x: deepcopy(saved["hyperparameters"][x]) for x in HYPERPARAMETERS}
        for x in KEPT:
            value, current = saved[x.lstrip("_")], getattr(self, x)
            if isinstance(value, dict):
                current = dict.fromkeys(value, self.lam)
            found[x] = _restored(x.lstrip("_"), value, current)
        for array, value in zip(self.lam, found.pop("lam"), strict=True):
            array[:] = value
        vars(self).update(found, t=int(saved["t"]))


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


def _uniforms(
    rng: np.random.Generator, like: Array, location: float = 0.0, scale: float = 1.0
) -> Array:
    """Draw independently and evenly between location and location + scale, its ends excluded."""
    edge = np.finfo(like.dtype).epsneg
    u = np.clip(rng.random(like.shape, dtype=like.dtype), edge, 1 - edge)
    return location + scale * u


def _logistics(
    rng: np.random.Generator, like: Array, location: float = 0.0, scale: float = 1.0
) -> Array:
    """Draw independently from location + scale·log(u/(1 − u)), u uniform."""
    u = _uniforms(rng, like)
    return location + scale * (np.log(u) - np.log1p(-u))


def _noise(
    name: str,
    given: Arrays | None,
    rng: np.random.Generator | None,
    params: Arrays,
    distribution: Callable[..., Array],
    *numbers: float,
) -> list[Array]:
    """Return a copy of the noise that was given, or draw it."""
    if given is not None:
        return [array.copy() for array in _views(name, given, params)]
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"pass rng=np.random.default_rng(seed), or {name}= with the noise itself")
    return [distribution(rng, array.reshape(-1), *numbers) for array in _listed(params)]
