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
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Vprop"]

DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]


def _draw(
    theta: Array, m: Array, s: Array, eps: Array, delta: float, one_over_sqrt_N: float
) -> None:
    """Write where to evaluate the loss into theta."""
    real = theta.dtype.type
    delta = real(delta)
    one_over_sqrt_N = real(one_over_sqrt_N)
    theta[:] = m + one_over_sqrt_N * eps / np.sqrt(s + delta)


def _observe(g: Array, g_sum: Array, h_hat_sum: Array) -> None:
    """Add what one draw has shown to the sums."""
    h_hat_sum[:] += g * g
    g_sum[:] += g


def _step(
    m: Array,
    s: Array,
    g: Array,
    alpha: float,
    beta: float,
    delta: float,
    one_minus_beta: float,
    alpha_times_delta: float,
) -> None:
    """Update every element in place."""
    real = m.dtype.type
    alpha = real(alpha)
    beta = real(beta)
    delta = real(delta)
    one_minus_beta = real(one_minus_beta)
    alpha_times_delta = real(alpha_times_delta)
    h_hat = g * g
    s_next = beta * h_hat + one_minus_beta * s
    m_next = m - (alpha * g + alpha_times_delta * m) / (np.sqrt(s_next) + delta)
    m[:] = m_next
    s[:] = s_next


def _step_averaged(
    m: Array,
    s: Array,
    g_sum: Array,
    h_hat_sum: Array,
    alpha: float,
    beta: float,
    delta: float,
    draws: float,
    one_minus_beta: float,
    alpha_times_delta: float,
) -> None:
    """Update every element in place, from averages over draws."""
    real = m.dtype.type
    alpha = real(alpha)
    beta = real(beta)
    delta = real(delta)
    draws = real(draws)
    one_minus_beta = real(one_minus_beta)
    alpha_times_delta = real(alpha_times_delta)
    g = g_sum / draws
    h_hat = h_hat_sum / draws
    s_next = beta * h_hat + one_minus_beta * s
    m_next = m - (alpha * g + alpha_times_delta * m) / (np.sqrt(s_next) + delta)
    m[:] = m_next
    s[:] = s_next


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


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


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
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.m = _views("params", params)
        self.s = [np.zeros_like(m) for m in self.m]
        self._pending: dict[str, Sequence[Array]] = {}  # what the last draw left
        self._sums: dict[str, Sequence[Array]] = {}  # over this step's draws
        self._draws = 0  # how many there are in them

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
        eps = _noise("eps", eps, rng, self._arrays, _standard_normal)
        for index, m in enumerate(self.m):
            _draw(theta[index], m, self.s[index], eps[index], self.delta, one_over_sqrt_N)
        self._pending = {"theta": theta}
        return self._lent(theta)

    def observe(self, g: Arrays) -> None:
        """Take g at the last draw, one of several."""
        if not self._pending:
            raise RuntimeError("observe needs a draw: call draw first")
        g = _views("g", g, self._arrays)
        if not self._sums:
            self._sums["g_sum"] = [np.zeros_like(m) for m in self.m]
            self._sums["h_hat_sum"] = [np.zeros_like(m) for m in self.m]
        for index in range(len(self.m)):
            _observe(g[index], self._sums["g_sum"][index], self._sums["h_hat_sum"][index])
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
        g = _views("g", g, self._arrays)
        one_minus_beta = 1 - self.beta
        alpha_times_delta = self.alpha * self.delta
        for index, m in enumerate(self.m):
            _step(
                m,
                self.s[index],
                g[index],
                self.alpha,
                self.beta,
                self.delta,
                one_minus_beta,
                alpha_times_delta,
            )
        self._pending = {}

    def _step_averaged(self) -> None:
        """Update from several draws, observed one by one."""
        if self._pending:
            raise RuntimeError("the last draw was not observed: pass what it showed")
        if not self._draws:
            raise RuntimeError("step needs a draw: call draw first")
        one_minus_beta = 1 - self.beta
        alpha_times_delta = self.alpha * self.delta
        for index, m in enumerate(self.m):
            _step_averaged(
                m,
                self.s[index],
                self._sums["g_sum"][index],
                self._sums["h_hat_sum"][index],
                self.alpha,
                self.beta,
                self.delta,
                float(self._draws),
                one_minus_beta,
                alpha_times_delta,
            )
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
            "hyperparameters": {
                "alpha": self.alpha,
                "beta": self.beta,
                "delta": self.delta,
                "N": self.N,
            },
            "m": [x.copy() for x in self.m],
            "s": [x.copy() for x in self.s],
            "pending": {k: [x.copy() for x in v] for k, v in self._pending.items()},
            "sums": {k: [x.copy() for x in v] for k, v in self._sums.items()},
            "draws": self._draws,
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [
            key
            for key in ("t", "hyperparameters", "m", "s", "pending", "sums", "draws")
            if key not in saved
        ]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        m = _restored("m", saved["m"], self.m)
        s = _restored("s", saved["s"], self.s)
        pending = {k: tuple(_restored(k, v, self.m)) for k, v in saved["pending"].items()}
        sums = {k: tuple(_restored(k, v, self.m)) for k, v in saved["sums"].items()}
        for array, value in zip(self.m, m, strict=True):
            array[:] = value
        for array, value in zip(self.s, s, strict=True):
            array[:] = value
        self._pending = pending
        self._sums = sums
        self._draws = int(saved["draws"])
        self.t = int(saved["t"])
        self.alpha = saved["hyperparameters"]["alpha"]
        self.beta = saved["hyperparameters"]["beta"]
        self.delta = saved["hyperparameters"]["delta"]
        self.N = saved["hyperparameters"]["N"]

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
