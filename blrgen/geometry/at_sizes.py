"""Families of several variables or of symbolic size against their own density, as numbers.

At sizes d = 1 and d = 2, and points inside the domain, sums over the density itself give
∫q, E_q[T], the covariance of ⟨X, T⟩ along a direction X, −E_q[log q] and the covariance of
log h with ⟨X, T⟩; each is compared with what was derived.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from blrgen.algebra.ranks import T, shape_of
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.geometry.coordinates import Coordinates
from blrgen.geometry.integrate import exponent_of, log_base
from blrgen.geometry.near_ends import check_scalars
from blrgen.geometry.nested import SETTLED, Nodes, TooMany, nodes_of
from blrgen.geometry.points_at_sizes import point_inside, random_like, sizes_at
from blrgen.read.sizes import size_symbols
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.algebra.ring import Ring
    from blrgen.geometry.geometry import Geometry

Expr = Any
Array = Any
TOLERANCE = 1e-10
_TURNS = ((1, 0), (1, 1), (2, 0))  # (size, point)


@dataclass(frozen=True)
class Comparison:
    """What, and its value by summation and as derived."""

    stage: str
    what: str
    found: float
    claimed: float
    place: tuple[tuple[str, str], ...]
    size: int

    @property
    def gap(self) -> float:
        gap = abs(self.found - self.claimed) / max(1.0, abs(self.found))
        return gap if np.isfinite(gap) else np.inf


def turns(family: Family) -> tuple[tuple[int, int], ...]:
    """The sizes and points to look at: of scalars there is one size."""
    return _TURNS if size_symbols(family) else ((1, 0), (1, 1), (1, 2))


def place_of(family: Family, here: Instance) -> tuple[tuple[str, str], ...]:
    """The point by name: sizes, then constants and natural parameters."""
    parts = [(str(s), str(n)) for s, n in here.sizes.items()]
    for p in (*family.fixed, *family.natural):
        value = np.asarray(here.values[p.symbol])
        shown = f"{value:.6g}" if value.ndim == 0 else str(np.round(value, 6).tolist())
        parts.append((p.name, shown))
    return tuple(parts)


def said(place: tuple[tuple[str, str], ...]) -> str:
    """A place in words."""
    return ", ".join(f"{name} = {value}" for name, value in place)


class NodeSums:
    """The density of a family at a point: nodes to sum it over."""

    def __init__(self, family: Family, exponent: Expr, here: Instance, spread: int = 0) -> None:
        self.family, self.here = family, here
        self.coordinates = Coordinates(family, here)
        self.exponent = exponent
        self.nodes: Nodes = nodes_of(
            self._log_density, self.coordinates.blocks, self.coordinates.size,
            self.coordinates.points, spread,
        )  # fmt: skip
        with np.errstate(all="ignore"):
            values, _ = self.coordinates.values(self.nodes.places)
        self.at_nodes = here.with_(values)

    def _log_density(self, y: Array) -> Array:
        values, volume = self.coordinates.values(y)
        return self.here.with_(values).value(self.exponent) + volume

    def values(self, f: Expr) -> Array:
        """f at the nodes: (M,) or (M, r, c)."""
        found = np.asarray(self.at_nodes.value(f))
        return np.broadcast_to(found, (len(self.nodes.weights), *found.shape[1:]))

    def mean(self, values: Array) -> Array:
        """E_q of values at the nodes; what has no mass does not count."""
        there = self.nodes.weights > 0
        return np.tensordot(self.nodes.weights[there], values[there], axes=1)


def density_at(
    family: Family, ring: Ring, turn: tuple[int, int], spread: int = 0
) -> NodeSums | None:
    """The density at a size and point; None where there are too many dimensions."""
    here = point_inside(family, sizes_at(family, turn[0]), turn[1])
    try:
        found = NodeSums(family, exponent_of(family, ring), here, spread)
    except TooMany:
        return None
    if spread:
        return found
    return found if found.nodes.error <= SETTLED else None


@lru_cache(maxsize=4096)
def joint_at(family: Family, f: Expr, args: tuple[float, ...]) -> float:
    """A (f is None) or E_q[f] of several scalar variables at natural parameters and constants."""
    density = _joint_density(family, args)
    if f is None:
        return density.nodes.log_mass
    with np.errstate(all="ignore"):
        return float(density.mean(density.values(f)))


@lru_cache(maxsize=32)
def _joint_density(family: Family, args: tuple[float, ...]) -> NodeSums:
    from blrgen.algebra.ring import ring_of
    from blrgen.geometry.numbers.nodes import arguments

    here = Instance({}, dict(zip(arguments(family), args, strict=True)))
    try:
        found = NodeSums(family, exponent_of(family, ring_of(family)), here)
    except TooMany as reason:
        raise UserError(
            f"the density of {family.name!r} has no numbers here", where=family.path,
            why=str(reason), how="give the log-partition in the file",
        ) from None  # fmt: skip
    if not np.isfinite(found.nodes.log_mass) or found.nodes.error > SETTLED:
        raise UserError(
            f"the density of {family.name!r} cannot be summed", where=family.path,
            why=f"at {said(place_of(family, here))} its mass does not settle",
        )  # fmt: skip
    return found


def comparisons(geometry: Geometry) -> Iterator[Comparison]:
    """Everything that can be compared, size by size and point by point."""
    for turn in turns(geometry.family):
        density = density_at(geometry.family, geometry.ring, turn)
        if density is not None:
            with np.errstate(all="ignore"):  # places without mass may overflow
                found = list(_at(geometry, density, turn))
            yield from found


def _at(geometry: Geometry, density: NodeSums, turn: tuple[int, int]) -> Iterator[Comparison]:
    family, here = geometry.family, density.here
    place, size = place_of(family, here), turn[0]

    def number(e: Expr) -> float:
        return float(here.value(e))

    claimed = number(geometry.log_partition)
    yield Comparison("normalised", "A", density.nodes.log_mass, claimed, place, size)
    along = np.zeros(len(density.nodes.weights))
    directions: dict[Expr, Array] = {}
    for t, x, mu in zip(family.statistics, geometry.natural, geometry.mean, strict=True):
        values = density.values(t)
        wanted = _like(here.value(mu), values.shape[1:])
        yield from _entries(f"E[{t}]", density.mean(values), wanted, place, size)
        move = random_like(x, here.sizes, turn[1])
        directions[x] = move
        along = along + (values * move if values.ndim == 1 else np.sum(values * move, axis=(1, 2)))
    centred = along - density.mean(along)
    form = _form(geometry, here, directions, directions)
    yield Comparison("covariance", "Var⟨X, T⟩ along a direction X",
                     float(density.mean(centred**2)), form, place, size)  # fmt: skip
    there = density.nodes.weights > 0
    log_q = np.where(there, density.values(density.exponent) - density.nodes.log_mass, 0.0)
    yield Comparison(
        "entropy", "−E[log q]", -float(density.mean(log_q)), number(geometry.entropy), place, size
    )
    base = density.values(log_base(family)) if log_base(family) != 0 else np.zeros_like(along)
    slopes = {
        x: -_like(here.value(x + e), np.shape(directions[x]))
        for x, e in zip(geometry.natural, geometry.entropy_gradient, strict=True)
    }
    yield Comparison(
        "entropy gradient", "Cov[log h, ⟨X, T⟩] along a direction X",
        float(density.mean(np.where(there, base, 0.0) * centred)),
        _form(geometry, here, directions, slopes), place, size,
    )  # fmt: skip


def _like(value: Array, shape: tuple[int, ...]) -> Array:
    """A number that stands for a multiple of the identity, as that matrix."""
    value = np.asarray(value)
    return value * np.eye(shape[0], shape[1]) if len(shape) == 2 and value.ndim == 0 else value


def _entries(
    what: str, found: Array, claimed: Array, place: tuple[tuple[str, str], ...], size: int
) -> Iterator[Comparison]:
    for index in np.ndindex(np.shape(found)):
        where = f"[{index[0] + 1},{index[1] + 1}]" if index else ""
        mine, theirs = float(found[index]), float(np.asarray(claimed)[index])
        yield Comparison("mean", what + where, mine, theirs, place, size)


def fisher_matrix(geometry: Geometry, here: Instance) -> Array:
    """The Fisher form on a basis of the parameters, of symmetric ones a basis of those."""
    from blrgen.algebra.directions import direction_symbol, directional

    basis = [(x, b) for x in geometry.natural for b in _basis(x, here)]
    total = np.zeros((len(basis), len(basis)))
    moves = {
        (i, y): (name := direction_symbol(y, "X_"), directional(mean, y, name))
        for i, mean in enumerate(geometry.mean)
        for y in geometry.natural
    }
    for col, (y, right) in enumerate(basis):
        for row, (x, left) in enumerate(basis):
            name, move = moves[geometry.natural.index(x), y]
            value = here.with_({name: right}).like(move, x)
            total[row, col] = float(np.sum(left * value))
    return total


def _basis(x: Expr, here: Instance) -> list[Array]:
    shape = shape_of(x)
    if shape is None:
        return [np.float64(1.0)]
    rows, columns = here.whole(shape[0]), here.whole(shape[1])
    found = []
    for i in range(rows):
        for j in range(columns):
            if T(x) == x and j < i:
                continue
            e = np.zeros((rows, columns))
            e[i, j] = 1.0
            found.append(np.maximum(e, e.T) if T(x) == x else e)
    return found


def _form(
    geometry: Geometry, here: Instance, left: dict[Expr, Array], right: dict[Expr, Array]
) -> float:
    """Σ_ij ⟨L_i, D_j μ_i[R_j]⟩: the Fisher form at two directions."""
    from blrgen.algebra.directions import direction_symbol, directional

    total = 0.0
    for x, mean in zip(geometry.natural, geometry.mean, strict=True):
        for y in geometry.natural:
            name = direction_symbol(y, "X_")
            moved = here.with_({name: right[y]}).value(directional(mean, y, name))
            total += float(np.sum(left[x] * _like(moved, np.shape(left[x]))))
    return total


def verify_given(family: Family, ring: Ring, derived: Expr | None) -> str:
    """The evidence for a given A at sizes 1, 2, 3; a wrong one is refused with the right value."""
    given = family.log_partition
    if derived is not None:
        if ring.tidy(given - derived) == 0:
            return "identity: the given form equals the derived one"
        for size, turn in ((1, 0), (2, 0), (3, 0), (1, 1), (2, 1)):
            here = point_inside(family, sizes_at(family, size), turn)
            _compare(family, here, float(here.value(given)), float(here.value(derived)))
        where = "at sizes 1, 2 and 3" if size_symbols(family) else "at 5 points"
        return f"numeric: the given form agrees with the derived one to 1e-10 {where}"
    seen = []
    for turn_at in turns(family):
        density = density_at(family, ring, turn_at)
        if density is not None:
            claimed = float(density.here.value(given))
            _compare(family, density.here, claimed, density.nodes.log_mass)
            seen.append(turn_at[0])
    if not seen:
        return "given: not checked (too many dimensions for quadrature)"
    return f"numeric: agrees with the density's own integral to 1e-10 {_sizes(family, seen)}"


def _sizes(family: Family, seen: list[int]) -> str:
    if not size_symbols(family):
        return f"at {len(seen)} points"
    return "at size " + " and ".join(map(str, sorted(set(seen))))


def _compare(family: Family, here: Instance, given: float, should: float) -> None:
    gap = abs(given - should)
    if not gap <= TOLERANCE * max(1.0, abs(should)):
        raise UserError(
            f"the log_partition of {family.name!r} is wrong",
            where=family.path,
            why=f"at {said(place_of(family, here))} it is {given:.12g}, "
            f"and the density normalises with {should:.12g}",
            how="correct it, or leave it out where blrgen derives it",
        )


def check_conditions(family: Family, conditions: tuple[Expr, ...]) -> None:
    """What must be positive for the integral to be finite, at points of the declared domain."""
    check_scalars(family, conditions)
    from blrgen.geometry.points_at_sizes import variables_inside

    for size in (1, 2, 3) if size_symbols(family) else (1,):
        for turn in range(4):
            here = point_inside(family, sizes_at(family, size), turn)
            full = variables_inside(family, here, turn)
            for c in conditions:
                value = np.asarray(full.value(c))
                lowest = float(value if value.ndim == 0 else np.linalg.eigvalsh(value)[0])
                if not lowest > 0:
                    raise UserError(
                        f"the density of {family.name!r} cannot be normalised",
                        where=family.path,
                        why=f"at {said(place_of(family, here))}, inside the declared domain, "
                        f"{c} is not positive",
                        how="restrict the natural domain to where ∫ h exp⟨λ, T⟩ is finite",
                    )
