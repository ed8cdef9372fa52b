"""A point of a family with vectors and matrices as a user names it, and its numbers.

    blrgen show wishart --at "V=[[2,0.5],[0.5,1]],n=5"

Sizes follow from the shapes; F is a matrix over packed coordinates (`packed`): the entries
of the natural parameters one after the other, of symmetric ones those on and above the
diagonal, so that it is the Hessian of A in them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from blrgen.core import Parameter
from blrgen.errors import UserError
from blrgen.geometry import array_values as given
from blrgen.geometry.component_place import settled
from blrgen.geometry.inversion import plain
from blrgen.geometry.packed import fisher, flat, labels
from blrgen.geometry.place import uses_working
from blrgen.value.arithmetic import REALS
from blrgen.value.evaluate import Undefined
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any
_MOST = 120  # coordinates up to which F is written out


@dataclass(frozen=True, eq=False)
class ArrayPlace:
    """Exact numbers of the natural or working parameters and the constants, and the sizes."""

    geometry: Geometry
    values: Mapping[Expr, Value]
    sizes: Mapping[Expr, int]
    working: bool

    def precise(self) -> Instance:
        """The natural parameters and constants there, at the precision in force."""
        here = Instance(self.sizes, {x: given.numbers(v) for x, v in self.values.items()}, REALS)
        if not self.working:
            return here
        chart = self.geometry.natural_of_working
        kept = {p.symbol: here.value(p.symbol) for p in self.geometry.family.fixed}
        return Instance(
            self.sizes,
            {**kept, **{x: here.like(chart[x], x) for x in self.geometry.natural}},
            REALS,
        )


def array_place(geometry: Geometry, at: Mapping[str, Any], where: str = "--at") -> ArrayPlace:
    """The point, checked against names, shapes and domains."""
    from blrgen.read.sizes import size_symbols

    family = geometry.family
    working = uses_working(family, at, where)
    parameters = (*family.fixed, *(family.working if working else family.natural))
    names = [p.name for p in parameters]
    sizes_free = [s.name for s in size_symbols(family) if s.name not in names]
    shapes = {p.name: given.spelled(p.symbol) for p in parameters}
    given.check_names(names, at, sizes_free, shapes, where)
    told = [
        (p.name, p.symbol, given.array(at[p.name], p.symbol, p.name, where), p.domain.text)
        for p in parameters
    ]
    sizes = given.named_sizes(family, at, where)
    given.learn_sizes(told, sizes, where)
    unknown = [s.name for s in size_symbols(family) if s not in sizes]
    if unknown:
        raise UserError(f"no parameter tells {', '.join(unknown)}", where=where,
                        how=f"give it, as in {unknown[0]}=4")  # fmt: skip
    place = ArrayPlace(geometry, {x: v for _, x, v, _ in told}, sizes, working)
    _check(place, parameters, where)
    return place


def _check(place: ArrayPlace, parameters: tuple[Parameter, ...], where: str) -> None:
    """Every value is inside its domain: those given, and the natural ones they stand for."""
    import mpmath

    with mpmath.workdps(60):
        here = Instance(place.sizes, {x: given.numbers(v) for x, v in place.values.items()}, REALS)
        for p in parameters:
            given.check_domain(here, p, where)
        if place.working:
            try:
                there = place.precise()
            except Undefined as error:
                raise _no_number(error, where) from None
            for p in place.geometry.family.natural:
                given.check_domain(there, p, where)


def _no_number(error: Undefined, where: str) -> UserError:
    return UserError("there is no number at this point", where=where, why=str(error))


def array_numbers(geometry: Geometry, at: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The numbers of `--at`: one entry a statistic, in its shape; F over packed coordinates."""
    place = array_place(geometry, at, where)
    error = [0.0]
    first = place.precise()
    names = labels(geometry, first)

    def number(e: Expr) -> float:
        return _settled(lambda: [place.precise().value(e)], error, where)[0]

    def blocks(parts: tuple[Expr, ...]) -> list[Any]:
        found = _settled(lambda: [
            v for here in [place.precise()] for x, e in zip(geometry.natural, parts, strict=True)
            for v in flat(here.like(e, x))
        ], error, where)  # fmt: skip
        return _shaped(geometry, first, found)

    rows = len(names)
    entries = (
        _settled(lambda: [v for r in fisher(geometry, place.precise()) for v in r], error, where)
        if rows <= _MOST
        else None
    )
    found: dict[str, Any] = {
        "log_partition": number(geometry.log_partition),
        "mean": blocks(geometry.mean),
        "fisher": entries and [entries[i * rows : (i + 1) * rows] for i in range(rows)],
        "entropy": number(geometry.entropy),
        "entropy_gradient": blocks(geometry.entropy_gradient),
    }
    return {**found, "error": error[0], "coordinates": names}


def _settled(get: Callable[[], list[Any]], error: list[float], where: str) -> list[float]:
    try:
        return settled(get, error)
    except Undefined as reason:
        raise _no_number(reason, where) from None


def _shaped(geometry: Geometry, here: Instance, column: list[float]) -> list[Any]:
    """Numbers after one another in the shapes of the natural parameters."""
    from blrgen.algebra.tables import filled

    found: list[Any] = []
    for x in geometry.natural:
        shape = here.shape(x)
        count = 1 if shape is None else shape[0] * shape[1]
        mine, column = column[:count], column[count:]
        if shape is None:
            found.append(mine[0])
            continue
        made = filled(shape, 0.0)
        for k, v in enumerate(mine):
            made[divmod(k, shape[1])] = v
        found.append(plain(made))
    return found
