"""Where a model's parameters end: floors, singular matrices, and what is told of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.handed import _ends, _unknown


def _all_finite(objective: float, state: Mapping[str, Array]) -> bool:
    """Return whether a step may be taken."""
    finite = (np.count_nonzero(np.isfinite(x)) == np.size(x) for x in state.values())
    return math.isfinite(objective) and all(finite)


def _noted(notes: list[dict[str, str]], kind: str, node: str, text: str, flags: Any) -> None:
    """Say once what a step has to say, with the elements of which it is so."""
    if not np.count_nonzero(flags):
        return
    at = [", ".join(str(i + 1) for i in index) for index in np.argwhere(flags)]
    where = f" ({'; '.join(at[:5])}{', …' if len(at) > 5 else ''})" if np.ndim(flags) else ""
    note = {"kind": kind, "node": node, "text": f"{text}{where}"}
    if note not in notes:
        notes.append(note)


def _stay_definite(
    state: dict[str, Array],
    before: Mapping[str, Array],
    nodes: Mapping[str, Mapping[str, Any]],
    notes: list[dict[str, str]],
) -> dict[str, Array]:
    """Return the state in which points that are no definite matrices stay where they were."""
    out = dict(state)
    for node, parts in nodes.items():
        name, _, domain = parts.get("", ("", (), ""))
        if domain != "SPD":
            continue
        x = state[name]
        if _factored(x):
            continue
        wrong = np.zeros(x.shape[:-2], bool)
        for k in np.ndindex(wrong.shape):
            wrong[k] = not _factored(x[k])
        if wrong.any():
            out[name] = np.where(wrong[..., None, None], before[name], x)
            _noted(notes, "singular", node, "no definite matrix: it stays where it was", wrong)
    return out


def _factored(x: Array) -> bool:
    """Return whether matrices have a factor with pivots that are more than rounding."""
    try:
        root = np.diagonal(np.linalg.cholesky(x), axis1=-2, axis2=-1)
    except np.linalg.LinAlgError:
        return False
    least = 16 * np.finfo(x.dtype).eps * np.diagonal(x, axis1=-2, axis2=-1)
    return bool((np.square(root) > least).all())


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
        below = np.count_nonzero(x < low)
        if not (below or (high < math.inf and np.count_nonzero(x > high))):
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
