"""Panels halved and joined in doubles, to spare work in many digits; nothing rests on it.

An error ρ^(−2n) of n nodes is predicted from that of a few.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.geometry.numbers.panels import Batch, evaluated, node_counts
from blrgen.geometry.numbers.task import Panels, Task, in_doubles

Array = Any
_FEW, _MORE = (6, 10), (10, 15)  # nodes to halve by, nodes to join by
_HALVINGS, _JOININGS = 6, 10
_POINTS = 40_000
_BLIND = 1e-3  # rounding beyond which doubles see nothing
_SAME = 1e-13  # of the mass on two panels, which may be little


class Scout:
    """What doubles say about panels of one integral."""

    def __init__(self, task: Task, scale: Any, centre: list[Any]) -> None:
        self.light = in_doubles(task)
        self.scale, self.centre = float(scale), [float(c) for c in centre]
        self.tiny = 10.0 ** (-(min(task.digits, 30) + 1) * _FEW[0] / node_counts(task)[0])
        if task.doubles:
            self.tiny = 1e-9
        self.used = 0

    def seen(self, p: Panels, counts: tuple[int, int] = _FEW) -> Batch:
        """The panels by few nodes."""
        there = Panels(p.branch, p.low.astype(float), p.high.astype(float))
        with np.errstate(all="ignore"):
            b = evaluated(self.light, there, counts, self.scale, self.centre)
        self.used += b.fine.u.size
        return b

    def rough(self, b: Batch, total: Array) -> Array:
        """Which panels are to be halved."""
        bad = (b.gap > total[:, None] * self.tiny) & (b.gap > b.noise * b.size)
        return np.asarray(np.any(bad | np.isnan(b.gap), axis=0))

    def halved(self, p: Panels) -> list[Panels]:
        """The panels, halved where doubles see that they must be."""
        done: list[Panels] = []
        total: Array | None = None
        for _ in range(_HALVINGS):
            b = self.seen(p)
            if not np.isfinite(b.size).all() or b.noise.max(initial=0.0) > _BLIND:
                break
            total = b.size.sum(axis=1) if total is None else total
            bad = self.rough(b, total)
            done.append(p.rows(~bad))
            p = p.rows(bad).halved()
            if not bad.any() or self.used > _POINTS:
                break
        return [q for q in (*done, p) if len(q.low)]

    def joined(self, p: Panels) -> Panels:
        """Neighbours put together where that changes neither value nor its error."""
        b = self.seen(p, _MORE)
        if not np.isfinite(b.size).all() or b.noise.max(initial=0.0) > _BLIND:
            return p
        nothing = b.size.sum(axis=1)[:, None] * 10.0 ** -(self.light.digits + 8)
        value, size = b.value, b.size
        for turn in range(_JOININGS):
            left = np.arange(turn % 2, len(p.low) - 1, 2)
            if not len(left):
                break
            pairs = self.seen(Panels(p.branch, p.low[left], p.high[left + 1]), _MORE)
            apart, weight = value[:, left] + value[:, left + 1], size[:, left] + size[:, left + 1]
            gap = np.maximum(np.abs(pairs.value - apart), pairs.gap)
            same = (gap <= weight * _SAME) | (gap <= weight * pairs.noise)
            good = np.all(same | (weight + gap <= nothing), axis=0)
            here = left[good]
            high, value, size = p.high.copy(), value.copy(), size.copy()
            high[here], value[:, here] = p.high[here + 1], pairs.value[:, good]
            size[:, here] = pairs.size[:, good]
            keep = np.ones(len(p.low), dtype=bool)
            keep[here + 1] = False
            p, value, size = (
                Panels(p.branch, p.low[keep], high[keep]),
                value[:, keep],
                size[:, keep],
            )
        return p
