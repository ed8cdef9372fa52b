"""IVON.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m, diag(s)⁻¹).

Here m is mean; u is moving average of the gradient; h is curvature of the loss alone, per example;
g is a minibatch estimate of the gradient of the loss, at theta (the mean over the rows of a
minibatch, not times N, without the prior's δm, which the update adds); ε is standard normal noise;
t counts steps from 1; x⁺ is the next value of x.

The loss is probed at:

    θ = m + ε/√(N(h + δ))

from which a step reads the noise back:

    ε = √(N(h + δ))·(θ − m)

Estimated there, and averaged over several such points:

    ĥ = √(N(h + δ))·εg

Update:

    u⁺ = β₁u + (1 − β₁)g
    h⁺ = β₂h + (1 − β₂)ĥ + ½(1 − β₂)²(h − ĥ)²/(h + δ)
    m⁺ = m − α(δ + h₀) max(−c, min((u⁺/(1 − β₁ᵗ) + δm)/(h⁺ + δ), c))

Approximations, in the order in which they were made:

    stochastic: one draw θ ~ q and a minibatch stand for the expectation and the data
    hessian=reparam: by parts once, 𝔼_q[∇²ℓ] = −𝔼_q[∇ℓ·∇log q]; one draw stands for it
    ess: ℓ is N times the mean loss ℓ̄ that the probes now mean, and s → Ns, so that N stands in
        front of the precision
    separate-rates: once mean and scale have equations of their own, each gets a step size of its
        own
    slow-scale: from here on s₋ ≈ s where momentum compares two scales; nothing to rewrite yet
    momentum: the last step, λ − λ₋, is repeated in natural coordinates; with α → α(1−β₁) and γ →
        β₁, the rates of the equivalent proximal step
    momentum: an exact change of state, with D what divides the mean step
    prior=apart: ½δ‖θ‖² is added to the loss: δm enters outside the gradient average; s keeps the
        curvature of the loss alone, precision N(s + δ)
    rename=s:h: s is written h from here on
    bias-correction: u: after t steps an average that started at 0 has gathered the weight 1 − βᵗ
    retraction: the second-order term of the geodesic, −½Γ(step, step); in block coordinates the old
        h divides the mean step
    precision=new: the new h divides the mean step, as in natural coordinates
    clip: no coordinate moves by more than α·c
    start: h starts at h₀, to be chosen
    rescale: α is measured in units of the first scale, α → α(h₀ + δ)

Hyperparameters:

    alpha  step size of the mean, in [0, ∞), 0.1 by default
    beta1  decay of the gradient average, in [0, 1), 0.9 by default
    beta2  decay of the curvature average, in [0, 1), 0.99999 by default
    delta  precision of the Gaussian prior (weight decay), per example, in [0, ∞), 0.0001 by default
    N      effective number of examples, in (0, ∞), 1000 by default
    c      largest step of a coordinate, before the step size, in (0, ∞], ∞ by default
    h0     first value of h, in (0, ∞), 1 by default

See Shen et al. (2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from difflib import get_close_matches
from itertools import pairwise
from threading import Thread, current_thread
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

__all__ = ["IVON"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = {
    "alpha": "[0, inf)", "beta1": "[0, 1)", "beta2": "[0, 1)", "delta": "[0, inf)", "N": "(0, inf)",
    "c": "(0, inf]", "h0": "(0, inf)",
}  # fmt: skip
KEPT = {
    "m": "(-inf, inf)", "u": "(-inf, inf)", "h": "(-inf, inf)", "_pending": "(-inf, inf)",
    "_sums": "(-inf, inf)", "_draws": "[0, inf)",
}  # fmt: skip


def _draw(theta: Array, m: Array, h: Array, eps: Array, numbers: Numbers) -> None:
    """Write where to evaluate the loss into theta."""
    delta, one_over_sqrt_N = numbers
    theta[:] = m + one_over_sqrt_N * eps / np.sqrt(h + delta)


def _step(theta: Array, m: Array, u: Array, h: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    beta1, beta2, delta, N, c, one_minus_beta1, one_minus_beta2 = numbers[:7]
    one_minus_beta2_squared_over_two, alpha_times_delta_plus_h0, beta1_correction = numbers[7:]
    h_plus_delta = h + delta
    h_hat = N * g * h_plus_delta * (theta - m)
    u_next = beta1 * u + one_minus_beta1 * g
    h_minus_h_hat = h - h_hat
    part = one_minus_beta2_squared_over_two * (h_minus_h_hat * h_minus_h_hat)
    h_next = beta2 * h + one_minus_beta2 * h_hat + part / h_plus_delta
    part_2 = (delta * m + u_next / beta1_correction) / (h_next + delta)
    m[:] = m - alpha_times_delta_plus_h0 * np.maximum(-c, np.minimum(c, part_2))
    u[:] = u_next
    h[:] = h_next


class IVON:
    """IVON.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's docstring
    has the equations.

        opt = IVON(params)
        theta = opt.draw(rng)
        opt.step(g)  # g at theta
    """

    def __init__(
        self,
        params: Arrays,
        *,
        alpha: float = 0.1,
        beta1: float = 0.9,
        beta2: float = 0.99999,
        delta: float = 0.0001,
        N: float = 1000.0,
        c: float = math.inf,
        h0: float = 1.0,
        check_finite: bool = True,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha, self.beta1, self.beta2, self.delta, self.N = alpha, beta1, beta2, delta, N
        self.c, self.h0 = c, h0
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self.u = [np.zeros_like(m) for m in self.m]
        self.h = [np.full_like(m, self.h0) for m in self.m]
        self._pending: dict[str, list[Array]] = {}  # what the last draw left
        self._sums: dict[str, list[Array]] = {}  # over this step's draws
        self._draws = 0  # how many there are in them
        self.check_finite = check_finite

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(_mine(self))]

    def _check_state(self) -> None:
        """Refuse what is kept outside its domain."""
        _fitting("h", self.h, self.h, f"[{-self.delta}, inf)")

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        one_over_sqrt_N = 1 / math.sqrt(self.N)
        theta = [np.empty_like(m) for m in self.m]
        eps = _noise("eps", eps, rng, self.params, _normals, self.check_finite)
        for arrays in zip(theta, self.m, self.h, eps, strict=True):
            _draw(*arrays, *_typed(arrays[0], self.delta, one_over_sqrt_N))
        self._pending = {"theta": theta}
        return _lent(theta, self.params)

    def observe(self, g: Arrays) -> None:
        """Take g at the last draw, one of several."""
        if not self._pending:
            raise RuntimeError("observe needs a draw: call draw first")
        g = _views("g", g, self.params, self.check_finite)
        if not self._sums:
            self._sums["g_sum"] = [np.zeros_like(m) for m in self.m]
            self._sums["h_hat_sum"] = [np.zeros_like(m) for m in self.m]
        for arrays in zip(
            self._pending["theta"],
            self.m,
            self.h,
            g,
            self._sums["g_sum"],
            self._sums["h_hat_sum"],
            strict=True,
        ):
            _observe(*arrays, *_typed(arrays[0], self.delta, self.N))
        self._pending = {}
        self._draws += 1

    def step(
        self, g: Arrays | None = None, *, rng: np.random.Generator | None = None
    ) -> Arrays | None:
        """Update in place from g at the draw, or all observed; with rng, draw again."""
        if rng is not None:
            _generator(rng)
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
        g = _views("g", g, self.params, self.check_finite)
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        one_minus_beta2_squared_over_two = (1 - self.beta2) ** 2 / 2
        alpha_times_delta_plus_h0 = self.alpha * (self.delta + self.h0)
        beta1_correction = _one_minus_power(self.beta1, t)
        numbers = (
            self.beta1, self.beta2, self.delta, self.N, self.c, one_minus_beta1, one_minus_beta2,
            one_minus_beta2_squared_over_two, alpha_times_delta_plus_h0, beta1_correction,
        )  # fmt: skip
        for arrays in zip(self._pending["theta"], self.m, self.u, self.h, g, strict=True):
            _step(*arrays, *_typed(arrays[0], *numbers))
        self._pending = {}

    def _step_averaged(self) -> None:
        """Update from several draws, observed one by one."""
        if self._pending:
            raise RuntimeError("the last draw was not observed: pass what it showed")
        if not self._draws:
            raise RuntimeError("step needs a draw: call draw first")
        t = self.t + 1
        one_minus_beta1 = 1 - self.beta1
        one_minus_beta2 = 1 - self.beta2
        one_minus_beta2_squared_over_two = (1 - self.beta2) ** 2 / 2
        alpha_times_delta_plus_h0 = self.alpha * (self.delta + self.h0)
        beta1_correction = _one_minus_power(self.beta1, t)
        numbers = (
            self.beta1, self.beta2, self.delta, self.c, float(self._draws), one_minus_beta1,
            one_minus_beta2, one_minus_beta2_squared_over_two, alpha_times_delta_plus_h0,
            beta1_correction,
        )  # fmt: skip
        for arrays in zip(
            self.m, self.u, self.h, self._sums["g_sum"], self._sums["h_hat_sum"], strict=True
        ):
            _step_averaged(*arrays, *_typed(arrays[0], *numbers))
        self._sums = {}
        self._draws = 0

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means, deviations = [], []
        for m, h in zip(self.m, self.h, strict=True):
            real = m.dtype.type
            means.append(m.copy())
            deviations.append(_deviation(real(self.N) * (h + real(self.delta))))
        return _shaped(means, self.params), _shaped(deviations, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        _generator(rng)
        means, deviations = self.posterior()
        pairs = zip(_listed(means), _listed(deviations), strict=True)
        values = [mean + deviation * _normals(rng, mean) for mean, deviation in pairs]
        return _shaped(values, self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies; save rng.bit_generator.state beside it."""
        hyperparameters = {name: deepcopy(getattr(self, name)) for name in HYPERPARAMETERS}
        kept = {name.lstrip("_"): deepcopy(getattr(self, name)) for name in KEPT}
        return {"t": self.t, "hyperparameters": hyperparameters, **kept}

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        _load(
            self,
            saved,
            HYPERPARAMETERS,
            KEPT,
            pending={"theta": self.m},
            sums={"g_sum": self.m, "h_hat_sum": self.m},
        )

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


# --- The same rule in other passes over memory, and what is made for it alone


def _observe(
    theta: Array, m: Array, h: Array, g: Array, g_sum: Array, h_hat_sum: Array, numbers: Numbers
) -> None:
    """Add what one draw has shown to the sums."""
    delta, N = numbers
    g_sum[:] += g
    h_hat_sum[:] += N * g * (h + delta) * (theta - m)


def _step_averaged(
    m: Array, u: Array, h: Array, g_sum: Array, h_hat_sum: Array, numbers: Numbers
) -> None:
    """Update every element in place, from averages over draws."""
    beta1, beta2, delta, c, draws, one_minus_beta1, one_minus_beta2 = numbers[:7]
    one_minus_beta2_squared_over_two, alpha_times_delta_plus_h0, beta1_correction = numbers[7:]
    g = g_sum / draws
    h_hat = h_hat_sum / draws
    u_next = beta1 * u + one_minus_beta1 * g
    h_minus_h_hat = h - h_hat
    part = one_minus_beta2_squared_over_two * (h_minus_h_hat * h_minus_h_hat)
    h_next = beta2 * h + one_minus_beta2 * h_hat + part / (h + delta)
    part_2 = (delta * m + u_next / beta1_correction) / (h_next + delta)
    m[:] = m - alpha_times_delta_plus_h0 * np.maximum(-c, np.minimum(c, part_2))
    u[:] = u_next
    h[:] = h_next


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


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


def _one_minus_power(x: float, t: int) -> float:
    """Return 1 − xᵗ for x from 0 to 1 and t ≥ 1: all its digits, also where x is close to 1."""
    return type(x)(-math.expm1(t * math.log(x or 1e-30)))


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        hint = f", or {other} with the noise itself" if other else ""
        raise TypeError(f"pass rng=np.random.default_rng(seed){hint}")
    return rng


def _normals(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)


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
