"""Whether an objective grows without bound where points come to an end of their domain.

A variance of 0 or a singular covariance can make a density infinite.  What is asked is free of
units: data in metres and in nanometres are told the same.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array
from blrgen.runtime.ends import _beside_ends
from blrgen.runtime.handed import _ends

DIGITS = 16  # units in the last place by which data are changed
ORDERS = (16, 32, 288)  # of eps^−1/16, up and down: of what is off, of what is held; of all
EVEN = 0.01  # of a rise: data that change it by more decide it
DOUBTFUL = 0.1  # of log p: a point that rounding moves by more is rounding itself


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


def _near_ends(model: Any) -> bool:
    """Return whether a number is so near an end that the objective may be none there."""
    eps = float(np.finfo(model.dtype).eps)
    for name, least, most, _ in getattr(model, "ends", ()):
        x = model.state[name]
        if np.count_nonzero(x <= least + eps):
            return True
        if most < math.inf and np.count_nonzero(x >= most - eps * abs(most)):
            return True
    return False


def _ended(
    objective: float, model: Any, nodes: Any, before: dict[str, Array], count: int = 0
) -> str:
    """Return why a step is none: it grows without bound, is no number, or lost to rounding.

    It is asked where the model is and where it was before.
    """
    here = model.state
    found = objective == math.inf or _without_bound(model, nodes, count)
    if not found:
        model.state = before
        found = _without_bound(model, nodes, count)
        model.state = here
    if found:
        return "unbounded"
    return "rounding" if math.isfinite(objective) else "not finite"


def _without_bound(model: Any, nodes: Any, count: int = 0) -> bool:
    """Return whether nothing but rounding keeps points from an end where the objective is ∞.

    A maximum that data decide is where it is when their last digits change.  Where a step then
    takes points of a cone or an interval elsewhere by a part of themselves, all that is known is
    that they are small, or large.  They are led to the end from afar: if the objective rises as
    the logarithm of their distance until those digits decide it, it is ∞ there.  `count` is how
    many rows there are, where steps are on rows.
    """
    points = [x[""] for x in nodes.values() if "" in x]
    points = [x for x in points if x[2] == "SPD" or x[2][:1] in "(["]
    if not points:
        return False
    own = {name for parts in nodes.values() for name, _, _ in parts.values()}
    kept = {name: vars(model)[name] for name in ("data", "sums", "state") if name in vars(model)}
    here, other = model.state, _other_digits(model, kept, own)
    level, state = _ahead_of(model, count)
    vars(model).update(other)
    near, beside = _ahead_of(model, count)
    doubtful = _doubtful(model, points, state, beside, not abs(level - near) <= EVEN)
    state = {x: np.where(np.isfinite(y), y, here[x]) for x, y in state.items()}
    found = any(_rises(model, state, x, way, (kept, other))
                for x in _together(doubtful) for way in (1, -1))  # fmt: skip
    vars(model).update(kept)
    model.state = here
    return found


def _together(
    doubtful: Mapping[str, tuple[Array, Array, str, int]],
) -> Iterable[Mapping[str, tuple[Array, Array, str, int]]]:
    """Yield points that may go to an end together: all, of one index each, each by itself."""
    if doubtful:
        yield doubtful
    shapes = {x[0].shape[:1] for x in doubtful.values()}
    for k in range(*shapes.pop()) if len(shapes) == 1 and () not in shapes else ():
        only = {x: np.where(np.arange(len(y[1])) == k, y[1].T, 0.0).T for x, y in doubtful.items()}
        if any(x.any() for x in only.values()):
            yield {x: (y[0], only[x], *y[2:]) for x, y in doubtful.items()}
    for name, x in doubtful.items() if len(doubtful) > 1 else ():
        yield {name: x}


def _rises(
    model: Any,
    state: Mapping[str, Array],
    doubtful: Mapping[str, tuple[Array, Array, str, int]],
    way: int,
    both: tuple[Mapping[str, Any], Mapping[str, Any]],
) -> bool:
    """Return whether the objective rises by the same amounts, and then by what data differ in.

    A peak that is higher than what is behind it by more than that is a maximum.  Of matrices
    numbers say no more than how far they are off.
    """
    eps = float(np.finfo(model.dtype).eps)
    factor = eps**-0.0625
    least, reach = DOUBTFUL * math.log(factor), max(x[-1] for x in doubtful.values())
    levels, even, top, off = list[float](), -1.0, -math.inf, 0.0
    last = 0 if any(x[2] == "SPD" for x in doubtful.values()) else -reach

    def at(k: int) -> tuple[float, float]:
        """Return the objective there, and by how much other last digits change it."""
        led = {x: _led(*y[:3], factor ** (way * k), model.sizes) for x, y in doubtful.items()}
        rng, found = np.random.default_rng(0), []
        for kept, part in zip(both, (0.0, DIGITS * eps), strict=True):
            vars(model).update(kept)
            model.state = {x: np.asarray(led.get(x, y), y.dtype) for x, y in state.items()}
            model.state |= {x: _shaken(model.state[x], part, rng) for x in led}
            found.append(model.objective())
        return found[0], abs(found[0] - found[1])

    while reach < ORDERS[2] and reach >= ORDERS[1] and not at(reach)[1] <= EVEN * least:
        reach += ORDERS[1]
    for k in range(reach, last - 1, -1):
        level, found = at(k)
        if not (levels or math.isfinite(level)):
            continue
        off = max(off, found) if math.isfinite(found) else math.inf  # nearer to the end no less
        if even < 0 and levels and not off <= EVEN * max(least, abs(level - levels[-1])):
            even = _even(levels[-4:], least)
        if even == 0 or (top - level > 5 * even + 3 * off and even > 0):
            return False
        if even > 0 and not 2 * off <= even:
            return True
        levels += [level] if math.isfinite(level) else []
        top = max(levels, default=top)
    return bool(_even(levels[-4:], least) if even < 0 else even > 0)


def _even(levels: list[float], least: float) -> float:
    """Return by how much levels rise where they do twice by about the same, or 0."""
    steps = np.diff(levels)
    same = (steps[1:] > least) & (steps[1:] < 2 * steps[:-1]) & (steps[:-1] < 2 * steps[1:])
    return float(max(steps[1:][same], default=0.0))


def _ahead_of(model: Any, count: int) -> tuple[float, dict[str, Array]]:
    """Return the objective, and the state after a step of all rows, which is not taken."""
    own, notes, t = dict(model.state), list(model.notes), model.t
    if not count:
        objective, state, _ = model._swept()
        return objective, own | state
    objective = model.objective()
    if hasattr(model, "_ahead"):
        return objective, own | model._ahead(np.arange(count))[0]
    model.step(np.arange(count))
    state, model.state, model.notes, model.t = dict(model.state), own, notes, t
    return objective, state


def _other_digits(model: Any, kept: Mapping[str, Any], own: Container[str]) -> dict[str, Any]:
    """Return data with other last digits, and sums of them as a sum over so many is rounded.

    Whole numbers stay, as does the state but for sums that it has of the data.
    """
    eps, most = float(np.finfo(model.dtype).eps), max(map(np.size, model.data.values()))
    rng, out = np.random.default_rng(0), dict[str, Any]()
    for kind, arrays in kept.items():
        part = eps * (DIGITS if kind == "data" else max(DIGITS, math.sqrt(most)))
        out[kind] = {x: y if kind == "state" and x in own else _shaken(y, part, rng)
                     for x, y in arrays.items()}  # fmt: skip
    return out


def _shaken(x: Array, part: float, rng: np.random.Generator) -> Array:
    """Return other numbers, each by up to such a part of it; whole numbers stay."""
    if np.asarray(x).dtype.kind != "f":
        return x
    return np.asarray(x * (rng.uniform(-part, part, np.shape(x)) + 1), dtype=x.dtype)


def _doubtful(
    model: Any,
    points: Iterable[tuple[str, tuple[str, ...], str]],
    state: Mapping[str, Array],
    other: Mapping[str, Array],
    blurred: bool,
) -> dict[str, tuple[Array, Array, str, int]]:
    """Return the points that differ by a part of themselves in two states after a step.

    Of each: its array, what it is off, its domain, how many orders that may be wrong.  Of what is
    held beside an end, is no number, or says no more of the objective than what it is but for
    rounding (`blurred`), nothing is known; it begins where it was.
    """
    eps, found = float(np.finfo(model.dtype).eps), {}
    for name, _, domain in points:
        x, y, own = (np.asarray(z[name], np.float64) for z in (state, other, model.state))
        if domain == "SPD":
            if not np.isfinite(x + y).all():
                continue
            x, off = _thin(x, x - y, own, eps)
            reach = ORDERS[0]
        else:
            low, high = _ends(domain, model.sizes)
            least, most = _beside_ends(domain, model.sizes, model.dtype)
            held = (x <= least) | (x >= most) | ~(np.isfinite(x) & np.isfinite(y)) | blurred
            x, y = (np.where(held, own, z) for z in (x, y))
            room = np.minimum(x - low, high - x)
            off = np.where(np.abs(x - y) > DOUBTFUL * room, np.abs(x - y), 0.0)
            off, reach = np.where(held, room, off), ORDERS[int(held.any())]
        if off.any():
            found[name] = x, off, domain, reach
    return found


def _thin(x: Array, off: Array, own: Array, eps: float) -> tuple[Array, Array]:
    """Return matrices but for directions v in which they are no more than they are off; Σ v vᵀ.

    It is asked in the units in which the diagonal is 1; v is as long as what they are off.
    """
    spread, before = (np.diagonal(z, axis1=-2, axis2=-1) for z in (x, own))
    scale = np.sqrt(np.where(spread > 0, spread, np.where(before > 0, before, 1.0)))
    unit = scale[..., :, None] * scale[..., None, :]
    level, turn = np.linalg.eigh(x / unit)
    back = np.swapaxes(turn, -1, -2)
    error = np.abs(np.diagonal(back @ (off / unit) @ turn, axis1=-2, axis2=-1))
    error = np.maximum(error, DIGITS * eps)
    thin = level * DOUBTFUL <= error
    rest, own = ((turn * np.where(y, z, 0.0)[..., None, :]) @ back * unit
                 for y, z in ((~thin, level), (thin, error)))  # fmt: skip
    return rest, own


def _led(x: Array, off: Array, domain: str, factor: float, sizes: Mapping[str, int]) -> Array:
    """Return an array that is led away from an end by so many times what it is off.

    Of matrices it is the variance along directions; of an interval the nearer end counts.
    """
    with np.errstate(all="ignore"):
        if domain == "SPD":
            return np.asarray(x + factor * off)
        low, high = _ends(domain, sizes)
        nearer = x - low <= high - x
        far = np.maximum(np.minimum(x - low, high - x), off) * factor
        far = np.minimum(far, (high - low) / 2)
        return np.where(off > 0, np.where(nearer, low + far, high - far), x)
