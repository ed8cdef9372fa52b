"""Arrays of a caller as flat views and back, and what a class keeps of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
DTYPES: tuple[Any, ...] = (np.float32, np.float64)


def _listed(arrays: Any) -> list[Any]:
    """Return one array or several as a list."""
    return list(arrays) if isinstance(arrays, list | tuple) else [arrays]


def _views(name: str, arrays: Arrays, params: Arrays | None = None) -> list[Array]:
    """Return one array or several as flat views; refuse what cannot be used as it is."""
    if type(arrays) is np.ndarray and type(params) is np.ndarray:
        usual = arrays.dtype == params.dtype and arrays.flags.c_contiguous
        if usual and arrays.shape == params.shape:
            return [arrays if arrays.ndim == 1 else arrays.reshape(-1)]
    several = isinstance(arrays, list | tuple)
    found = _listed(arrays)
    like = None if params is None else _listed(params)
    if like is not None and len(found) != len(like):
        raise ValueError(f"{name}: {len(found)} arrays for {len(like)} arrays of parameters")
    for index, array in enumerate(found):
        where = f"{name}[{index}]" if several else name
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{where} is a {type(array).__name__}; pass a NumPy array")
        if array.dtype not in DTYPES:
            wanted = " or ".join(np.dtype(d).name for d in DTYPES)
            raise TypeError(f"{where} is {array.dtype}, not {wanted}; convert it with astype")
        if not array.flags.c_contiguous:
            raise ValueError(f"{where} is not contiguous; pass np.ascontiguousarray({where})")
        if like is None and not array.flags.writeable:
            raise ValueError(f"{where} is read-only and cannot be updated in place; pass a copy")
        if like is not None and array.dtype != like[index].dtype:
            raise TypeError(f"{where} is {array.dtype}, but its parameters are {like[index].dtype}")
        if like is not None and array.shape != like[index].shape:
            raise ValueError(
                f"{where} has shape {array.shape}, but its parameters have {like[index].shape}"
            )
    return [array.reshape(-1) for array in found]


def _typed(like: Array, *numbers: float) -> list[tuple[Any, ...]]:
    """Return numbers in the type of an array as the last argument of a kernel, if it has some."""
    return [tuple(map(like.dtype.type, numbers))] if numbers else []


def _flat(params: Arrays) -> list[Array]:
    """Return the parameters as flat views, which were looked at before."""
    return [array.reshape(-1) for array in _listed(params)]


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


def _parameter(name: str, array: Array) -> Array:
    """Return the matrix that is updated in place; refuse what cannot be."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} is a {type(array).__name__}; pass a NumPy array")
    if array.dtype not in DTYPES:
        wanted = " or ".join(np.dtype(d).name for d in DTYPES)
        raise TypeError(f"{name} is {array.dtype}, not {wanted}; convert it with astype")
    if array.ndim != 2:
        raise ValueError(f"{name} has shape {array.shape}; here it must be a matrix")
    if not array.flags.writeable:
        raise ValueError(f"{name} is read-only and cannot be updated in place; pass a copy")
    return array


def _copied(value: Any) -> Any:
    """Return copies of the arrays in a value that holds arrays in lists and under names."""
    if isinstance(value, dict):
        return {name: _copied(x) for name, x in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(x) for x in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def _restored(name: str, saved: Any, current: Any, like: Any = None) -> Any:
    """Return a copy of what was saved; refuse arrays that do not fit those that are there.

    What draws have left is in a dictionary, of arrays `like` the parameters where that is said.
    """
    if isinstance(current, dict) and like is not None:
        return {key: _restored(key, value, like) for key, value in saved.items()}
    if not isinstance(current, list | np.ndarray):
        return _copied(saved)
    olds, news = _listed(saved), _listed(current)
    if len(olds) != len(news):
        raise ValueError(f"saved {name}: {len(olds)} arrays, but there are {len(news)}")
    for index, (old, new) in enumerate(zip(olds, news, strict=True)):
        if old.shape != new.shape or old.dtype != new.dtype:
            raise ValueError(
                f"saved {name}[{index}] is {old.dtype} of shape {old.shape}, "
                f"but the parameters need {new.dtype} of shape {new.shape}"
            )
    return _copied(saved)


def _lacking(saved: Mapping[str, Any], keys: Sequence[str]) -> None:
    """Refuse a saved state in which something is missing."""
    missing = [key for key in keys if key not in saved]
    if missing:
        raise ValueError(f"the saved state lacks {', '.join(missing)}")


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
