"""Vprop.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m,
diag(s)⁻¹).

Here m is mean; s is curvature of the loss alone, per example; g is a minibatch estimate of
the gradient of the loss, at theta; ε is standard normal noise; x⁺ is the next value of x.

The loss is probed at:

    θ = m + ε/(√N·√(s + δ))

Estimated there, and averaged over several such points:

    ĥ = g²

Update:

    s⁺ = β·ĥ + (1 − β)·s
    m⁺ = m − α·(g + δ·m)/(√s⁺ + δ)

Approximations, in the order in which they were made:

    stochastic: one draw θ ~ q and a minibatch stand for the expectation and the data
    ess: ℓ is N times the mean loss ℓ̄ that the probes now mean, and s → Ns, so that N
        stands in front of the precision
    hessian=squared-gradient: the square of the minibatch gradient stands for the curvature
    prior=apart: ½δ‖θ‖² is added to the loss: δm enters with the gradient; s keeps the
        curvature of the loss alone, precision N(s + δ)
    square-root: s → √s where it divides the mean step; s is an average and may start at 0
    separate-rates: once mean and scale have equations of their own, each gets a step size
        of its own

Hyperparameters:

    alpha  step size of the mean, in (0, ∞), 0.001 by default
    beta   step size of the scale, in (0, 1], 0.01 by default
    delta  precision of the Gaussian prior (weight decay), per example, in [0, ∞), 0.0001 by
           default
    N      effective number of examples, in (0, ∞), 1000 by default

See Khan et al. (2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Vprop"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = ("alpha", "beta", "delta", "N")
KEPT = ("m", "s", "_pending", "_sums", "_draws")


def _draw(theta: Array, m: Array, s: Array, eps: Array, numbers: Numbers) -> None:
    """Write where to evaluate the loss into theta."""
    delta, one_over_sqrt_N = numbers
    theta[:] = m + one_over_sqrt_N * eps / np.sqrt(s + delta)


def _step(m: Array, s: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    alpha, beta, delta, one_minus_beta, alpha_times_delta = numbers
    h_hat = g * g
    s_next = beta * h_hat + one_minus_beta * s
    m[:] = m - (alpha * g + alpha_times_delta * m) / (np.sqrt(s_next) + delta)
    s[:] = s_next


class Vprop:
    """Vprop.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = Vprop(params)
        theta = opt.draw(rng)
        opt.step(g)  # g at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        alpha: float = 0.001,
        beta: float = 0.01,
        delta: float = 0.0001,
        N: float = 1000.0,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha = alpha
        self.beta = beta
        self.delta = delta
        self.N = N
        self._check_hyperparameters()
        _views("params", params)
        self.params = params
        self.t = 0  # steps taken
        self.s = [np.zeros_like(m) for m in self.m]
        self._pending: dict[str, list[Array]] = {}  # what the last draw left
        self._sums: dict[str, list[Array]] = {}  # over this step's draws
        self._draws = 0  # how many there are in them

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [array.reshape(-1) for array in _listed(self.params)]

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha!r} is outside (0, inf)")
        if not 0 < self.beta <= 1:
            raise ValueError(f"beta = {self.beta!r} is outside (0, 1]")
        if not 0 <= self.delta < math.inf:
            raise ValueError(f"delta = {self.delta!r} is outside [0, inf)")
        if not 0 < self.N < math.inf:
            raise ValueError(f"N = {self.N!r} is outside (0, inf)")

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        one_over_sqrt_N = 1 / math.sqrt(self.N)
        theta = [np.empty_like(m) for m in self.m]
        eps = _noise("eps", eps, rng, self.params, _normals)
        for arrays in zip(theta, self.m, self.s, eps, strict=True):
            _draw(*arrays, *_typed(arrays[0], self.delta, one_over_sqrt_N))
        self._pending = {"theta": theta}
        return _lent(theta, self.params)

    def observe(self, g: Arrays) -> None:
        """Take g at the last draw, one of several."""
        if not self._pending:
            raise RuntimeError("observe needs a draw: call draw first")
        g = _views("g", g, self.params)
        if not self._sums:
            self._sums["g_sum"] = [np.zeros_like(m) for m in self.m]
            self._sums["h_hat_sum"] = [np.zeros_like(m) for m in self.m]
        for arrays in zip(g, self._sums["g_sum"], self._sums["h_hat_sum"], strict=True):
            _observe(*arrays)
        self._pending = {}
        self._draws += 1

    def step(
        self, g: Arrays | None = None, *, rng: np.random.Generator | None = None
    ) -> Arrays | None:
        """Update in place from g at the draw, or all observed; with rng, draw again."""
        self._check_hyperparameters()
        if not self._draws and g is not None:
            self._step_single(g)
        else:
            if g is not None:
                self.observe(g)
            self._step_averaged()
        self.t += 1
        if rng is None:
            return None
        return self.draw(rng)

    def _step_single(self, g: Arrays) -> None:
        """Estimate and update in one pass, from one draw."""
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self.params)
        one_minus_beta = 1 - self.beta
        alpha_times_delta = self.alpha * self.delta
        numbers = self.alpha, self.beta, self.delta, one_minus_beta, alpha_times_delta
        for arrays in zip(self.m, self.s, g, strict=True):
            _step(*arrays, *_typed(arrays[0], *numbers))
        self._pending = {}

    def _step_averaged(self) -> None:
        """Update from several draws, observed one by one."""
        if self._pending:
            raise RuntimeError("the last draw was not observed: pass what it showed")
        if not self._draws:
            raise RuntimeError("step needs a draw: call draw first")
        one_minus_beta = 1 - self.beta
        alpha_times_delta = self.alpha * self.delta
        numbers = (
            self.alpha, self.beta, self.delta, float(self._draws), one_minus_beta,
            alpha_times_delta,
        )  # fmt: skip
        for arrays in zip(
            self.m, self.s, self._sums["g_sum"], self._sums["h_hat_sum"], strict=True
        ):
            _step_averaged(*arrays, *_typed(arrays[0], *numbers))
        self._sums = {}
        self._draws = 0

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means = []
        deviations = []
        for index, m in enumerate(self.m):
            real = m.dtype.type
            means.append(m.copy())
            deviations.append(_deviation(real(self.N) * (self.s[index] + real(self.delta))))
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
                current = dict.fromkeys(value, self.m)
            found[x] = _restored(x.lstrip("_"), value, current)
        for array, value in zip(self.m, found.pop("m"), strict=True):
            array[:] = value
        vars(self).update(found, t=int(saved["t"]))


# --- The same rule in other passes over memory, and what is made for it alone


def _observe(g: Array, g_sum: Array, h_hat_sum: Array) -> None:
    """Add what one draw has shown to the sums."""
    g_sum[:] += g
    h_hat_sum[:] += g * g


def _step_averaged(m: Array, s: Array, g_sum: Array, h_hat_sum: Array, numbers: Numbers) -> None:
    """Update every element in place, from averages over draws."""
    alpha, beta, delta, draws, one_minus_beta, alpha_times_delta = numbers
    g = g_sum / draws
    h_hat = h_hat_sum / draws
    s_next = beta * h_hat + one_minus_beta * s
    m[:] = m - (alpha * g + alpha_times_delta * m) / (np.sqrt(s_next) + delta)
    s[:] = s_next


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


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


def _normals(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)


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
