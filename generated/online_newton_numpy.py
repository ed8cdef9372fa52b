"""Online Newton.

The Bayesian learning rule for the candidate: Gaussian with full covariance, N(m, S⁻¹).

Here m is mean; S is precision; g is the gradient of the loss, at the mean m (the sum over
all rows, with the prior's in it); H is the Hessian of the loss, at the mean m (the sum over
all rows, with the prior's in it); x⁺ is the next value of x.

Update:

    S⁺ = ρ·H + (1 − ρ)·S
    m⁺ = m − ρ·S⁺⁻¹ g

Approximations, in the order in which they were made:

    delta: 𝔼_q[f(θ)] ≈ f(m): the expectation is replaced by the value at the mean

Hyperparameters:

    rho  step size of the rule, in (0, 1], 0.1 by default

See Khan & Rue (2023).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["OnlineNewton"]

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
DTYPES = (np.float32, np.float64)  # what the arrays may be; everything is computed in their dtype
HYPERPARAMETERS = ("rho",)
KEPT = ("m", "S")


def _step(
    m: Array, S: Array, g: Array, H: Array, rho: float, one_minus_rho: float
) -> tuple[Array, Array]:
    """Return the next values; nothing is written here."""
    S_next = rho * H + one_minus_rho * S
    S_next_factor = _cholesky("the next S", S_next)
    m_next = m - rho * _solve(S_next_factor, g)
    return m_next, S_next


class OnlineNewton:
    """Online Newton.

    `params` is the array, or the list of arrays, with the mean; it is updated in place.
    Hyperparameters are plain attributes and may be changed between steps. The module's
    docstring has the equations.

        opt = OnlineNewton(params)
        opt.step(g, H)
    """

    def __init__(
        self,
        params: Arrays,
        *,
        rho: float = 0.1,
    ) -> None:
        """Keep the arrays to update; everything else starts as the rule says."""
        self.rho = rho
        self._check_hyperparameters()
        _views("params", params)
        self.params = params
        self.t = 0  # steps taken
        m = self.m
        self.S = np.eye(len(m), dtype=m.dtype)

    @property
    def m(self) -> Array:
        """The parameters as one vector."""
        return _vector("params", self.params)

    def _check_hyperparameters(self) -> None:
        """Refuse values outside their range; NaN is outside every range."""
        if not 0 < self.rho <= 1:
            raise ValueError(f"rho = {self.rho!r} is outside (0, 1]")

    def step(self, g: Arrays, H: Array) -> None:
        """Update the parameters in place from g and H."""
        self._check_hyperparameters()
        m = self.m
        g = _vector("g", g, self.params)
        H = _symmetric("H", H, m)
        one_minus_rho = 1 - self.rho
        real = m.dtype.type
        m_next, S_next = _step(m, self.S, g, H, real(self.rho), real(one_minus_rho))
        _finite("the next m", m_next)
        _scattered(m_next, self.params)
        self.S = S_next
        self.t += 1

    def posterior(self) -> tuple[Arrays, Arrays]:
        """Return mean and standard deviation of every parameter."""
        m = self.m
        factor = _cholesky("the posterior precision", self.S)
        identity = np.eye(len(m), dtype=m.dtype)
        root = _solve_lower(factor, identity)
        deviation = np.sqrt((root * root).sum(axis=0))
        return _split(m.copy(), self.params), _split(deviation, self.params)

    def sample(self, rng: np.random.Generator) -> Arrays:
        """Draw from the posterior; the same seed gives the same draw."""
        m = self.m
        factor = _cholesky("the posterior precision", self.S)
        noise = _normals(rng, m)
        return _split(m + _solve_upper(factor, noise), self.params)

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
        _scattered(found.pop("m"), self.params)
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


def _shaped(flat: Sequence[Array], params: Arrays) -> Arrays:
    """Return flat arrays in the shape of the parameters, one array if they are one."""
    shaped = [x.reshape(a.shape) for x, a in zip(flat, _listed(params), strict=True)]
    return shaped if isinstance(params, list | tuple) else shaped[0]


def _vector(name: str, arrays: Arrays, params: Arrays | None = None) -> Array:
    """Return one array or several as one vector, in the order of the parameters."""
    views = _views(name, arrays, params)
    if len(views) == 1:
        return views[0]
    if any(view.dtype != views[0].dtype for view in views):
        raise TypeError(f"{name} mixes dtypes; a full covariance needs one for all")
    return np.concatenate(views)


def _scattered(vector: Array, params: Arrays) -> None:
    """Write a vector to the parameters, in place."""
    start = 0
    for array in _listed(params):
        array.reshape(-1)[:] = vector[start : start + array.size]
        start += array.size


def _split(vector: Array, params: Arrays) -> Arrays:
    """Return a vector in the shape of the parameters, one array if they are one."""
    ends = np.cumsum([array.size for array in _listed(params)])
    return _shaped(np.split(vector, ends[:-1]), params)


def _shaped_as(name: str, array: Array, shape: tuple[int, ...], like: Array) -> Array:
    """Return the array; refuse one of the wrong kind, shape or dtype."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}; pass a NumPy array")
    if array.dtype != like.dtype:
        raise TypeError(f"{name} is {array.dtype}, but the parameters are {like.dtype}")
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; here it must be {shape}")
    return array


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


def _finite(name: str, array: Array) -> None:
    """Refuse an array with a NaN or an infinity in it."""
    if not np.vdot(array, array) < np.inf and not np.isfinite(array).all():  # squares overflow
        raise ValueError(f"{name} is not finite; nothing has been changed")


def _normals(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)


def _symmetric(name: str, matrix: Array, like: Array) -> Array:
    """Return the matrix; refuse one of the wrong kind, shape or dtype, or not symmetric."""
    _shaped_as(name, matrix, (len(like), len(like)), like)
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
