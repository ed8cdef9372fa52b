"""Mixtures: first values of all components, what a step is given, and what it may leave."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.handed import _ends, _in_domain, _numbers
from blrgen.runtime.kept import _fitting


def _first(
    name: str,
    value: Any,
    axes: tuple[str, ...],
    sizes: dict[str, int],
    dtype: Any,
    domain: str,
    start: str,
) -> Array:
    """Return a copy of what is given, or where that is None the first value."""
    if value is None:
        shape = tuple(sizes[x] for x in axes)
        value = np.zeros(shape)
        if start == "identity":
            value[...] = np.eye(shape[-1])
        else:
            value[...] = 1 / shape[0] if start == "uniform" else float(start)
    return np.array(_numbers(name, value, axes, sizes, dtype, domain))


def _given_or(value: Any, other: Array) -> Any:
    """Return what is given, or where that is None another state."""
    return other if value is None else value


def _asked(opt: Any, name: str, value: Any, axes: tuple[str, ...], dtype: Any) -> Array:
    """Return an input in the dtype of the states."""
    sizes = dict(opt.sizes)
    return _numbers(name, value, axes, sizes, dtype, "R", not opt.check_finite)


def _inside(opt: Any, found: Mapping[str, tuple[Array, str]]) -> None:
    """Take all next values, or where one leaves its domain none of them."""
    for name, (value, domain) in found.items():
        if not _fits(value, domain):
            raise ValueError(
                f"the step leaves the domain of {name}; nothing has been changed; "
                "smaller steps help"
            )
    vars(opt).update({name: _own(value, getattr(opt, name)) for name, (value, _) in found.items()})
    vars(opt)["t"] += 1


def _own(value: Array, like: Array) -> Array:
    """Return what a step made as a state of its own: as it is, where it is such an array."""
    fresh = value.base is None and value.flags.c_contiguous and value.dtype == like.dtype
    return value if fresh else np.array(value, like.dtype, order="C")


def _fits(value: Array, domain: str) -> bool:
    """Return whether all is finite and in the domain."""
    if not np.isfinite(value).all():
        return False
    if domain == "SPD":
        try:
            np.linalg.cholesky(value)
        except np.linalg.LinAlgError:
            return False
    elif domain not in ("R", "simplex", "finite"):
        low, high = _ends(domain, {})
        return bool((value > low).all() and (value < high).all())
    return True


def _kept_of(opt: Any, numbers: Mapping[str, str], arrays: Mapping[str, str]) -> dict[str, Any]:
    """Return copies of all that resuming needs."""
    hyperparameters = {name: deepcopy(getattr(opt, name)) for name in numbers}
    kept = {name: np.array(getattr(opt, name)) for name in arrays}
    return {"t": opt.t, "hyperparameters": hyperparameters, **kept}


def _resumed(opt: Any, saved: Any, numbers: Mapping[str, str], arrays: Mapping[str, str]) -> None:
    """Take all of what was saved; where something is wrong, none of it."""
    like = _kept_of(opt, numbers, arrays)
    found = _fitting("state", saved, like, {"t": "[0, inf)", **numbers})
    for name, domain in arrays.items():
        _in_domain(f"the saved {name}", found[name], domain, {})
    found |= found.pop("hyperparameters")
    for name, value in found.items():
        if name in arrays:
            getattr(opt, name)[...] = value
        else:
            vars(opt)[name] = value


def _described(opt: Any, numbers: Mapping[str, str], arrays: Mapping[str, str]) -> str:
    """Return what an object is: its arrays, its hyperparameters, its steps."""
    parts = [f"{x}{list(getattr(opt, x).shape)}" for x in arrays]
    values = [f"{name}={getattr(opt, name)!r}" for name in (*numbers, "t")]
    return f"{type(opt).__name__}({', '.join(parts + values)})"
