"""Dropout.

The Bayesian learning rule for the candidate: Gaussian with diagonal covariance, N(m, diag(s)⁻¹).

Here m is mean; g is a minibatch estimate of the gradient of the loss, at theta (the sum or the mean
over rows, with a step size to match, with the prior's in it); z is 1 where the weight is of q₁,
else 0; x⁺ is the next value of x.

The loss is probed at:

    θ = mz

Update:

    m⁺ = m − αzg/π

Approximations, in the order in which they were made:

    spike: a weight is of q₁ with probability π, else of q₀, whose location is zero; π and q₀ are
        given
    delta: 𝔼_q[f(θ) | z=1] ≈ 𝔼_z[f(z∘m) | z=1] = 𝔼_z[(z/π) f(z∘m)], z ~ Bernoulli(π): the value at
        the mean of q₁ where z = 1, at zero where z = 0
    stochastic: one draw of z and a minibatch stand for the expectation and the data
    responsibility: r₁(m) ≈ 1, with r₁ = πq₁/q: at the mean of a component that lies apart from the
        others log q is its own log density
    separate-rates: once mean and scale have equations of their own, each gets a step size of its
        own
    fixed-scale: s is held at 1 and not learned

There is no posterior: each component is put to its mean, so that no line of the update looks at the
spread of q.

Hyperparameters:

    alpha  step size of the mean, in [0, ∞), 0.001 by default
    pi     weight of the component that is learned, in (0, 1], 0.5 by default

See Srivastava et al. (2014); Khan & Rue (2023).
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Dropout"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
Numbers: TypeAlias = tuple[float, ...]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = {"alpha": "[0, inf)", "pi": "(0, 1]"}


def _draw(theta: Array, m: Array, z: Array) -> None:
    """Write where to evaluate the loss into theta."""
    theta[:] = m * z


def _step(m: Array, z: Array, g: Array, numbers: Numbers) -> None:
    """Update every element in place."""
    (alpha_over_pi,) = numbers
    m[:] = m - alpha_over_pi * g * z


class Dropout:
    """Dropout.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps.

        opt = Dropout(params)
        theta = opt.draw(rng)
        opt.step(g)  # g at theta
    """

    def __init__(
        self, params: Arrays, *, alpha: float = 0.001, pi: float = 0.5, check_finite: bool = True
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.alpha, self.pi = alpha, pi
        self.params = _held("params", params)
        self.t = 0  # steps taken
        self._pending: dict[str, list[Array]] = {}  # what the last draw left
        self.check_finite = check_finite

    @property
    def m(self) -> list[Array]:
        """The parameters as flat views."""
        return [x.reshape(-1) for x in _listed(self.params)]

    def draw(self, rng: np.random.Generator | None = None, *, z: Arrays | None = None) -> Arrays:
        """Return where to evaluate the loss; `step` looks there again."""
        theta = [np.empty_like(m) for m in self.m]
        z = _noise("z", z, rng, self.params, _bernoullis, self.check_finite, self.pi)
        for arrays in zip(theta, self.m, z, strict=True):
            _draw(*arrays)
        self._pending = {"z": z, "theta": theta}
        return _lent(theta, self.params)

    def step(self, g: Arrays, *, rng: np.random.Generator | None = None) -> Arrays | None:
        """Update the parameters in place from g, where `draw` said; with rng, draw again."""
        if rng is not None:
            _generator(rng)
        if not self._pending:
            raise RuntimeError("step needs a draw: call draw first")
        g = _views("g", g, self.params, self.check_finite)
        alpha_over_pi = self.alpha / self.pi
        for arrays in zip(self.m, self._pending["z"], g, strict=True):
            _step(*arrays, *_typed(arrays[0], alpha_over_pi))
        self._pending = {}
        self.t += 1
        if rng is None:
            return None
        return self.draw(rng)

    def __getattr__(self, name: str) -> Any:
        """Say of what is not there why it is not."""
        if name in ("posterior", "sample"):
            raise AttributeError(
                f"{type(self).__name__} has no {name}: each component is put to its mean, so that "
                "no line of the update looks at the spread of q"
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies; save rng.bit_generator.state beside it."""
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        kept = {"m": self.params, "pending": self._pending}
        return deepcopy({"t": self.t, "hyperparameters": numbers, **kept})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        left = {"pending": {"z": self.m, "theta": self.m}}
        _load(self, saved, "m", HYPERPARAMETERS, **left)

    def __setattr__(self, name: str, value: Any) -> None:
        _set(self, name, value, HYPERPARAMETERS)

    def __repr__(self) -> str:
        return _told(self, HYPERPARAMETERS)


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


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError("pass rng=np.random.default_rng(seed)" + f", or {other}" * bool(other))
    return rng


def _bernoullis(rng: np.random.Generator, like: Array, chance: float) -> Array:
    """Draw independently 1 with that probability, else 0."""
    return (rng.random(like.shape) < chance).astype(like.dtype)


def _noise(
    name: str, given: Any, rng: Any, params: Arrays, law: Any, finite: bool, *numbers: float
) -> list[Array]:
    """Return a copy of the noise that was given, or draw it."""
    if given is not None:
        return [array.copy() for array in _views(name, given, params, finite)]
    rng = _generator(rng, f"{name}=")
    return [law(rng, array.reshape(-1), *numbers) for array in _listed(params)]
