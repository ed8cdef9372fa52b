"""A point of a family of vectors as a user names it, and its numbers with an error.

The sizes follow from the lengths of the vectors; sizes that no vector tells are given by
name, such as K=4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from blrgen.algebra.components import Component
from blrgen.core import Parameter
from blrgen.errors import UserError
from blrgen.geometry.place import check_inside, exact_value, uses_working
from blrgen.geometry.sized import Sized
from blrgen.value.arithmetic import EXTENDED
from blrgen.value.evaluate import Undefined
from blrgen.value.instance import Instance

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
_LEVELS = (30, 60, 130, 300, 700)  # digits, until two levels agree
_NOISE_FROM = 130  # digits from which on an entry that cancels to nothing is taken for zero
_AGREE = mpmath.mpf(10) ** -18
_NOTHING = mpmath.mpf(10) ** -330  # below every double


@dataclass(frozen=True, eq=False)
class ComponentPlace:
    """Exact numbers by name (a list for a vector), natural or working, and the sizes."""

    geometry: Geometry
    values: Mapping[str, Any]
    sizes: Mapping[Expr, int]
    working: bool

    def sized(self) -> Sized:
        """The geometry there, at the digits in force."""
        names = {k: _mp(v) for k, v in self.values.items()}
        if self.working:
            here = Instance(self.sizes, names, EXTENDED)
            names |= {x.name: here.like(e, x) for x, e in self.geometry.natural_of_working.items()}
        return Sized(self.geometry, self.sizes, names)


def _mp(value: Any) -> Any:
    if isinstance(value, list):
        return [_mp(v) for v in value]
    return mpmath.mpf(int(value.p)) / int(value.q)


def component_place(geometry: Geometry, at: Mapping[str, Any], where: str) -> ComponentPlace:
    """The point, checked against names, lengths and domains."""
    family = geometry.family
    working = uses_working(family, at, where)
    given = (*family.fixed, *(family.working if working else family.natural))
    sizes = {s: 0 for s in sorted(family.components.free_symbols, key=str)}
    _names(given, at, [str(s) for s in sizes], where)
    values: dict[str, Any] = {}
    for p in given:
        exact = exact_value(at[p.name], p.name, where)
        values[p.name] = _entries(p, exact, where)
    for s in sizes:
        if s.name in at:
            sizes[s] = _whole(at[s.name], s.name, where)
    for p in given:
        if isinstance(p.symbol, Component):
            _fit(p, len(values[p.name]), sizes, where)
    unknown = [str(s) for s, v in sizes.items() if not v]
    if unknown:
        raise UserError(f"no vector tells {', '.join(unknown)}", where=where,
                        how=f"give it, as in {unknown[0]}=4")  # fmt: skip
    place = ComponentPlace(geometry, values, sizes, working)
    sized = place.sized()
    for p in family.natural:
        _inside(p, sized.point[p.name], where)
    return place


def _names(given: tuple[Parameter, ...], at: Mapping[str, Any], sizes: list[str], where: str) -> (
    None
):  # fmt: skip
    names = [p.name for p in given]
    missing = [n for n in names if n not in at]
    extra = sorted(set(at) - {*names, *sizes})
    if missing or extra:
        said = [f"missing: {', '.join(missing)}"] if missing else []
        said += [f"not a parameter: {', '.join(extra)}"] if extra else []
        shape = {p.name: "[…,…]" if isinstance(p.symbol, Component) else "…" for p in given}
        example = ",".join(f"{n}={s}" for n, s in shape.items())
        raise UserError("; ".join(said), where=where, how=f"give {example}")


def _entries(p: Parameter, exact: Expr, where: str) -> Any:
    """The list of a vector, or the number; each inside the domain."""
    vector = isinstance(p.symbol, Component)
    if isinstance(exact, sp.MatrixBase) != vector or (vector and 1 not in exact.shape):
        wants = "a vector, as in [0.3,-2]" if vector else "a number"
        raise UserError(f"{p.name} is {wants}", where=where)
    entries = list(exact) if vector else [exact]
    for e in entries:
        check_inside(p, e, {}, where)
    return entries if vector else exact


def _inside(p: Parameter, value: Any, where: str) -> None:
    for e in value if isinstance(value, list) else [value]:
        check_inside(p, sp.Float(e, 30), {}, where)


def _whole(value: Any, name: str, where: str) -> int:
    exact = exact_value(value, name, where)
    if not (exact.is_Integer and exact > 0):
        raise UserError(f"{name} is a size: a whole number from 1", where=where)
    return int(exact)


def _fit(p: Parameter, length: int, sizes: dict[Expr, int], where: str) -> None:
    """Learn a size from a vector's length, or compare with what is known."""
    (name,) = p.symbol.size.free_symbols or {None}
    if name is None:
        should = int(p.symbol.size)
    else:
        sizes[name] = sizes[name] or length - int(p.symbol.size - name)
        should = int(p.symbol.size.subs(name, sizes[name]))
    if length != should:
        said = f" with {name} = {sizes[name]}" if name is not None else ""
        raise UserError(
            f"{p.name} has {length} components, not {should}", where=where,
            why=f"{p.name} is in {p.domain.text}{said}",
        )  # fmt: skip


def component_numbers(geometry: Geometry, at: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The numbers of `--at`: vectors after one another, the full Fisher matrix."""
    place = component_place(geometry, at, where)
    error = [0.0]

    def table(get: Callable[[Sized], list[Any]]) -> list[float]:
        return settled(lambda: get(place.sized()), error)

    rows = len(place.sized().natural)
    flat = table(lambda s: [x for row in s.fisher for x in row])
    found: dict[str, Any] = {
        "log_partition": table(lambda s: [s.log_partition])[0],
        "mean": table(lambda s: s.mean),
        "fisher": [flat[i * rows : (i + 1) * rows] for i in range(rows)],
        "entropy": table(lambda s: [s.entropy])[0],
        "entropy_gradient": table(lambda s: s.entropy_gradient),
    }
    return {**found, "error": error[0]}


def settled(get: Callable[[], list[Any]], error: list[float]) -> list[float]:
    """More digits until two levels agree; what is beyond doubles is refused."""
    before: list[Any] | None = None
    for digits in _LEVELS:
        with mpmath.workdps(digits):
            try:
                now = get()
            except Undefined:  # what cancels to nothing may have a sign with more digits
                if digits == _LEVELS[-1]:
                    raise
                continue
            if any(isinstance(v, mpmath.mpc) for v in now):
                raise UserError("there is no real number at this point", where="--at")
            if before is not None:
                if digits >= _NOISE_FROM:
                    now = _without_noise(before, now, digits)
                if all(map(_agree, before, now)):
                    break
        before = now
    else:
        raise UserError("the digits never settle at this point", where="--at")
    values = [0.0 if abs(v) < _NOTHING else float(v) for v in now]
    if any(v in (float("inf"), float("-inf")) for v in values):
        raise UserError("a number at this point is beyond double precision", where="--at",
                        how="choose a point nearer to the origin")  # fmt: skip
    error[0] = max([error[0], *(abs(v) * 2.0**-52 for v in values)])
    return values


def _without_noise(before: list[Any], now: list[Any], digits: int) -> list[Any]:
    """Zero where two levels disagree and both are nothing beside the largest entry."""
    top = max(map(abs, now), default=mpmath.mpf(0))
    earlier = _LEVELS[_LEVELS.index(digits) - 1]
    found = []
    for k, (a, b) in enumerate(zip(before, now, strict=True)):
        small = [abs(v) <= top * mpmath.mpf(10) ** (8 - d) for v, d in ((a, earlier), (b, digits))]
        if not _agree(a, b) and all(small):
            before[k] = b = mpmath.mpf(0)
        found.append(b)
    return found


def _agree(a: Any, b: Any) -> bool:
    return bool(abs(a - b) <= _AGREE * abs(b) or max(abs(a), abs(b)) < _NOTHING)
