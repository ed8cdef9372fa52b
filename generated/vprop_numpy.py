"""Vprop.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m, diag(s)⁻¹).

Here m is mean; s is curvature of the loss alone, per example; g is a minibatch estimate of the
gradient of the loss, at theta (the mean over the rows of a minibatch, not times N, without the
prior's δm, which the update adds); ε is standard normal noise; x⁺ is the next value of x.

The loss is probed at:

    θ = m + ε/√(N(s + δ))

Estimated there, and averaged over several such points:

    ĥ = g²

Update:

    s⁺ = (1 − β)s + βĥ
    m⁺ = m − α(g + δm)/(√s⁺ + δ)

Approximations, in the order in which they were made:

    stochastic: one draw θ ~ q and a minibatch stand for the expectation and the data
    ess: ℓ is N times the mean loss ℓ̄ that the probes now mean, and s → Ns, so that N stands in
        front of the precision
    hessian=squared-gradient: the square of the minibatch gradient stands for the curvature
    prior=apart: ½δ‖θ‖² is added to the loss: δm enters with the gradient; s keeps the curvature of
        the loss alone, precision N(s + δ)
    square-root: s → √s where it divides the mean step; s is an average and may start at 0
    separate-rates: once mean and scale have equations of their own, each gets a step size of its
        own

Of the posterior: squared minibatch gradients stand for the curvature: the spread is that of the
posterior with one row in a minibatch, and with M rows about √M times too wide.

Hyperparameters:

    alpha  step size of the mean, in [0, ∞), 0.001 by default
    beta   step size of the scale, in [0, 1], 0.01 by default
    delta  precision of the Gaussian prior (weight decay), per example, in [0, ∞), 0.0001 by default
    N      effective number of examples, in (0, ∞), 1000 by default

See Khan et al. (2018).
"""

import math
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Vprop"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = {"alpha": "[0, inf)", "beta": "[0, 1]", "delta": "[0, inf)", "N": "(0, inf)"}


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
    Hyperparameters are plain attributes and may be changed between steps.

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
        check_finite: bool = True,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha, self.beta, self.delta, self.N = alpha, beta, delta, N
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self.s = [np.zeros_like(m) for m in self.m]
        self._pending: dict[str, list[Array]] = {}  # what the last draw left
        self._sums: dict[str, list[Array]] = {}  # over this step's draws
        self._draws = 0  # how many there are in them
        self.check_finite = check_finite

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(self.params)]

    def draw(self, rng: np.random.Generator | None = None, *, eps: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        one_over_sqrt_N = 1 / math.sqrt(self.N)
        theta = [np.empty_like(m) for m in self.m]
        eps = _noise("eps", eps, rng, self.params, _normals, self.check_finite)
        for arrays in zip(theta, self.m, self.s, eps, strict=True):
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
        for arrays in zip(g, self._sums["g_sum"], self._sums["h_hat_sum"], strict=True):
            _observe(*arrays)
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
        numbers = (self.alpha, self.beta, self.delta, float(self._draws), one_minus_beta,
                   alpha_times_delta)  # fmt: skip
        for arrays in zip(
            self.m, self.s, self._sums["g_sum"], self._sums["h_hat_sum"], strict=True
        ):
            _step_averaged(*arrays, *_typed(arrays[0], *numbers))
        self._sums = {}
        self._draws = 0

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        means, deviations = [], []
        for m, s in zip(self.m, self.s, strict=True):
            real = m.dtype.type
            means.append(m.copy())
            deviations.append(_deviation(real(self.N) * (s + real(self.delta))))
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
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        kept = {"m": self.params, "s": self.s, "pending": self._pending, "sums": self._sums,
                "draws": self._draws}  # fmt: skip
        return deepcopy({"t": self.t, "hyperparameters": numbers, **kept})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        left = {"pending": {"theta": self.m}, "sums": {"g_sum": self.m, "h_hat_sum": self.m}}
        _load(self, saved, "m", HYPERPARAMETERS | {"s": "[0, inf)"}, **left)

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


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


def _views(name: str, arrays: Arrays, params: Arrays, finite: bool = False) -> list[Array]:
    """Return one array or several as flat ones; refuse what does not fit the parameters."""
    found, like = _listed(arrays), _listed(params)
    if len(found) != len(like):
        raise ValueError(f"{name}: {len(found)} arrays for {len(like)} arrays of parameters")
    names = [name] if len(like) == 1 else [f"{name}[{i}]" for i in range(len(like))]
    rows = zip(names, found, like, strict=True)
    return [_shaped_as(own, x, p.shape, p, finite).ravel() for own, x, p in rows]


def _shaped_as(name: str, x: Array, shape: tuple[int, ...], like: Array, finite: Any = 0) -> Array:
    """Return the array; refuse what is none, of another dtype or shape, or not finite."""
    if not isinstance(x, np.ndarray) or isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name} is a {type(x).__name__}; pass a NumPy array")
    if x.dtype != like.dtype or x.shape != shape:
        wrong = ValueError if x.dtype == like.dtype else TypeError
        raise wrong(f"{name} is {x.dtype}{[*x.shape]}; here it must be {like.dtype}{[*shape]}")
    if finite and not abs(np.einsum("i->", x.ravel())) < np.inf and not np.isfinite(x).all():
        raise ValueError(f"{name} is not finite; nothing has been changed")
    return x


def _held(name: str, params: Arrays) -> Arrays:
    """Return the arrays to update; refuse what cannot be updated in place, or shares memory."""
    for i, x in enumerate(_listed(params)):
        where = f"{name}[{i}]" if isinstance(params, list | tuple) else name
        if _shaped_as(where, x, np.shape(x), x).dtype not in DTYPES:
            raise TypeError(f"{where} is {x.dtype}, not {' or '.join(d.__name__ for d in DTYPES)}")
        if not x.flags.carray:
            raise ValueError(f"{where} is read-only or not contiguous, and is updated in place")
    ends = sorted((x.ctypes.data, x.ctypes.data + x.nbytes) for x in _listed(params) if x.size)
    if any(end > start for (_, end), (start, _) in pairwise(ends)):
        raise ValueError(f"two arrays of {name} share memory, which a step would update twice")
    return list(params) if isinstance(params, list | tuple) else params


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


def _set(opt: Any, name: str, value: Any, domains: Mapping[str, str]) -> None:
    """Set an attribute, a number in its domain; refuse a name that there is not."""
    held = vars(opt)
    if domains.get(name):
        value = _fitting(name, value, 0.0, domains)
    elif "check_finite" in held and (name not in held or name == "params"):
        raise AttributeError(f"{type(opt).__name__}.{name} cannot be set; {[*domains]} can")
    elif isinstance(held.get(name), list):
        value = _fitting(name, value, held[name], {})
    elif isinstance(held.get(name), np.ndarray):
        _shaped_as(name, value, held[name].shape, held[name])
    held[name] = value


def _fitting(name: str, x: Any, like: Any, domains: Mapping[str, str]) -> Any:
    """Return a copy of what can stand in the place of another; refuse what cannot."""
    if isinstance(like, dict):
        if odd := like.keys() ^ (x.keys() if isinstance(x, Mapping) else {type(x).__name__}):
            raise ValueError(f"{name} lacks or has too much: {', '.join(sorted(map(str, odd)))}")
        return {key: _fitting(key, x[key], like[key], domains) for key in like}
    if isinstance(like, list):
        if not isinstance(x, list) or len(x) != len(like):
            raise ValueError(f"{name} = {x!r:.60} is no list of {len(like)} arrays")
        return [_fitting(f"{name}[{i}]", x[i], like[i], domains) for i in range(len(x))]
    kind = int | np.integer if isinstance(like, int) else int | np.integer | float | np.floating
    if isinstance(like, np.ndarray):
        _shaped_as(name, x, like.shape, like)
    elif isinstance(x, bool) or not isinstance(x, kind):
        raise TypeError(f"{name} = {x!r} is no {'whole ' * isinstance(like, int)}number")
    domain = domains.get(name.partition("[")[0]) or "(-inf, inf)"
    low, high = map(float, domain[1:-1].split(","))
    above = x >= low if domain[0] == "[" else x > low
    if not np.all(above & (x <= high if domain[-1] == "]" else x < high)):
        raise ValueError(f"{name} = {x!r} is outside {domain}")
    return x.copy() if isinstance(x, np.ndarray) else type(like)(x)


def _load(opt: Any, saved: Any, main: str, domains: Mapping[str, str], **left: Any) -> None:
    """Take all of what was saved; where something is wrong, none of it."""
    like = opt.state_dict() | {k: x if dict(saved or ()).get(k) else {} for k, x in left.items()}
    beside = {"t": "[0, inf)", "draws": "[1, inf)" if like.get("sums") else "[0, 0]"}
    found = _fitting("the saved state", saved, like, {**beside, **domains})
    params = _listed(found.pop(main))
    found |= found.pop("hyperparameters")
    for one in (deepcopy(opt), opt):
        for x, value in zip(_listed(one.params), params, strict=True):
            x[...] = value
        vars(one).update({f"_{k}" if f"_{k}" in vars(one) else k: x for k, x in found.items()})
        getattr(one, "_check_state", bool)()


def _told(opt: Any, numbers: Mapping[str, str]) -> str:
    """Return what an object is: its arrays, its hyperparameters, its steps."""
    shapes = [f"{x.dtype}{[*x.shape]}" for x in _listed(opt.params)]
    values = [f"{name}={getattr(opt, name)!r}" for name in (*numbers, "t")]
    return f"{type(opt).__name__}({', '.join(shapes + values)})"


def _deviation(precision: Array) -> Array:
    """Return 1/√precision; refuse where there is none."""
    if not np.all(precision > 0):
        count = np.count_nonzero(~(precision > 0))
        raise ValueError(f"the posterior precision is not positive at {count} of its elements")
    return 1 / np.sqrt(precision)


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError("pass rng=np.random.default_rng(seed)" + f", or {other}" * bool(other))
    return rng


def _normals(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)


def _noise(
    name: str, given: Any, rng: Any, params: Arrays, law: Any, finite: bool, *numbers: float
) -> list[Array]:
    """Return a copy of the noise that was given, or draw it."""
    if given is not None:
        return [array.copy() for array in _views(name, given, params, finite)]
    rng = _generator(rng, f"{name}=")
    return [law(rng, array.reshape(-1), *numbers) for array in _listed(params)]
