"""Newton.

The Bayesian learning rule for the candidate: Gaussian with full covariance, N(m, S⁻¹).

Here m is mean; S is precision; g is the gradient of the loss, at the mean m (the sum over all rows,
with the prior's in it); H is the Hessian of the loss, at the mean m (the sum over all rows, with
the prior's in it); x⁺ is the next value of x.

Update:

    S⁺ = H
    m⁺ = m − (S⁺)⁻¹g

Approximations, in the order in which they were made:

    delta: 𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean
    rho=1: ρ = 1: nothing of the old parameters is kept

See Newton (1669), Raphson (1690).
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Newton"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS: dict[str, str] = {}


def _step(m: Array, g: Array, H: Array) -> tuple[Array, Array]:
    """Return the next values; nothing is written here."""
    S_next = np.copy(H)
    S_next_factor = _cholesky("the next S", S_next)
    m_next = m - _solve(S_next_factor, g)
    return m_next, S_next


class Newton:
    """Newton.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.

        opt = Newton(params)
        opt.step(g, H)
    """

    def __init__(self, params: Arrays, *, check_finite: bool = True) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.params = _held("params", params)
        self.t = 0  # steps taken
        m = self.m
        self.S = np.eye(len(m), dtype=m.dtype)
        self._check_state()
        self.check_finite = check_finite

    @property
    def m(self) -> Array:
        """The parameters as one vector."""
        return _vector("params", self.params, self.params)

    def _check_state(self) -> None:
        """Refuse what is kept outside the domain."""
        _cholesky("S", self.S)

    def step(self, g: Arrays, H: Array) -> None:
        """Update the parameters in place from g and H."""
        m = self.m
        g = _vector("g", g, self.params, self.check_finite)
        H = _symmetric("H", H, m, self.check_finite)
        m_next, S_next = _step(m, g, H)
        _finite("the next m", m_next)
        _scattered(m_next, self.params)
        self.S = S_next
        self.t += 1

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        m = self.m
        factor = _cholesky("the posterior precision", self.S)
        root = _solve_lower(factor, np.eye(len(m), dtype=m.dtype))
        deviation = np.sqrt((root * root).sum(axis=0))
        return _split(m.copy(), self.params), _split(deviation, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        _generator(rng)
        m = self.m
        factor = _cholesky("the posterior precision", self.S)
        noise = _normals(rng, m)
        return _split(m + _solve_upper(factor, noise), self.params)

    def state_dict(self) -> dict[str, Any]:
        """Return what resuming exactly needs, as copies."""
        numbers = {name: getattr(self, name) for name in HYPERPARAMETERS}
        return deepcopy({"t": self.t, "hyperparameters": numbers, "m": self.params, "S": self.S})

    def load_state_dict(self, saved: Mapping[str, Any]) -> None:
        """Resume from what `state_dict` returned: from all of it, or not at all."""
        _load(self, saved, "m", HYPERPARAMETERS)

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


def _finite(name: str, array: Array) -> None:
    """Refuse an array with a NaN or an infinity in it."""
    _shaped_as(name, array, array.shape, array, True)


def _shaped(flat: Sequence[Array], params: Arrays) -> Arrays:
    """Return flat arrays in the shape of the parameters, one array if they are one."""
    shaped = [x.reshape(a.shape) for x, a in zip(flat, _listed(params), strict=True)]
    return shaped if isinstance(params, list | tuple) else shaped[0]


def _vector(name: str, arrays: Arrays, params: Arrays, finite: bool = False) -> Array:
    """Return one array or several as one vector, in the order of the parameters."""
    views = _views(name, arrays, params, finite)
    if any(view.dtype != views[0].dtype for view in views):
        raise TypeError(f"{name} mixes dtypes; a full covariance needs one for all")
    return views[0] if len(views) == 1 else np.concatenate(views)


def _scattered(vector: Array, params: Arrays) -> None:
    """Write a vector to the parameters, in place."""
    start = 0
    for array in _listed(params):
        array[...] = vector[start : start + array.size].reshape(array.shape)
        start += array.size


def _split(vector: Array, params: Arrays) -> Arrays:
    """Return a vector in the shape of the parameters, one array if they are one."""
    ends = np.cumsum([array.size for array in _listed(params)])
    return _shaped(np.split(vector, ends[:-1]), params)


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


def _normals(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)


def _symmetric(name: str, matrix: Array, like: Array, finite: bool = False) -> Array:
    """Return the matrix; refuse one of the wrong kind, shape or dtype, or not symmetric."""
    _shaped_as(name, matrix, (len(like), len(like)), like, finite)
    size = np.abs(matrix).max(initial=0)
    if np.abs(matrix - matrix.T).max(initial=0) > size * np.sqrt(np.finfo(matrix.dtype).eps):
        raise ValueError(f"{name} is not symmetric; pass ({name} + {name}.T) / 2")
    return matrix


def _cholesky(name: str, matrix: Array) -> Array:
    """Return L with L Lᵀ = matrix; refuse a matrix that is not positive definite."""
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        factor = np.full_like(matrix, np.nan)
    if not np.isfinite(factor).all():
        raise ValueError(f"{name} is not positive definite; nothing has been changed")
    return factor


def _solve_lower(factor: Array, b: Array, block: int = 64) -> Array:
    """Return L⁻¹ b for a lower triangular L, one diagonal block after the other."""
    x = b.copy()
    for start in range(0, len(x), block):
        rows = slice(start, start + block)
        known = factor[rows, :start] @ x[:start]
        x[rows] = np.linalg.solve(factor[rows, rows], x[rows] - known)
    return x


def _solve_upper(factor: Array, b: Array) -> Array:
    """Return L⁻ᵀ b: read backwards, Lᵀ is lower triangular."""
    return _solve_lower(factor.T[::-1, ::-1], b[::-1])[::-1]


def _solve(factor: Array, b: Array) -> Array:
    """Return (L Lᵀ)⁻¹ b."""
    return _solve_upper(factor, _solve_lower(factor, b))
