"""What the stages share: the declaration, the geometry derived from it, the density as tables."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import mpmath

from blrgen.algebra.ring import Ring, ring_of
from blrgen.check.finding import NotChecked, Wrong, digits
from blrgen.check.limit import OutOfTime
from blrgen.check.points import Point, at_zero, distinct, edges, interior
from blrgen.core import Family
from blrgen.errors import InternalError, UserError
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.geometry.tabulated import DPS, Measure, NotIntegrated, Table, number
from blrgen.read.declaration import Source
from blrgen.value.evaluate import Undefined, evaluate

Expr = Any
Value = Any
TOLERANCE = mpmath.mpf(10) ** -10
SMALL = mpmath.mpf(10) ** -4


class Context:
    """One family under check, with `total` seconds; `failed` are the stages refuted so far."""

    def __init__(self, source: Source, family: Family, total: float = math.inf) -> None:
        self._end = time.process_time() + total
        self.source, self.family = source, family
        self.failed: set[str] = set()
        self.measure = Measure(family)
        self.limits: set[str] = set()  # where a derived form is 0/0 and has a limit
        self._broken = self._slow = False

    @property
    def left(self) -> float:
        """Seconds of the processor that all stages still have."""
        return self._end - time.process_time()

    @property
    def ring(self) -> Ring:
        return ring_of(self.family)

    @property
    def trusted(self) -> Family:
        """The family without the lines that were refuted: what does not need them still runs."""
        family = self.family
        if "log-partition" in self.failed:
            family = replace(family, log_partition=None)
        if "charts" in self.failed:
            natural = tuple(replace(p, chart=None) for p in family.natural)
            family = replace(family, natural=natural, working=())
        return family

    @cached_property
    def geometry(self) -> Geometry:
        """The derived geometry of what is not refuted."""
        if self._slow:
            raise NotChecked("the geometry is not derived in time, see above")
        try:
            return geometry_of(self.trusted)
        except OutOfTime:
            self._slow = True
            raise
        except (UserError, InternalError) as error:
            if self.failed:
                raise NotChecked("stands on what is refuted above") from None
            raise error

    @cached_property
    def points(self) -> list[Point]:
        """Interior points, zero, and points near the edges, as exact numbers."""
        family = self.family
        return distinct([*interior(family), *at_zero(family), *edges(family)])

    @property
    def tables(self) -> list[tuple[Point, Table]]:
        """The density at every point; the first stage that asks is told what is wrong with it."""
        if self._broken:
            raise NotChecked("the density cannot be integrated, see above")
        try:
            return self._tables
        except (UserError, Wrong, OutOfTime):
            self._broken = True
            raise

    @cached_property
    def _tables(self) -> list[tuple[Point, Table]]:
        """Every interior point; of the others those at which the quadrature settles."""
        inner = [(p, self.measure.table(p)) for p in interior(self.family)]
        outer = []
        for p in self.points[len(inner) :]:
            with suppress(NotIntegrated):
                outer.append((p, self.measure.table(p)))
        return [*inner, *outer]

    def has_value(self, e: Expr, point: Mapping[Expr, Expr]) -> bool:
        """Whether an expression has a value in the digits that others are compared in."""
        with mpmath.workdps(DPS):
            return self._number(e, {k: number(v) for k, v in point.items()}) is not None

    def value(self, e: Expr, point: Mapping[Expr, Expr], what: str, should: Value) -> Value:
        """A derived expression at a point, or its limit where it is 0/0 there."""
        with mpmath.workdps(DPS):
            found = self._number(e, {k: number(v) for k, v in point.items()})
            if found is None:
                found = self._limit(e, point)
            if found is None:
                raise Wrong(what, point, "undefined", digits(should))
            if isinstance(found, mpmath.mpc):
                raise Wrong(what, point, f"not real: {mpmath.nstr(found, 8)}", digits(should))
            return found

    def _number(self, e: Expr, point: Mapping[Expr, Value]) -> Value | None:
        try:
            return evaluate(e, point)
        except Undefined:
            return None

    def _limit(self, e: Expr, point: Mapping[Expr, Expr]) -> Value | None:
        """The common value a little to either side of a point, with digits enough to see it."""
        near = []
        for side in (1, -1):
            with mpmath.workdps(8 * DPS):
                step = side * mpmath.mpf(10) ** -DPS
                moved = {
                    k: number(v) + step * (1 + mpmath.mpf(i) / 3)
                    for i, (k, v) in enumerate(point.items())
                }
                near.append(self._number(e, moved))
        left, right = near
        if left is None or right is None or abs(left - right) > TOLERANCE**2 * (1 + abs(left)):
            return None
        self.limits.add(", ".join(f"{k} = {v}" for k, v in point.items()))
        return +left

    def compare(
        self, what: str, claimed: Expr, should: Value, point: Mapping[Expr, Expr], unit: Value = 1
    ) -> Value:
        """The gap between a derived expression and the density's own number.

        A gap counts in proportion to numbers down to `unit`: 1 for logarithms such as A and
        the entropy; `SMALL` for moments, which are small near an edge.  Below that the
        density's own sums are not exact enough to tell.
        """
        value = self.value(claimed, point, what, should)
        gap = abs(value - should)
        if gap > TOLERANCE * max(unit, abs(should)):
            raise Wrong(what, point, digits(value), digits(should))
        return gap / max(1, abs(should))
