"""Whether mean parameters can be those of a density: inside the convex hull of T(support).

μ is outside (or on the edge) when some direction v has ⟨v, T(x)⟩ ≤ ⟨v, μ⟩ for every x.
The support is sampled over all orders of magnitude, and the largest values refined
between the samples; directions are the axes and those in which Newton's method runs off.
"""

from __future__ import annotations

from typing import Any

import mpmath
import numpy as np

from blrgen.core import Family
from blrgen.errors import UserError

Expr = Any
Array = Any
_PEAKS = 5
_DOUBLES = 1e200  # beyond which samples in doubles tell nothing


def separating(
    family: Family, mean: list[Any], constants: dict[Expr, Any], last: list[float] | None = None
) -> list[float] | None:
    """A direction v with ⟨v, T(x)⟩ ≤ ⟨v, μ⟩ on the whole support, of those tried; or None.

    Along `last`, where λ ran off to, an excess of the size of rounding does not count.
    """
    count = len(mean)
    if max(map(abs, mean)) > _DOUBLES:
        return None
    directions = [[float(i == j) * s for j in range(count)] for i in range(count) for s in (1, -1)]
    if last is not None and last and all(np.isfinite(last)) and any(last):
        top = max(map(abs, last))
        directions = [[x / top for x in last]]
    for v in directions:
        try:
            reached = _largest(family, np.array(v), constants)
        except UserError:
            return None
        level = mpmath.fdot(v, mean)
        slack = 1e-14 * sum(abs(a * b) for a, b in zip(v, mean, strict=True)) if last else 0
        if reached is not None and mpmath.mpf(reached) <= level + slack:
            return v
    return None


def _largest(family: Family, v: Array, constants: dict[Expr, Any]) -> float | None:
    """The largest ⟨v, T(x)⟩ over the support, in doubles."""
    from blrgen.geometry.numbers.branch import Branch, values
    from blrgen.geometry.numbers.samples import samples

    args = (*[0.0] * len(family.natural), *[float(c) for c in constants.values()])

    def level(branch: Branch, u: Array) -> Array:
        t = values(family, branch, u, args, doubles=True)[0]
        with np.errstate(all="ignore"):
            found = sum(a * np.asarray(x, dtype=float) for a, x in zip(v, t, strict=True) if a)
            found = np.broadcast_to(found, u.shape)
            return np.where(np.isnan(found), -np.inf, found)

    best: list[float] = []
    for branch, u in samples(family, constants):
        at = level(branch, u)
        best.append(float(at.max()))
        if family.support.kind == "finite":
            continue
        padded = np.concatenate([[-np.inf], at, [-np.inf]])
        tops = np.flatnonzero((at >= padded[:-2]) & (at >= padded[2:]) & np.isfinite(at))
        for k in tops[np.argsort(at[tops])[-_PEAKS:]]:
            low, high = u[max(k - 1, 0)], u[min(k + 1, len(u) - 1)]
            for _ in range(12):
                points = np.linspace(low, high, 17)
                inner = level(branch, points)
                m = int(np.argmax(inner))
                best.append(float(inner[m]))
                low, high = points[max(m - 1, 0)], points[min(m + 1, 16)]
    return max(best) if best else None
