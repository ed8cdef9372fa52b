"""VOGN.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m,
diag(s)⁻¹).

Here m is mean; s is precision; g is a minibatch estimate of the gradient of the loss, at
theta; h is the sum over examples of gᵢ∘gᵢ, at theta; ε is standard normal noise; x⁺ is the
next value of x.

The loss is probed at:

    θ = m + ε/√s

Update:

    s⁺ = ρ·(h + δ) + (1 − ρ)·s
    m⁺ = m − ρ·g/s⁺

Approximations, in the order in which they were made:

    stochastic: one draw θ ~ q and a minibatch stand for the expectation and the data
    hessian=gauss-newton: ∇²ℓ ≈ Σᵢ gᵢ∘gᵢ over the examples of the data part; the
        regulariser's own curvature, δ, is known and is added exactly

Hyperparameters:

    rho    step size of the rule, in (0, 1], 0.1 by default
    delta  precision of the Gaussian prior (weight decay), in [0, ∞), 0.0001 by default

See Khan et al. (2018).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["VOGN"]

DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]


def _draw(theta: Array, m: Array, s: Array, eps: Array) -> None:
    """Write where to evaluate the loss into theta."""
    theta[:] = m + eps / np.sqrt(s)


def _observe(g: Array, h: Array, g_sum: Array, h_sum: Array) -> None:
    """Add what one draw has shown to the sums."""
    g_sum[:] += g
    h_sum[:] += h


def _step(
    m: Array, s: Array, g: Array, h: Array, rho: float, delta: float, one_minus_rho: float
) -> None:
    """Update every element in place."""
    real = m.dtype.type
    rho = real(rho)
    delta = real(delta)
    one_minus_rho = real(one_minus_rho)
    s_next = rho * (h + delta) + one_minus_rho * s
    m_next = m - rho * g / s_next
    m[:] = m_next
    s[:] = s_next


def _step_averaged(
    m: Array,
    s: Array,
    g_sum: Array,
    h_sum: Array,
    rho: float,
    delta: float,
    draws: float,
    one_minus_rho: float,
) -> None:
    """Update every element in place, from averages over draws."""
    real = m.dtype.type
    rho = real(rho)
    delta = real(delta)
    draws = real(draws)
    one_minus_rho = real(one_minus_rho)
    g = g_sum / draws
    h = h_sum / draws
    s_next = rho * (h + delta) + one_minus_rho * s
    m_next = m - rho * g / s_next
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


class VOGN:
    """VOGN.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = VOGN(params)
        theta = opt.draw(rng)
        opt.step(g, h)  # g, h at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        rho: float = 0.1,
        delta: float = 0.0001,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self.delta = delta
        self._check_hyperparameters()
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.m = _views("params", params)
        self.s = [np.full_like(m, 1) for m in self.m]
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
        if not 0 < self.rho <= 1:
            raise ValueError(f"rho = {self.rho!r} is outside (0, 1]")
        if not 0 <= self.delta < math.inf:
            raise ValueError(f"delta = {self.delta!r} is outside [0, inf)")

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        theta = [np.empty_like(m) for m in self.m]
        eps = _noise("eps", eps, rng, self._arrays, _standard_normal)
        for index, m in enumerate(self.m):
            _draw(theta[index], m, self.s[index], eps[index])
        self._pending = {"theta": theta}
        return self._lent(theta)

    def observe(self, g: Arrays, h: Arrays) -> None:
        """Take g and h at the last draw, one of several."""
        if not self._pending:
            raise RuntimeError("observe needs a draw: call draw first")
        g = _views("g", g, self._arrays)
        h = _views("h", h, self._arrays)
        if not self._sums:
            self._sums["g_sum"] = [np.zeros_like(m) for m in self.m]
            self._sums["h_sum"] = [np.zeros_like(m) for m in self.m]
        for index in range(len(self.m)):
            _observe(g[index], h[index], self._sums["g_sum"][index], self._sums["h_sum"][index])
        self._pending = {}
        self._draws += 1

    def step(
        self,
        g: Arrays | None = None,
        h: Arrays | None = None,
        *,
        rng: np.random.Generator | None = None,
    ) -> Arrays | None:
        """Update in place from g and h at the draw, or all observed; with rng, draw again."""
        self._check_hyperparameters()
        if not self._draws and g is not None and h is not None:
            self._step_single(g, h)
        else:
            if g is not None and h is not None:
                self.observe(g, h)
            self._step_averaged()
        self.t += 1
        if rng is None:
            return None
        return self.draw(rng)

    def _step_single(self, g: Arrays, h: Arrays) -> None:
        """Estimate and update in one pass, from one draw."""
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self._arrays)
        h = _views("h", h, self._arrays)
        one_minus_rho = 1 - self.rho
        for index, m in enumerate(self.m):
            _step(m, self.s[index], g[index], h[index], self.rho, self.delta, one_minus_rho)
        self._pending = {}

    def _step_averaged(self) -> None:
        """Update from several draws, observed one by one."""
        if self._pending:
            raise RuntimeError("the last draw was not observed: pass what it showed")
        if not self._draws:
            raise RuntimeError("step needs a draw: call draw first")
        one_minus_rho = 1 - self.rho
        for index, m in enumerate(self.m):
            _step_averaged(
                m,
                self.s[index],
                self._sums["g_sum"][index],
                self._sums["h_sum"][index],
                self.rho,
                self.delta,
                float(self._draws),
                one_minus_rho,
            )
        self._sums = {}
        self._draws = 0

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means = []
        deviations = []
        for index, m in enumerate(self.m):
            means.append(m.copy())
            deviations.append(_deviation(self.s[index]))
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
            "hyperparameters": {"rho": self.rho, "delta": self.delta},
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
        self.rho = saved["hyperparameters"]["rho"]
        self.delta = saved["hyperparameters"]["delta"]

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
