"""Arrays of a model in other places: data far from 0 near it, several laid end to end."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.handed import _extent


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
