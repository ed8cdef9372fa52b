"""Working parameters of natural ones that were found, as doubles by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import mpmath

from blrgen.geometry.inversion import plain

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
Value = Any
_DIGITS = 40


def working_values(
    geometry: Geometry, natural: Sequence[Value], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    """The working parameters by name; none where none are declared or λ was not found."""
    family = geometry.family
    if not family.working or not natural:
        return {}
    if family.factors:
        return _of_product(geometry, list(natural), fixed)
    with mpmath.workdps(_DIGITS):
        if family.components is not None:
            return _of_components(geometry, natural, fixed)
        if not geometry.ring.elementwise:
            return _of_arrays(geometry, natural, fixed)
        return _of_scalars(geometry, natural, fixed)


def _of_scalars(
    geometry: Geometry, natural: Sequence[Value], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    from blrgen.geometry.invert import constants_of
    from blrgen.value.digits import evaluate_at

    point = {
        **constants_of(geometry.family, fixed),
        **dict(zip(geometry.natural, natural, strict=True)),
    }
    return {
        p.name: float(evaluate_at(geometry.working_of_natural[p.symbol], point, 20)[0])
        for p in geometry.family.working
    }


def _of_arrays(
    geometry: Geometry, natural: Sequence[Value], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    from blrgen.geometry import array_values as given
    from blrgen.value.arithmetic import REALS
    from blrgen.value.instance import Instance

    family, sizes = geometry.family, dict[Expr, int]()
    values = dict(zip(geometry.natural, natural, strict=True))
    for p in family.fixed:
        values[p.symbol] = given.numbers(given.array(fixed[p.name], p.symbol, p.name, "constants"))
    given.learn_sizes(
        [(p.name, p.symbol, values[p.symbol], p.domain.text)
         for p in (*family.fixed, *family.natural)], sizes, "natural parameters",
    )  # fmt: skip
    here = Instance(sizes, values, REALS)
    chart = geometry.working_of_natural
    return {p.name: plain(here.like(chart[p.symbol], p.symbol)) for p in family.working}


def _of_components(
    geometry: Geometry, natural: Sequence[Value], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    from blrgen.geometry.invert_components import exact_number, sizes_of_values
    from blrgen.value.arithmetic import EXTENDED
    from blrgen.value.instance import Instance

    names = {x.name: v for x, v in zip(geometry.natural, natural, strict=True)}
    names |= {k: exact_number(v, k) for k, v in fixed.items()}
    here = Instance(sizes_of_values(geometry, list(natural)), names, EXTENDED)
    chart, found = geometry.working_of_natural, dict[str, Any]()
    for p in geometry.family.working:
        found[p.name] = plain(here.like(chart[p.symbol], p.symbol))
    return found


def _of_product(
    geometry: Geometry, natural: list[Value], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for g in geometry.factors:  # type: ignore[attr-defined]
        own, natural = natural[: len(g.natural)], natural[len(g.natural) :]
        constants = {p.name: fixed[p.name] for p in g.family.fixed}
        found |= working_values(g, own, constants) or {
            x.name: plain(v) for x, v in zip(g.natural, own, strict=True)
        }
    return found
