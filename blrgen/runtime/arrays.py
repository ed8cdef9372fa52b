"""Arrays of a caller as flat views and back, checked before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
DTYPES: tuple[Any, ...] = (np.float32, np.float64)


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


def _apart(like: Array, place: int, value: float = 0.0) -> Array:
    """Return a new array as large as another, which begins elsewhere in its page of memory."""
    before = (1024 * place + 48) // like.itemsize  # alike, stores to one hold up loads of others
    return np.full(like.size + before, value, like.dtype)[before:]


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


def _vector(name: str, arrays: Arrays, params: Arrays | None = None, finite: bool = False) -> Array:
    """Return one array or several as one vector, in the order of the parameters."""
    views = _views(name, arrays, params, finite)
    if len(views) == 1:
        return views[0]
    if any(view.dtype != views[0].dtype for view in views):
        raise TypeError(f"{name} mixes dtypes; a full covariance needs one for all")
    return np.concatenate(views)


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


def _shaped_as(name: str, x: Array, shape: tuple[int, ...], like: Array, finite: Any = 0) -> Array:
    """Return the array; refuse one of the wrong kind, shape or dtype."""
    _check_kind(name, x)
    if x.dtype != like.dtype:
        raise TypeError(f"{name} is {x.dtype}, but the parameters are {like.dtype}")
    if x.shape != shape:
        raise ValueError(f"{name} has shape {x.shape}; here it must be {shape}")
    if finite:
        _finite(name, x)
    return x


def _parameter(name: str, array: Array) -> Array:
    """Return the matrix that is updated in place; refuse what cannot be."""
    _check_kind(name, array, updated=True)
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}; here it must be a matrix")
    return array


def _check_vectors(params: Arrays, size: int | None, alone: bool) -> None:
    """Refuse an array that is no vector of `size` components; `alone`: more than one array."""
    arrays = _listed(params)
    if alone and len(arrays) != 1:
        raise ValueError(f"{len(arrays)} arrays: the rule has numbers beside one vector")
    for array in arrays:
        if array.ndim != 1 or array.size < 1 or array.size != (size or array.size):
            what = f"{size} components" if size else "its components"
            advice = "" if alone else "; pass a list of vectors to update several"
            raise ValueError(
                f"an array of shape {array.shape} is no vector: it has one axis, for {what}{advice}"
            )
