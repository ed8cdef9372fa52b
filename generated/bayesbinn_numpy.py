"""BayesBiNN.

The Bayesian learning rule for the candidate: Bernoulli on signs, θ in {-1, +1}.

Here λ is natural parameter; g is a minibatch estimate of the gradient of the loss, at theta (the
sum over all N rows, or N/M times that over the M rows of a minibatch, without the prior, whose λ₀
the update adds); ε is ½log(u/(1−u)) with u uniform on (0, 1); x⁺ is the next value of x.

The loss is probed at:

    θ = tanh((λ + ε)/τ)

Update:

    μ = tanh(λ)
    λ⁺ = (1 − ρ)λ − ρ(1 − θ²)g/(τ(1 − μ²)) + ρλ₀

Approximations, in the order in which they were made:

    relax: θ = sign(λ + ε) is relaxed to tanh((λ + ε)/τ), so that the loss has a gradient
    stochastic: a minibatch stands for the data
    prior=total: −log p(θ) = −λ₀T(θ) + const is linear in T, so its gradient in μ is −λ₀

Hyperparameters:

    rho   step size of the rule, in [0, 1], 0.1 by default
    tau   temperature of the relaxation, in (0, ∞), 1 by default
    lam0  natural parameter of the prior, in (−∞, ∞), 0 by default

See Meng, Bachmann & Khan (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from difflib import get_close_matches
from itertools import pairwise
from threading import Thread, current_thread
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

__all__ = ["BayesBiNN"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = {"rho": "[0, 1]", "tau": "(0, inf)", "lam0": "(-inf, inf)"}
KEPT = {"lam": "(-inf, inf)", "_pending": "(-inf, inf)"}


def _draw(theta: Array, lam: Array, eps: Array, numbers: Numbers) -> None:
    """Write where to evaluate the loss into theta."""
    (tau,) = numbers
    theta[:] = np.tanh((eps + lam) / tau)


def _step(theta: Array, lam: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    one_minus_rho, lam0_times_rho, rho_over_tau = numbers
    cosh_lam = np.cosh(lam)
    part = one_minus_rho * lam + lam0_times_rho
    lam[:] = part - rho_over_tau * g * (1 - theta) * (1 + theta) * (cosh_lam * cosh_lam)


class BayesBiNN:
    """BayesBiNN.

    `params` is the array, or the list of arrays, with the natural parameter; it is updated in
    place. Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = BayesBiNN(params)
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
        check_finite: bool = True,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho, self.tau, self.lam0 = rho, tau, lam0
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self._pending: dict[str, list[Array]] = {}  # what the last draw left
        self.check_finite = check_finite

    @property
    def lam(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(_mine(self))]

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        theta = [np.empty_like(lam) for lam in self.lam]
        eps = _noise("eps", eps, rng, self.params, _logistics, self.check_finite, 0.0, 0.5)
        for arrays in zip(theta, self.lam, eps, strict=True):
            _draw(*arrays, *_typed(arrays[0], self.tau))
        self._pending = {"theta": theta}
        return _lent(theta, self.params)

    def step(self, g: Arrays, *, rng: np.random.Generator | None = None) -> Arrays | None:
        """Update the parameters in place from g, where `draw` said; with rng, draw again."""
        if rng is not None:
            _generator(rng)
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self.params, self.check_finite)
        one_minus_rho = 1 - self.rho
        lam0_times_rho = self.lam0 * self.rho
        rho_over_tau = self.rho / self.tau
        numbers = one_minus_rho, lam0_times_rho, rho_over_tau
        for arrays in zip(self._pending["theta"], self.lam, g, strict=True):
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
        _generator(rng)
        means, _ = self.posterior()
        values = [
            np.where(rng.random(mean.shape, mean.dtype) < (mean + 1) / 2, 1, -1).astype(mean.dtype)
            for mean in _listed(means)
        ]
        return _shaped(values, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies; save rng.bit_generator.state beside it."""
        hyperparameters = {name: deepcopy(getattr(self, name)) for name in HYPERPARAMETERS}
        kept = {name.lstrip("_"): deepcopy(getattr(self, name)) for name in KEPT}
        return {"t": self.t, "hyperparameters": hyperparameters, **kept}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        _load(self, saved, HYPERPARAMETERS, KEPT, pending={"theta": self.lam})

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


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


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        hint = f", or {other} with the noise itself" if other else ""
        raise TypeError(f"pass rng=np.random.default_rng(seed){hint}")
    return rng


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
    finite: bool = False,
    *numbers: float,
) -> list[Array]:
    """Return a copy of the noise that was given, or draw it."""
    if given is not None:
        return [array.copy() for array in _views(name, given, params, finite)]
    rng = _generator(rng, f"{name}=")
    return [distribution(rng, array.reshape(-1), *numbers) for array in _listed(params)]
