"""What the stages share: the declaration, the geometry derived from it, the density as tables."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import mpmath

from blrgen.algebra.ring import Ring, ring_of
from blrgen.check.finding import NotChecked, Wrong, digits
from blrgen.check.points import Point, at_zero, distinct, edges, interior
from blrgen.core import Family
from blrgen.errors import InternalError, UserError
from blrgen.geometry.geometry import Geometry, geometry_of
from blrgen.prove.density import DPS, Measure, NotIntegrated, Table, number
from blrgen.prove.evaluate import Undefined, evaluate
from blrgen.read.declaration import Source

Expr = Any
Value = Any
TOLERANCE = mpmath.mpf(10) ** -10


class Context:
    """One family under check; `failed` are the stages refuted so far."""

    def __init__(self, source: Source, family: Family) -> None:
        self.source, self.family = source, family
        self.failed: set[str] = set()
        self.measure = Measure(family)
        self._broken = False

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
        try:
            return geometry_of(self.trusted)
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
        except (UserError, Wrong):
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

    def value(self, e: Expr, point: Mapping[Expr, Expr], what: str, should: Value) -> Value:
        """A derived expression at a point; where it has no real value it is refuted."""
        with mpmath.workdps(DPS):
            try:
                found = evaluate(e, {k: number(v) for k, v in point.items()})
            except Undefined:
                raise Wrong(what, point, "undefined", digits(should)) from None
            if isinstance(found, mpmath.mpc):
                raise Wrong(what, point, f"not real: {mpmath.nstr(found, 8)}", digits(should))
            return found

    def compare(self, what: str, claimed: Expr, should: Value, point: Mapping[Expr, Expr]) -> Value:
        """The relative gap between a derived expression and the density's own number."""
        value = self.value(claimed, point, what, should)
        gap = abs(value - should) / max(1, abs(should))
        if gap > TOLERANCE:
            raise Wrong(what, point, digits(value), digits(should))
        return gap
