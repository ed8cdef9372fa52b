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
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["STE"]

DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]


def _draw(theta: Array, lam: Array) -> None:
    """Write where to evaluate the loss into theta."""
    theta[:] = np.sign(lam)


def _step(lam: Array, g: Array, alpha: float) -> None:
    """Update every element in place."""
    real = lam.dtype.type
    alpha = real(alpha)
    lam_next = lam - alpha * g
    lam[:] = lam_next


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
        self.params = params
        self._arrays = _listed(params)
        self.t = 0  # steps taken
        self.lam = _views("params", params)

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
        if not 0 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha!r} is outside (0, inf)")

    def draw(self) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        theta = [np.empty_like(lam) for lam in self.lam]
        for index, lam in enumerate(self.lam):
            _draw(theta[index], lam)
        return self._lent(theta)

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, where `draw` said."""
        self._check_hyperparameters()
        g = _views("g", g, self._arrays)
        for index, lam in enumerate(self.lam):
            _step(lam, g[index], self.alpha)
        self.t += 1

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
            "hyperparameters": {"alpha": self.alpha},
            "lam": [x.copy() for x in self.lam],
        }

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [key for key in ("t", "hyperparameters", "lam") if key not in saved]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        lam = _restored("lam", saved["lam"], self.lam)
        for array, value in zip(self.lam, lam, strict=True):
            array[:] = value
        self.t = int(saved["t"])
        self.alpha = saved["hyperparameters"]["alpha"]

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
