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
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["STE"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = ("alpha",)
KEPT = ("lam",)


def _draw(theta: Array, lam: Array) -> None:
    """Write where to evaluate the loss into theta."""
    theta[:] = np.sign(lam)


def _step(lam: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    (alpha,) = numbers
    lam[:] = lam - alpha * g


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
        _views("params", params)
        self.params = params
        self.t = 0  # steps taken

    @property
    def lam(self) -> list[Array]:
        """The parameters as flat views."""
        return [array.reshape(-1) for array in _listed(self.params)]

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.alpha < math.inf:
            raise ValueError(f"alpha = {self.alpha!r} is outside (0, inf)")

    def draw(self) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        self._check_hyperparameters()
        theta = [np.empty_like(lam) for lam in self.lam]
        for arrays in zip(theta, self.lam, strict=True):
            _draw(*arrays)
        return _lent(theta, self.params)

    def step(self, g: Arrays) -> None:
        """Update the parameters in place from g, where `draw` said."""
        self._check_hyperparameters()
        g = _views("g", g, self.params)
        for arrays in zip(self.lam, g, strict=True):
            _step(*arrays, *_typed(arrays[0], self.alpha))
        self.t += 1

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
        kept = {name: deepcopy(getattr(self, name)) for name in KEPT}
        return {"t": self.t, "hyperparameters": hyperparameters, **kept}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned; parameters are written in place."""
        missing = [x for x in ("t", "hyperparameters", *KEPT) if x not in saved]
        if missing:
            raise ValueError(f"the saved state lacks {', '.join(missing)}")
        found = {x: deepcopy(saved["hyperparameters"][x]) for x in HYPERPARAMETERS}
        found |= {x: _restored(x, saved[x], getattr(self, x)) for x in KEPT}
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
