"""What a caller hands a model's class: sizes, numbers, labels, lengths, looked at."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from blrgen.runtime.arrays import Array


def _size(name: str, value: Any) -> int:
    """Return a size; refuse what is no whole number from 1 on."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise ValueError(f"{name} = {value!r} is no size; pass a whole number from 1 on")
    return int(value)


def _optional(sizes: dict[str, int], name: str, value: Any) -> None:
    """Note a size that the caller may leave to an array."""
    if value is not None:
        sizes[name] = _size(name, value)


def _dtype(only: str, *arrays: Any) -> Any:
    """Return float32 where all arrays of floats are that, else float64; `only` may be asked for."""
    kinds = {x.dtype for x in arrays if isinstance(x, np.ndarray) and x.dtype.kind == "f"}
    if only and kinds - {np.dtype(only)}:
        raise TypeError(f"data are {', '.join(map(str, kinds))}; this class is for {only}")
    single = only == "float32" or (not only and kinds == {np.dtype(np.float32)})
    return np.float32 if single else np.float64


def _numbers(
    name: str,
    value: Any,
    axes: tuple[str | int, ...],
    sizes: dict[str, int],
    dtype: Any,
    domain: str = "R",
    missing: bool = False,
) -> Array:
    """Return an array as it is where it can be used so; note its sizes, refuse what is wrong."""
    found = np.asarray(value)
    if found.dtype.kind not in "fiub":
        raise TypeError(f"{name} holds {found.dtype}, not numbers")
    _fitted(name, found.shape, axes, sizes)
    found = np.asarray(found, dtype=dtype, order="C")
    if not missing and not np.isfinite(found).all():
        raise ValueError(f"{name} has entries that are not finite")
    _in_domain(name, found, domain, sizes)
    return found


def _fitted(
    name: str, shape: tuple[int, ...], axes: tuple[str | int, ...], sizes: dict[str, int]
) -> None:
    """Refuse a shape that does not fit what is known of the axes; else note what it says."""
    known = [x if isinstance(x, int) else sizes.get(x) for x in axes]
    fits = len(shape) == len(axes) and all(
        k in (None, s) for k, s in zip(known, shape, strict=False)
    )
    if not fits:
        said = [f"{x} = {sizes[x]}" for x in axes if isinstance(x, str) and x in sizes]
        wanted = f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"
        where = f" with {', '.join(dict.fromkeys(said))}" if said else ""
        raise ValueError(f"{name} has shape {shape}; here it must be {wanted}{where}")
    seen: dict[str, int] = {}
    for x, s in zip(axes, shape, strict=True):
        if isinstance(x, str) and seen.setdefault(x, s) != s:
            raise ValueError(f"{name} has shape {shape}, but {x} is one size")
    sizes |= seen


def _labels(
    name: str, value: Any, axes: tuple[str | int, ...], sizes: dict[str, int], labels: str | int
) -> Array:
    """Return whole numbers from 0; of one-hot rows, where each has its 1."""
    found = np.asarray(value)
    if found.ndim == len(axes) + 1:
        _fitted(name, found.shape, (*axes, labels), sizes)
        if not (np.isin(found, (0, 1)).all() and (found.sum(-1) == 1).all()):
            raise ValueError(f"{name} has rows that are not one-hot")
        return np.asarray(found.argmax(-1), dtype=np.int64)
    _fitted(name, found.shape, axes, sizes)
    whole = found.dtype.kind in "iub" or (found.dtype.kind == "f" and (found % 1 == 0).all())
    most = labels if isinstance(labels, int) else sizes.get(labels, math.inf)
    if not whole or (found.size and (found.min() < 0 or found.max() >= most)):
        raise ValueError(f"{name} has labels that are not whole numbers from 0 to before {most}")
    return np.asarray(found, dtype=np.int64, order="C")


def _seen_labels(
    name: str,
    value: Any,
    axes: tuple[str | int, ...],
    sizes: dict[str, int],
    labels: str | int,
    dtype: Any,
) -> tuple[Array, Array]:
    """Return labels with 0 where they are missing, and 1 for the others, 0 for these."""
    found = np.asarray(value)
    gone: Array = np.zeros(found.shape, bool)
    if found.dtype.kind == "f":
        gone = np.asarray(np.isnan(found))
    if found.ndim == len(axes) + 1:
        gone = np.asarray(gone.any(axis=-1))
        first = np.arange(found.shape[-1]) == 0
        found = np.where(gone[..., None], first, found)
    elif gone.any():
        found = np.where(gone, 0, found)
    there = np.asarray(~gone, dtype=dtype)
    return _labels(name, found, axes, sizes, labels), there


def _scalar(x: Any) -> Any:
    """Return what an array without axes holds; compiled functions return plain numbers."""
    return np.asarray(x)[()]


def _ends(domain: str, sizes: Mapping[str, int]) -> tuple[float, float]:
    """Return the ends of an interval; one may be a size, more or less a number."""

    def end(text: str) -> float:
        first, *rest = text.replace("oo", "inf").split()
        value = float(sizes[first]) if first in sizes else float(first)
        return value + float("".join(rest)) if rest else value

    low, high = domain[1:-1].split(",")
    return end(low), end(high)


def _in_domain(name: str, array: Array, domain: str, sizes: Mapping[str, int]) -> None:
    """Refuse an array outside of its domain; NaN is passed over."""
    if domain.startswith("{"):
        points = [float(x) for x in domain[1:-1].split(",")]
        if not (np.isin(array, points) | np.isnan(array)).all():
            raise ValueError(f"{name} has entries outside its support {domain}")
        return
    if domain.startswith("integers "):
        if (np.floor(array) < array).any():
            raise ValueError(f"{name} has entries outside its support: some are not whole numbers")
        domain = domain.removeprefix("integers ")
    if domain == "SPD":
        _check_definite(name, array)
    elif domain == "simplex":
        near = np.abs(array.sum(-1) - 1) < 1e-5
        if not (array >= 0).all() or not near.all():
            raise ValueError(f"{name} has rows that are not on the simplex")
    elif domain != "R":
        low, high = _ends(domain, sizes)
        below = array <= low if domain[0] == "(" and low > -math.inf else array < low
        above = array >= high if domain[-1] == ")" and high < math.inf else array > high
        if below.any() or above.any():
            raise ValueError(f"{name} has entries outside {domain}")


def _state_in_domains(
    what: str,
    state: Mapping[str, Array],
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: Mapping[str, int],
) -> None:
    """Refuse a state of which an array is outside of its domain."""
    for parts in nodes.values():
        for name, _, domain in parts.values():
            if name not in state:  # a chain is kept otherwise than by its marginals
                continue
            found = np.asarray(state[name])
            kind, _, most = domain.partition(" ")
            if kind == "labels":
                _labels(f"{what}{name}", found, found.shape, dict(sizes), _whole(most))
            else:
                _in_domain(f"{what}{name}", found, domain, sizes)


def _whole(text: str) -> int | str:
    """Return a whole number, or the name of a size."""
    return int(text) if text.isdigit() else text


def _check_definite(name: str, array: Array) -> None:
    """Refuse matrices that are not symmetric and positive definite."""
    turned = np.swapaxes(array, -1, -2)
    if not np.allclose(array, turned, rtol=1e-5, atol=1e-8 * float(np.abs(array).max(initial=0))):
        raise ValueError(f"{name} is not symmetric")
    try:
        np.linalg.cholesky(array)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{name} is not positive definite") from error


def _seen(array: Array, values: int, domain: str, sizes: Mapping[str, int]) -> tuple[Array, Array]:
    """Return an array with some value for elements that have a NaN; 1 for the others, 0 for these.

    The value is one of the domain, so that what is made of it is a number, and 0 times it is 0.
    """
    axes = tuple(range(array.ndim - values, array.ndim))
    gone = np.isnan(array).any(axis=axes, keepdims=True)
    if not np.isfinite(array[~np.broadcast_to(gone, array.shape)]).all():
        raise ValueError("an observed array has entries that are not finite")
    there = np.asarray(~np.squeeze(gone, axis=axes), dtype=array.dtype)
    return (
        np.where(gone, _standing_in(domain, array, sizes), array) if gone.any() else array
    ), there


def _standing_in(domain: str, like: Array, sizes: Mapping[str, int]) -> Any:
    """Return a value of a domain, of the type and the shape of another."""
    real: Any = like.dtype.type
    if domain == "SPD":
        return np.eye(like.shape[-1], dtype=like.dtype)
    if domain == "simplex":
        return real(1) / real(like.shape[-1])
    if domain == "R" or domain.startswith("{"):
        return real(0 if domain == "R" else float(domain[1:-1].split(",")[0]))
    low, high = _ends(domain.removeprefix("integers "), sizes)
    whole = domain.startswith("integers ")
    if -math.inf < low and high < math.inf and not whole:
        return real(low + high) / real(2)
    if low > -math.inf:
        return real(low if whole and "[" in domain else low + 1)
    return real(high if whole and "]" in domain else high - 1) if high < math.inf else real(0)


def _filled(
    value: Any, default: float, axes: tuple[str | int, ...], sizes: Mapping[str, int]
) -> Any:
    """Return what the caller gives, or where it is None the default everywhere."""
    if value is not None:
        return value
    return np.full(tuple(x if isinstance(x, int) else _extent(x, sizes) for x in axes), default)


def _extent(name: str, sizes: Mapping[str, int]) -> int:
    """Return how large a size is; refuse one that no array has shown."""
    if name not in sizes:
        raise TypeError(f"no array shows how large {name} is; pass {name}=…")
    return sizes[name]


def _pointers(name: str, lengths: Any, outer: str, inner: str, sizes: dict[str, int]) -> Array:
    """Return where rows of these lengths begin, and where the last one ends."""
    found = np.asarray(lengths)
    _fitted(name, found.shape, (outer,), sizes)
    whole = found.dtype.kind in "iu" or (found.dtype.kind == "f" and (found % 1 == 0).all())
    if not whole or (found.size and found.min() < 0):
        raise ValueError(f"{name} holds no lengths; pass whole numbers from 0 on")
    out = np.zeros(found.size + 1, np.int64)
    np.cumsum(found.astype(np.int64), out=out[1:])
    _fitted(name, (int(out[-1]),), (inner,), sizes)
    return out


def _unknown(what: str, name: str, names: Iterable[str]) -> NoReturn:
    """Refuse a name that is not there, and say which are."""
    raise ValueError(f"no {what} of {name!r} here; there are: {', '.join(names) or 'none'}")
