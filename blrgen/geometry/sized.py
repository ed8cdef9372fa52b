"""A family of vectors at a concrete size: points, numbers, and the density's own sums.

Everything symbolic holds for every size; here it is compared with the density itself at
small ones, by `cubature`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from blrgen.algebra.components import Component, block, varies
from blrgen.core import Family, Parameter
from blrgen.value.arithmetic import DOUBLES, EXTENDED
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any  # a number, or the list of a vector's components
Point = dict[str, Value]
SIZES = (2, 3, 4)
_SETTLED = 3e-11
BOX_SIZES = (1, 2)  # where every component is an axis of the quadrature


def sizes_of(family: Family) -> list[dict[Expr, int]]:
    """The sizes at which a family is tried: small ones, or the declared one."""
    names = sorted(family.components.free_symbols, key=str)
    if not names:
        return [{}]
    box = family.support.kind in ("vector", "interval")
    return [dict.fromkeys(names, k) for k in (BOX_SIZES if box else SIZES)]


def points_of(family: Family, sizes: Mapping[Expr, int], count: int = 3) -> list[Point]:
    """Points inside the domains, no two components alike."""
    found = []
    for turn in range(count):
        point: Point = {}
        for i, p in enumerate((*family.fixed, *family.natural)):
            many = Instance(sizes, point, EXTENDED).whole(p.symbol.size) if varies(p.symbol) else 1
            steps = [
                mpmath.mpf(3 + 4 * turn + 5 * i + 7 * j) / (4 + 3 * i + 2 * j) for j in range(many)
            ]
            values = [_placed(p, s, j + turn, point, sizes) for j, s in enumerate(steps)]
            point[p.name] = values if varies(p.symbol) else values[0]
        found.append(point)
    return found


def _placed(p: Parameter, step: Value, turn: int, point: Point, sizes: Mapping[Expr, int]) -> Value:
    """A number of the domain, `step` > 0 from its end; on the whole line of either sign."""
    here = Instance(sizes, point, EXTENDED)
    low, high = (
        here.value(b) if b is not None and sp.sympify(b).is_finite else None
        for b in (p.domain.lower, p.domain.upper)
    )
    if p.domain.whole:
        return (low or mpmath.mpf(0)) + mpmath.ceil(step)
    if low is None and high is None:
        return step if turn % 2 else -step
    if high is None:
        return low + step
    if low is None:
        return high - step
    return low + (high - low) * step / (1 + step)


@dataclass(frozen=True, eq=False)
class Sized:
    """The geometry at one size and point, as numbers; vectors after one another."""

    geometry: Geometry
    sizes: Mapping[Expr, int]
    point: Point

    @cached_property
    def here(self) -> Instance:
        return Instance(self.sizes, self.point, EXTENDED)

    def number(self, e: Expr) -> Value:
        """A number of the geometry."""
        return self.here.value(sp.sympify(e))

    def flat(self, parts: tuple[Expr, ...]) -> list[Value]:
        """One expression a natural parameter, their components after one another."""
        found: list[Value] = []
        for x, e in zip(self.geometry.natural, parts, strict=True):
            e = sp.sympify(e)
            found += self.here.vector(e, x.size) if varies(x) else [self.here.value(e)]
        return found

    @property
    def log_partition(self) -> Value:
        return self.number(self.geometry.log_partition)

    @property
    def natural(self) -> list[Value]:
        return self.flat(self.geometry.natural)

    @property
    def mean(self) -> list[Value]:
        return self.flat(self.geometry.mean)

    @property
    def entropy(self) -> Value:
        return self.number(self.geometry.entropy)

    @property
    def entropy_gradient(self) -> list[Value]:
        return self.flat(self.geometry.entropy_gradient)

    @cached_property
    def fisher(self) -> list[list[Value]]:
        """The full matrix, from its blocks diag + Σ u wᵀ."""
        natural, rows = self.geometry.natural, []
        for m, y in zip(self.geometry.mean, natural, strict=True):
            blocks = [self._block(m, y, x) for x in natural]
            for k in range(len(blocks[0])):
                rows.append([entry for b in blocks for entry in b[k]])
        return rows

    def _block(self, m: Expr, y: Expr, x: Expr) -> list[list[Value]]:
        """∂m/∂x, m belonging to the parameter y."""
        here, b = self.here, block(m, x)
        rows = here.whole(y.size) if varies(y) else 1
        across = here.whole(x.size) if varies(x) else 1
        tall, wide = isinstance(y, Component), isinstance(x, Component)
        if not (tall and wide):
            entries = here.vector(b.diagonal, (y if tall else x).size) if tall or wide else [
                here.value(b.diagonal)
            ]  # fmt: skip
            return [[e] for e in entries] if tall else [entries]
        diagonal = here.vector(b.diagonal, y.size)
        pairs = [(here.vector(u, y.size), here.vector(w, x.size)) for u, w in b.outer]
        return [
            [
                mpmath.fsum([diagonal[i] if i == j else 0, *(u[i] * w[j] for u, w in pairs)])
                for j in range(across)
            ]
            for i in range(rows)
        ]


@dataclass(frozen=True, eq=False)
class PointSums:
    """The density itself at one size and point, as sums over weighted points, in doubles."""

    family: Family
    sizes: Mapping[Expr, int]
    point: Point
    fine: float = 1.0

    @property
    def settled(self) -> bool:
        """Whether fewer points say the same: the sums are then right to many digits."""
        rough = PointSums(self.family, self.sizes, self.point, 0.8)
        pairs = [(self.log_partition, rough.log_partition), (self.entropy, rough.entropy)]
        pairs += list(zip(self.mean, rough.mean, strict=True))
        pairs += [
            (a, b)
            for rows in zip(self.covariance, rough.covariance, strict=True)
            for a, b in zip(*rows, strict=True)
        ]
        return all(abs(a - b) <= _SETTLED * max(1, abs(a)) for a, b in pairs)

    @cached_property
    def _table(self) -> tuple[Any, Any]:
        """exponent at the points (its largest value taken off), and that value."""
        import numpy as np

        from blrgen.algebra.ring import ring_of
        from blrgen.geometry.integrate import exponent_of
        from blrgen.geometry.integrate.separable import opened

        exponent = self.at(opened(exponent_of(self.family, ring_of(self.family))))
        with np.errstate(all="ignore"):
            exponent = np.where(np.isfinite(exponent), exponent, -np.inf)
        top = float(np.max(exponent))
        return exponent - top, top

    @cached_property
    def nodes(self) -> Any:
        from blrgen.geometry.cubature import cubature

        here = Instance(self.sizes, self.point, EXTENDED)
        most = here.value(self.family.support.upper) if self.family.support.kind == "counts" else 1
        size = here.whole(self.family.components)
        return cubature(self.family.support, size, int(most), self.fine)

    def at(self, e: Expr) -> Any:
        """e(x) at all points: an array, or a list of them for a vector."""
        import numpy as np

        names = {**self.point, self.family.variable.name: self.nodes.x}
        with np.errstate(all="ignore"):
            found = Instance(self.sizes, names, DOUBLES).value(e)
        return found

    @cached_property
    def weights(self) -> Any:
        """The probability of every point."""
        import numpy as np

        mass = self.nodes.w * np.exp(self._table[0])
        return mass / np.sum(mass)

    @cached_property
    def log_partition(self) -> float:
        import numpy as np

        exponent, top = self._table
        return float(top + np.log(np.sum(self.nodes.w * np.exp(exponent))))

    @cached_property
    def statistics(self) -> list[Any]:
        """Every component of every statistic, at all points."""
        found: list[Any] = []
        for t in self.family.statistics:
            value = self.at(t)
            found += value if isinstance(value, list) else [value]
        return found

    @cached_property
    def mean(self) -> list[float]:
        return [self.expectation(t) for t in self.statistics]

    @cached_property
    def covariance(self) -> list[list[float]]:
        pairs = list(zip(self.statistics, self.mean, strict=True))
        return [[self.expectation((t - m) * (u - n)) for u, n in pairs] for t, m in pairs]

    @cached_property
    def entropy(self) -> float:
        exponent, top = self._table
        return self.log_partition - self.expectation(exponent + top)

    def expectation(self, f: Any) -> float:
        """E_q[f]; where q is zero f may be infinite."""
        import numpy as np

        return float(np.sum(np.where(self.weights > 0, f, 0.0) * self.weights))


def places(family: Family, count: int = 3) -> Iterator[tuple[Mapping[Expr, int], Point]]:
    """Sizes and points at which a family of vectors is compared with its density."""
    for sizes in sizes_of(family):
        for point in points_of(family, sizes, count):
            yield sizes, point


def shown(sizes: Mapping[Expr, int], point: Point) -> str:
    """K = 3, eta = [0.3, -1.2]."""
    parts = [f"{k} = {v}" for k, v in sizes.items()]
    for name, v in point.items():
        entries = v if isinstance(v, list) else [v]
        text = ", ".join(str(mpmath.nstr(e, 6)) for e in entries)
        parts.append(f"{name} = [{text}]" if isinstance(v, list) else f"{name} = {text}")
    return ", ".join(parts)
