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


def _parameter(name: str, array: Array) -> Array:
    """Return the matrix that is updated in place; refuse what cannot be."""
    _held(name, array)
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
