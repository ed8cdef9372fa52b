"""Fitting a model: what a caller hands in, first states, runs, and what is kept of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from copy import deepcopy
from itertools import pairwise
from typing import Any, NoReturn

import numpy as np

from blrgen.runtime.arrays import Array

MOST_STEPS = 10000  # of a run that is given no number


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


def _check_definite(name: str, array: Array) -> None:
    """Refuse matrices that are not symmetric and positive definite."""
    turned = np.swapaxes(array, -1, -2)
    if not np.allclose(array, turned, rtol=1e-5, atol=1e-8 * float(np.abs(array).max(initial=0))):
        raise ValueError(f"{name} is not symmetric")
    try:
        np.linalg.cholesky(array)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{name} is not positive definite") from error


def _seen(array: Array, values: int) -> tuple[Array, Array]:
    """Return an array with 0 for elements that have a NaN, and 1 for the others, 0 for these."""
    axes = tuple(range(array.ndim - values, array.ndim))
    gone = np.isnan(array).any(axis=axes, keepdims=True)
    if not np.isfinite(array[~np.broadcast_to(gone, array.shape)]).all():
        raise ValueError("an observed array has entries that are not finite")
    there = np.asarray(~np.squeeze(gone, axis=axes), dtype=array.dtype)
    return (np.where(gone, array.dtype.type(0), array) if gone.any() else array), there


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


def _brought_near(
    data: dict[str, Array], moving: Mapping[str, tuple[str, tuple[str, ...], int]]
) -> dict[str, Array]:
    """Move data that lie far from 0 for their spread; return by how much, of points as well.

    Squares of what is far cancel: a difference of 1 at 10⁶ is 10⁻¹² of them.  Data that are near
    stay where they are, uncopied.
    """
    shift: dict[str, Array] = {}
    for name, (seen, points, axes) in moving.items():
        x = data[name]
        own = x.shape[x.ndim - axes :]
        rows = x.reshape(-1, *own)
        count: Any = len(rows)
        if seen:
            there = data[seen].reshape(data[seen].shape + (1,) * (x.ndim - data[seen].ndim))
            count = np.broadcast_to(there, x.shape).reshape(-1, *own).sum(axis=0)
        count = np.maximum(count, 1)
        mean = rows.sum(axis=0, dtype=np.float64) / count
        square = np.einsum("n...,n...->...", rows, rows) / count
        ratio = np.finfo(x.dtype).eps ** -0.25  # of mean² to spread²
        far = np.square(mean) > ratio * np.abs(square - np.square(mean))
        amount = np.asarray(np.where(far, mean, 0.0), dtype=x.dtype)
        if far.any() and not seen:  # what is all the same becomes 0, not what its mean rounds to
            amount = np.where(far & (rows.min(axis=0) == rows.max(axis=0)), rows[0], amount)
        if far.any():
            data[name] = (x - amount) * there if seen else x - amount
        shift |= {key: amount for key in (name, *points)}
    return shift


def _nearer(array: Array, shift: Mapping[str, Array], name: str) -> Array:
    """Return an array as what has been moved is kept."""
    return array - shift[name] if shift[name].any() else array


def _where_it_was(array: Array, shift: Mapping[str, Array], name: str) -> Array:
    """Return an array as the caller knows it."""
    return np.asarray(array + shift[name]) if shift[name].any() else np.array(array)


def _all_nearer(state: dict[str, Array], shift: Mapping[str, Array]) -> dict[str, Array]:
    """Return values that the caller gives as they are kept."""
    return {k: _nearer(x, shift, k) if k in shift else x for k, x in state.items()}


def _stacked(
    name: str,
    parts: tuple[tuple[str | int, ...], ...],
    ties: tuple[tuple[int, int, int, tuple[tuple[int, int, int], ...]], ...],
    along: str,
    lags: int,
    sizes: dict[str, int],
    dtype: Any,
) -> dict[str, Array]:
    """Return where the entries of arrays stand that are laid end to end, and note how many.

    With `along` there is a place for each of `lags` neighbours of a chain in turn.  A tie says
    which places belong together: of two parts, `lag` apart along the chain, equal on some axes.
    """
    shapes = [tuple(x if isinstance(x, int) else _extent(x, sizes) for x in p) for p in parts]
    counts = [math.prod(shape) for shape in shapes]
    ends = np.cumsum([0, *counts])
    total, out = int(ends[-1]), dict[str, Array]()
    sizes[name] = lags * total
    owner = np.tile(np.repeat(np.arange(len(parts)), counts), lags)
    turn = np.repeat(np.arange(lags), total)
    own: list[list[Array]] = []
    for k, shape in enumerate(shapes):
        grid = np.indices(shape).reshape(len(shape), counts[k])
        own.append([np.zeros(lags * total, np.int64) for _ in shape])
        for p, index in enumerate(own[k]):
            index[owner == k] = np.tile(grid[p], lags)
            out[f"{name}_of{k}_{p}"] = index
        out[f"{name}_is{k}"] = (owner == k).astype(dtype)
        places = ends[k] + np.arange(counts[k]).reshape(shape or (1,))
        if not along:
            out[f"{name}_at{k}_0"] = places
            continue
        for back in range(lags + 1):
            element = (np.arange(_extent(along, sizes)) - back) % lags * total
            out[f"{name}_at{k}_{back}"] = element.reshape(-1, *(1 for _ in places.shape)) + places
    step = turn[:, None] - turn[None, :]
    for x, (k, m, lag, axes) in enumerate(ties):
        same = (owner[:, None] == k) & (owner[None, :] == m)
        for p, q, shift in axes:
            same &= own[k][p][:, None] + shift == own[m][q][None, :]
        out[f"{name}_tie{x}"] = (same & (step == lag)).astype(dtype)
        if lag:
            out[f"{name}_tie{x}_back"] = (same & (step + lags == lag)).astype(dtype)
    if along:
        _cut_in_pieces(name, _extent(along, sizes), lags, turn, sizes, out, dtype)
    return out


def _cut_in_pieces(
    name: str,
    length: int,
    lags: int,
    turn: Array,
    sizes: dict[str, int],
    out: dict[str, Array],
    dtype: Any,
) -> None:
    """Note which elements of a chain each piece has, and which piece each element is in."""
    pieces, element = -(-length // lags), np.arange(length)
    sizes[f"{name}_pieces"] = pieces
    when = lags * np.arange(pieces)[:, None] + turn
    out[f"{name}_when"] = np.minimum(when, length - 1)
    out[f"{name}_there"] = (when < length).astype(dtype)
    out[f"{name}_piece"] = element // lags
    for lag in range(1, lags + 1):
        out[f"{name}_near{lag}"] = (element % lags >= lag).astype(dtype)


def _unknown(what: str, name: str, names: Iterable[str]) -> NoReturn:
    """Refuse a name that is not there, and say which are."""
    raise ValueError(f"no {what} of {name!r} here; there are: {', '.join(names) or 'none'}")


def _copied(found: Any) -> Any:
    """Return a copy of an array, or of each in a dictionary."""
    if isinstance(found, Mapping):
        return {name: np.array(x) for name, x in found.items()}
    return np.array(found)


def _given_start(
    start: Mapping[str, Any] | None,
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: dict[str, int],
    dtype: Any,
    free: tuple[str, ...],
) -> dict[str, Array]:
    """Return the arrays of the state that `start` says; refuse what it says wrong.

    What is said of the nodes in `free` is passed over: a step begins by finding them.
    """
    state: dict[str, Array] = {}
    for node, found in (start or {}).items():
        if node in free:
            continue
        if node not in nodes:
            _unknown("start", node, nodes)
        parts = nodes[node]
        values = {"": found} if "" in parts else found
        if not isinstance(values, Mapping) or set(values) != set(parts):
            wanted = ", ".join(parts)
            raise ValueError(f"start of {node} must be a dictionary with {wanted}")
        for parameter, (name, axes, domain) in parts.items():
            where = f"start of {node}{' ' if parameter else ''}{parameter}"
            array = _numbers(where, values[parameter], axes, dict(sizes), dtype, domain)
            state[name] = np.array(array)
    return state


def _drawn_start(
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: dict[str, int],
    dtype: Any,
    rng: np.random.Generator,
) -> dict[str, Array]:
    """Return a state in the middle of every domain, with noise so that no two elements agree."""
    state: dict[str, Array] = {}
    for parts in nodes.values():
        for name, axes, domain in parts.values():
            shape = tuple(x if isinstance(x, int) else sizes[x] for x in axes)
            found = _middle(domain, rng.standard_normal(shape), sizes)
            state[name] = np.asarray(found, dtype=dtype)
    return state


def _middle(domain: str, noise: Array, sizes: Mapping[str, int]) -> Array:
    """Return an element of a domain near its middle for each element of the noise."""
    if domain == "R":
        return noise
    if domain == "SPD":
        return np.asarray(np.broadcast_to(np.eye(noise.shape[-1]), noise.shape))
    if domain.startswith("{"):
        points = np.array([float(x) for x in domain[1:-1].split(",")])
        return np.asarray(points[np.floor(np.abs(noise) * 1e6).astype(np.int64) % len(points)])
    if domain.startswith("integers "):
        near = _middle(domain.removeprefix("integers "), noise, sizes)
        return np.asarray(np.floor(near))
    some = np.exp(0.1 * noise)
    if domain == "simplex":
        return np.asarray(some / some.sum(-1, keepdims=True))
    low, high = _ends(domain, sizes)
    if high < math.inf and low > -math.inf:
        return np.asarray(low + (high - low) * some / (1 + some))
    return np.asarray(high - some if low == -math.inf else low + some)


def _grouped(
    rows: list[Array], count: int, labels: int, dtype: Any, rng: np.random.Generator
) -> Array:
    """Return weights of labels: most on the nearest of some rows far from each other, or on any.

    The first of these rows is any, each further one with a probability that grows as the square
    of its distance from those before (k-means++, Arthur & Vassilvitskii, 2007).  No weight is 0,
    so that a label with one row of its own begins with a spread.
    """
    if rows:
        table = np.concatenate([x.reshape(count, -1).astype(np.float64) for x in rows], axis=1)
        spread = table.std(axis=0)
        table = table / np.where(spread > 0, spread, 1.0)
        nearest = np.zeros(count, np.int64)
        least = np.full(count, np.inf)
        for k in range(labels):
            total = least.sum() if k else 0.0
            chosen = rng.choice(count, p=least / total) if total > 0 else rng.integers(count)
            far = np.square(table - table[chosen]).sum(axis=1)
            nearest[far < least] = k
            least = np.minimum(least, far)
    else:
        nearest = rng.integers(0, labels, count)
    out = np.full((count, labels), 0.1 / labels, dtype)
    out[np.arange(count), nearest] += 0.9
    return out


def _all_finite(objective: float, state: Mapping[str, Array]) -> bool:
    """Return whether a step may be taken."""
    return math.isfinite(objective) and all(np.isfinite(x).all() for x in state.values())


def _noted(notes: list[dict[str, str]], kind: str, node: str, text: str, flags: Any) -> None:
    """Say once what a step has to say, with the elements of which it is so."""
    if not np.any(flags):
        return
    at = [", ".join(str(i + 1) for i in index) for index in np.argwhere(flags)]
    where = f" ({'; '.join(at[:5])}{', …' if len(at) > 5 else ''})" if np.ndim(flags) else ""
    note = {"kind": kind, "node": node, "text": f"{text}{where}"}
    if note not in notes:
        notes.append(note)


def _floors(
    floor: Mapping[str, float] | None,
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: Mapping[str, int],
) -> dict[str, tuple[str, str, float]]:
    """Return the array, domain and least value of each point that is bounded from below."""
    found: dict[str, tuple[str, str, float]] = {}
    points = {x: parts[""] for x, parts in nodes.items() if "" in parts}
    for name, value in (floor or {}).items():
        if name not in points:
            _unknown("point", name, points)
        array, _, domain = points[name]
        low, high = (0.0, math.inf) if domain == "SPD" else (-math.inf, math.inf)
        if domain[:1] in "([":
            low, high = _ends(domain, sizes)
        if domain == "simplex" or not low <= float(value) < high:
            where = "on a simplex" if domain == "simplex" else f"in {domain}"
            raise ValueError(f"floor of {name} = {value!r} is none: {name} is {where}")
        found[name] = array, domain, float(value)
    return found


def _point_ends(
    nodes: Mapping[str, Mapping[str, Any]], sizes: Mapping[str, int], dtype: Any
) -> tuple[tuple[str, float, float, str], ...]:
    """Return of each point in an interval its array, the least and the largest number, the domain.

    They are looked up once: a step has them at hand.
    """
    found = []
    for parts in nodes.values():
        name, _, domain = parts.get("", ("", (), ""))
        if name and domain[:1] in ("(", "["):
            found.append((name, *_beside_ends(domain, sizes, dtype), domain))
    return tuple(found)


def _bounded(
    state: dict[str, Array],
    flags: dict[str, Array],
    ends: tuple[tuple[str, float, float, str], ...],
    floors: Mapping[str, tuple[str, str, float]],
) -> dict[str, Array]:
    """Return the state with points inside of their domains and no less than their floors.

    What has come to an excluded end of an interval is put beside it; a matrix gets its
    eigenvalues no less than its floor.  `flags` say which elements it was.
    """
    out = dict(state)
    for name, low, high, _ in ends:
        x = np.asarray(out[name])
        if not ((x < low).any() or (high < math.inf and (x > high).any())):
            continue
        near = (x < low) | ((x > high) & (x < math.inf))
        out[name] = np.asarray(np.where(near, np.clip(x, low, high), x), dtype=x.dtype)
        flags[f"{name}_end"] = np.asarray(near)
    for array, domain, value in floors.values():
        x = np.asarray(out[array])
        if not np.isfinite(x).all():
            continue
        if domain == "SPD":
            level, turn = np.linalg.eigh(x)
            less = np.asarray((level < value).any(axis=-1))
            wide = np.maximum(level, value)[..., None, :]
            raised = (turn * wide) @ np.swapaxes(turn, -1, -2)
            raised = (raised + np.swapaxes(raised, -1, -2)) / 2
            out[array] = np.where(less[..., None, None], raised, x).astype(x.dtype)
        else:
            less = np.asarray(x < value)
            out[array] = np.asarray(np.where(less, value, x), dtype=x.dtype)
        flags[f"{array}_floor"] = less
        if f"{array}_end" in flags:
            flags[f"{array}_end"] = flags[f"{array}_end"] & ~less
    return out


def _beside_ends(domain: str, sizes: Mapping[str, int], dtype: Any) -> tuple[float, float]:
    """Return the least and the largest number of an interval; beside 0 no number is subnormal."""
    low, high = _ends(domain, sizes)
    real = np.dtype(dtype).type
    if domain[0] == "(" and low > -math.inf:
        low = max(float(np.nextafter(real(low), real(math.inf))), low + float(np.finfo(real).tiny))
    if domain[-1] == ")" and high < math.inf:
        high = min(float(np.nextafter(real(high), real(-math.inf))),
                   high - float(np.finfo(real).tiny))  # fmt: skip
    return low, high


def _noted_points(
    notes: list[dict[str, str]],
    flags: Mapping[str, Array],
    nodes: Mapping[str, Mapping[str, Any]],
    floors: Mapping[str, tuple[str, str, float]],
) -> None:
    """Say once where a point is at an end, and where a floor acts."""
    for name, (array, _, value) in floors.items():
        _noted(notes, "floor", name, f"held at its floor {value!r}",
               flags.get(f"{array}_floor", False))  # fmt: skip
    for name, parts in nodes.items():
        at = flags.get(f"{parts[''][0]}_end") if "" in parts else None
        if at is not None:
            _noted(notes, "end", name, "at an end of its domain, where it is held beside it", at)


def _at_an_end(
    state: Mapping[str, Array],
    nodes: Mapping[str, Mapping[str, Any]],
    sizes: Mapping[str, int],
) -> bool:
    """Return whether a point is at an end of its domain that is excluded, as far as numbers say.

    There a likelihood without a prior can grow without bound: a variance of 0, a singular matrix.
    """
    for parts in nodes.values():
        name, _, domain = parts.get("", ("", (), ""))
        if not name or domain in ("R", "simplex"):
            continue
        x = np.asarray(state[name], dtype=np.float64)
        eps = float(np.finfo(state[name].dtype).eps)
        if domain == "SPD":
            if _singular(x, eps):
                return True
            continue
        low, high = _ends(domain, sizes)
        if domain[0] == "(" and low > -math.inf and (x - low <= eps * (1 + abs(low))).any():
            return True
        far = high - eps * (1 + abs(high)) if high < math.inf else eps**-0.6
        if domain[-1] == ")" and (x >= far).any():
            return True
    return False


def _singular(x: Array, eps: float) -> bool:
    """Return whether a matrix has a direction without spread, whatever the units are."""
    d = x.shape[-1]
    rows = x.reshape(-1, d, d)
    rows = rows[np.isfinite(rows).all(axis=(-2, -1))]
    spread = np.diagonal(rows, axis1=-2, axis2=-1)
    if (spread <= eps).any():
        return True
    if not len(rows):
        return False
    scale = np.sqrt(spread)
    level = np.linalg.eigvalsh(rows / scale[:, :, None] / scale[:, None, :])
    return bool((level[:, 0] <= eps**0.6).any())


def _grows(model: Any) -> bool:
    """Return whether the objective goes on growing where points have come to an end.

    Beside 0 it is compared with what it is at the square root of that: of a variance of 0 it
    grows with −log of it, of a probability of 0 it does not.
    """
    state, held = dict(model.state), {}
    for name, least, most, domain in getattr(model, "ends", ()):
        x = np.asarray(state[name])
        if not ((x <= least).any() or (x >= most).any()):
            continue
        low, high = _ends(domain, model.sizes)
        inside = np.sqrt(np.finfo(x.dtype).tiny, dtype=x.dtype)
        down = (x <= least) & (domain[0] == "(") & (low > -math.inf)
        up = (x >= most) & (domain[-1] == ")") & (high < math.inf)
        if down.any() or up.any():
            off = np.where(down, low + inside, np.where(up, high - inside, x))
            held[name] = np.asarray(off, dtype=x.dtype)
    if not held:
        return False
    here = model.objective()
    model.state = {**state, **held}
    there = model.objective()
    model.state = state
    return bool(here > there + 1) or here == math.inf


def _ended(objective: float, states: Iterable[Mapping[str, Array]], model: Any, nodes: Any) -> str:
    """Return why a step is none: it grows without bound, is no number, or lost to rounding."""
    if objective == math.inf or any(_at_an_end(x, nodes, model.sizes) for x in states):
        return "unbounded"
    return "rounding" if math.isfinite(objective) else "not finite"


def _run_steps(model: Any, nodes: Any, steps: int | None, tol: float) -> dict[str, Any]:
    """Take steps until the objective rests, or so many; each step's objective is of its start.

    No step lowers the objective: one that does by more than rounding is taken back, as is one
    that is not finite, and the run ends there.
    """
    most = MOST_STEPS if steps is None else steps
    trace: list[float] = []
    before, reason = dict(model.state), "steps"
    while True:
        objective, state, flags = model._swept()
        if trace and not objective >= trace[-1] - _slack(trace[-1], model):
            reason = _ended(objective, [model.state], model, nodes)
            model.state = before
            break
        if trace and _grows(model):
            model.state, reason = before, "unbounded"
            break
        trace.append(objective)
        if len(trace) > 1 and abs(trace[-1] - trace[-2]) < tol * (1 + abs(trace[-1])):
            reason = "converged"
            break
        if len(trace) > most:
            break
        if not _all_finite(objective, state):
            reason = _ended(math.nan, [state, model.state], model, nodes)
            break
        before = dict(model.state)
        model._take(state, flags)
    return {
        "steps": len(trace) - 1,
        "converged": reason == "converged",
        "reason": reason,
        "objective": trace[-1],
        "trace": trace,
        "notes": deepcopy(model.notes),
    }


def _slack(objective: float, model: Any) -> float:
    """Return by how much rounding may lower an objective: 10⁻⁹ of it, of single precision 10⁻⁴."""
    return float(np.finfo(model.dtype).eps ** 0.575 * (1 + abs(objective)))


def _saved(model: Any) -> dict[str, Any]:
    """Return copies of all that a run goes on from."""
    saved = {
        "state": {name: np.array(x) for name, x in model.state.items()},
        "t": model.t,
        "rng": deepcopy(model.rng.bit_generator.state),
        "notes": deepcopy(model.notes),
    }
    return saved | ({"shift": deepcopy(model.shift)} if hasattr(model, "shift") else {})


def _go_on(model: Any, saved: Mapping[str, Any]) -> None:
    """Go on from what was saved; refuse what does not fit with nothing changed."""
    current = _saved(model)
    if set(saved) != set(current):
        raise ValueError(f"saved: {', '.join(saved)}; here it must be {', '.join(current)}")
    state = saved["state"]
    if set(state) != set(current["state"]):
        there = ", ".join(current["state"])
        raise ValueError(f"saved state: {', '.join(state)}; here it must be {there}")
    for name, array in current["state"].items():
        wanted, found = ((x.dtype, x.shape) for x in (array, np.asarray(state[name])))
        if wanted != found:
            raise ValueError(f"saved {name} is {found}, but here it must be {wanted}")
    moved = {}
    for name, amount in saved.get("shift", {}).items():
        if name in state and not np.array_equal(amount, model.shift[name]):
            moved[name] = np.asarray(state[name]) + (amount - model.shift[name])
    rng = deepcopy(model.rng)
    rng.bit_generator.state = deepcopy(saved["rng"])
    model.state = {name: np.array(moved.get(name, state[name])) for name in current["state"]}
    model.t, model.rng, model.notes = int(saved["t"]), rng, deepcopy(saved["notes"])


def _row_numbers(rows: Any, size: int) -> Array:
    """Return places of rows; refuse what is none."""
    found = np.asarray(rows)
    whole = found.ndim == 1 and found.dtype.kind in "iu" and found.size > 0
    if not whole or found.min() < 0 or found.max() >= size:
        raise ValueError(f"rows must be places of rows, whole numbers from 0 to before {size}")
    return np.asarray(found, dtype=np.int64, order="C")


def _rate(t: int, delay: float, forgetting: float) -> float:
    """Return ρ_t = (delay + t)^−forgetting."""
    return float((delay + t) ** -forgetting)


def _some_rows(
    data: Mapping[str, Array],
    sizes: Mapping[str, int],
    places: Mapping[str, tuple[str, str]],
    batch: str,
    rows: Array,
) -> tuple[dict[str, Array], dict[str, int]]:
    """Return the data of some rows, those of different lengths by their pointers, and sizes."""
    some, own = dict(data), {**sizes, batch: rows.size}
    for name, (axis, by) in places.items():
        if not by:
            some[name] = np.ascontiguousarray(data[name][rows])
            continue
        start, lengths = data[by][rows], data[by][rows + 1] - data[by][rows]
        ends = np.cumsum(lengths)
        inside = np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)
        some[name] = data[name][np.repeat(start, lengths) + inside]
        some[by] = np.concatenate([np.zeros(1, np.int64), ends])
        own[axis] = int(ends[-1])
    return some, own


def _run_rows(
    model: Any, nodes: Any, count: int, steps: int | None, tol: float, batch: int
) -> dict[str, Any]:
    """Take steps over rows in an order that is drawn for each epoch; the objective once an epoch.

    Steps that are left of an epoch are taken, and the objective after them is the last one.  An
    epoch after which it is not finite is taken back.
    """
    most, trace = MOST_STEPS if steps is None else steps, [model.objective()]
    taken, reason, order = 0, "steps", np.zeros(0, np.int64)
    before, at = dict(model.state), (0, model.t)
    while taken < most:
        if not order.size:
            order = model.rng.permutation(count)
        rows, order = order[:batch], order[batch:]
        model.step(rows)
        taken += 1
        if order.size and taken < most:
            continue
        objective = model.objective()
        finite = _all_finite(objective, model.state)
        if not finite or _grows(model):
            reason = "unbounded" if finite else _ended(objective, [model.state], model, nodes)
            model.state, (taken, model.t) = before, at
            break
        trace.append(objective)
        before, at = dict(model.state), (taken, model.t)
        if not order.size and abs(trace[-1] - trace[-2]) < tol * (1 + abs(trace[-1])):
            reason = "converged"
            break
    return {
        "steps": taken,
        "converged": reason == "converged",
        "reason": reason,
        "objective": trace[-1],
        "trace": trace,
        "notes": deepcopy(model.notes),
    }


def _as_chain(
    state: dict[str, Array], names: tuple[str, ...], natural: Mapping[str, Array]
) -> dict[str, Array]:
    """Return a state in which natural parameters stand in the place of marginals, if it has any."""
    if not set(names) <= set(state):
        return {k: v for k, v in state.items() if k not in names}
    return {**{k: v for k, v in state.items() if k not in names}, **natural}


def _zeros(axes: tuple[str | int, ...], sizes: Mapping[str, int], dtype: Any) -> Array:
    """Return zeros along axes."""
    return np.zeros([x if isinstance(x, int) else _extent(x, sizes) for x in axes], dtype)


def _as_element(value: Any, at: int) -> Array:
    """Return an element of a chain as an array with one place along it."""
    return np.expand_dims(np.asarray(value), at)


def _begun(t: int) -> None:
    """Refuse to say what is known of the last element before the first."""
    if not t:
        raise ValueError("no element has been taken yet; step(…) takes one")


def _went_on(model: Any, names: tuple[str, ...], found: Any) -> float:
    """Go on from the state after an element, if its log p is a number; return log p."""
    log_p, *after = found
    state = {k: np.asarray(x, dtype=model.dtype) for k, x in zip(names, after, strict=True)}
    if _all_finite_or_none(float(log_p), state):
        so_far = model.state["log_evidence"] + log_p
        model.state = {**state, "log_evidence": np.asarray(so_far, dtype=model.dtype)}
        model.t += 1
    return float(log_p)


def _all_finite_or_none(log_p: float, state: Mapping[str, Array]) -> bool:
    """Return whether a step may be taken: a label that is impossible has the logarithm −∞."""
    return math.isfinite(log_p) and not any(np.isnan(x).any() for x in state.values())


def _later(found: Array, outer: int, starts: Array | None) -> Array:
    """Return the array from the second element of each chain on; rows may lie flat."""
    if starts is None:
        return np.array(found[(slice(None),) * outer + (slice(1, None),)])
    return np.delete(found, starts[:-1][np.diff(starts) > 0], axis=outer - 1)


def _best_paths(
    start: Array,
    transition: Array,
    evidence: Array,
    outer: int,
    starts: Array | None,
    moving: bool,
) -> Array:
    """Return the most probable labels of each of several chains, whose rows may lie flat.

    `moving`: transitions are along the chain as evidence is.
    """
    if not outer:
        return _best_path(start, transition, evidence)
    if starts is None:
        plates = start.shape[:-1]
        parts = [_best_path(start[x], transition[x], evidence[x]) for x in np.ndindex(plates)]
        return np.array(parts).reshape(*plates, -1)
    if outer > 1:
        raise ValueError("no path of rows of different lengths under more than one plate")
    parts = []
    for s, (low, high) in enumerate(pairwise(starts)):
        own = transition[low:high] if moving else transition[s]
        parts.append(_best_path(start[s], own, evidence[low:high]))
    return np.concatenate(parts)


def _best_path(start: Array, transition: Array, evidence: Array) -> Array:
    """Return the most probable labels of a chain, from logarithms (Viterbi, 1967).

    `evidence` has an entry an element and label; `transition` is one for all, or one for what
    leads to each element, that of the first not read.
    """
    length, labels = evidence.shape
    if not length:
        return np.zeros(0, np.int64)
    best = start + evidence[0]
    came = np.zeros((length, labels), np.int64)
    for t in range(1, length):
        ways = best[:, None] + (transition if transition.ndim == 2 else transition[t])
        came[t] = ways.argmax(axis=0)
        best = ways.max(axis=0) + evidence[t]
    path = np.zeros(length, np.int64)
    path[-1] = best.argmax()
    for t in range(length - 1, 0, -1):
        path[t - 1] = came[t, path[t]]
    return path
