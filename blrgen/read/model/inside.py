"""Whether arrays lie in a domain: the first element that does not, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from blrgen.read.model.values import Domain, Expr

SLACK = 1e-8  # how far probabilities may be from summing to 1, and matrices from symmetric
Array = Any
End = Callable[[Expr], Any]


def first_outside(values: Array, domain: Domain, end: End) -> tuple[tuple[int, ...], str] | None:
    """The place of the first element outside and what is wrong with it; NaN is passed over.

    `end` gives the numbers of an interval's end: one, an array over the plates, or None.
    """
    import numpy as np

    rank = len(domain.shape)
    whole = np.asarray(values, dtype=np.float64)
    slack = _slack(np.asarray(values).dtype)
    missing: Array = np.isnan(whole)
    if rank:
        missing = missing.any(axis=tuple(range(whole.ndim - rank, whole.ndim)))
    for test, why in _tests(whole, domain, end, slack):
        bad: Array = ~np.asarray(test)
        if rank and bad.ndim == whole.ndim:
            bad = bad.any(axis=tuple(range(whole.ndim - rank, whole.ndim)))
        bad = bad & ~missing
        if bad.any():
            at = tuple(int(i) for i in np.argwhere(bad)[0])
            return at, why
    return None


def _slack(dtype: Any) -> float:
    """How far from 1 a sum in this arithmetic may be."""
    import numpy as np

    return max(SLACK, 100 * float(np.finfo(dtype).eps)) if dtype.kind == "f" else SLACK


def _tests(x: Array, domain: Domain, end: End, slack: float) -> list[tuple[Array, str]]:
    """Arrays that are true where an element is inside, each with its words."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        match domain.kind:
            case "simplex":
                total = np.abs(x.sum(axis=-1) - 1) <= slack * max(1, x.shape[-1])
                low, what = (x >= 0, "negative") if domain.closed else (x > 0, "not positive")
                return [(low, f"a component is {what}"), (total, "the components do not sum to 1")]
            case "one-hot":
                ones = ((x == 0) | (x == 1)).all(axis=-1) & (x.sum(axis=-1) == 1)
                return [(ones, "it is no row with a single 1")]
            case "counts":
                found = [((x >= 0) & (x == np.floor(x)), "it is no count")]
                most = end(domain.upper) if domain.upper is not None else None
                if most is not None:
                    found.append((x.sum(axis=-1) == most, "the counts do not have their sum"))
                return found
            case "finite":
                points = [float(p) for p in domain.points]
                return [
                    (np.isin(x, points), f"it is none of {', '.join(f'{p:g}' for p in points)}")
                ]
            case "spd":
                return _definite(x, slack)
            case "sphere":
                return [(np.abs((x * x).sum(axis=-1) - 1) <= slack, "its length is not 1")]
            case "interval":
                return _interval(x, domain, end)
    return []


def _interval(x: Array, domain: Domain, end: End) -> list[tuple[Array, str]]:
    import numpy as np

    found: list[tuple[Array, str]] = []
    rank = len(domain.shape)
    if domain.whole:
        found.append((x == np.floor(x), "it is no whole number"))
    for e, sign, opened in (
        (domain.lower, 1, domain.lower_open), (domain.upper, -1, domain.upper_open),
    ):  # fmt: skip
        if e is None:
            continue
        bound = end(e)
        if bound is None:
            continue
        bound = np.asarray(bound, dtype=np.float64)
        bound = bound.reshape(bound.shape + (1,) * rank)
        gap = sign * (x - bound)
        side = "above" if sign > 0 else "below"
        words = (
            f"it is not {side} {bound.flat[0]:g}"
            if bound.size == 1
            else f"it is not {side} its end"
        )
        if not opened:
            words = words.replace("not above", "below").replace("not below", "above")
        found.append((gap > 0 if opened else gap >= 0, words))
    return found


def _definite(x: Array, slack: float) -> list[tuple[Array, str]]:
    import numpy as np

    other = np.swapaxes(x, -1, -2)
    scale = np.abs(x).max(axis=(-1, -2), keepdims=True) if x.size else 1.0
    symmetric = (np.abs(x - other) <= slack * scale).all(axis=(-1, -2))
    clean = np.where(np.isfinite(x), (x + other) / 2, 0)
    positive = np.linalg.eigvalsh(clean).min(axis=-1) > 0
    return [(symmetric, "it is not symmetric"), (positive, "it is not positive definite")]
