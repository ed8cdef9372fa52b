"""μ → λ for families of vectors: what a user names, sizes from the lengths of the vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mpmath
import sympy as sp

from blrgen.algebra.components import Component
from blrgen.errors import UserError
from blrgen.geometry.component_newton import natural_of_mean
from blrgen.geometry.place import exact_value
from blrgen.geometry.sized import Sized

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
_DIGITS = 40


def natural_of_vectors(
    geometry: Geometry, mean: Mapping[str, Any], fixed: Mapping[str, Any]
) -> tuple[tuple[Any, ...], bool, int, float]:
    """(λ with lists for vectors, converged, steps, the largest |μ − ∇A|)."""
    from blrgen.geometry.invert import constants_of

    with mpmath.workdps(_DIGITS):
        values = [_number(v, name) for name, v in mean.items()]
        constants = {k.name: _number(v, k.name) for k, v in
                     constants_of(geometry.family, fixed).items()}  # fmt: skip
        sizes = _sizes(geometry, values)
        found = natural_of_mean(geometry, sizes, values, constants)
        if not found.converged:
            return tuple(found.natural), False, found.steps, float("inf")
        point = dict(zip((x.name for x in geometry.natural), found.natural, strict=True))
        at = Sized(geometry, sizes, {**constants, **point})
        reached = at.flat(geometry.mean)
        wanted = [x for v in values for x in (v if isinstance(v, list) else [v])]
        gap = max(abs(a - b) for a, b in zip(reached, wanted, strict=True))
        return tuple(found.natural), True, found.steps, float(gap)


def _number(value: Any, name: str) -> Any:
    """An mpmath number, or a list of them."""
    from blrgen.numeric.evaluate import exact

    if isinstance(value, mpmath.mpf) and mpmath.isfinite(value):
        return value
    if isinstance(value, list | tuple) and any(isinstance(v, mpmath.mpf) for v in value):
        return [_number(v, name) for v in value]
    found = exact_value(value, name, "mean parameters")
    if isinstance(found, sp.MatrixBase):
        return [exact(v) for v in found]
    return exact(found)


def _sizes(geometry: Geometry, values: list[Any]) -> dict[Expr, int]:
    """K from vectors of length K or K − 1; all must agree."""
    sizes: dict[Expr, int] = {}
    for x, value in zip(geometry.natural, values, strict=True):
        is_list = isinstance(value, list)
        if isinstance(x, Component) != is_list:
            raise UserError(
                f"the mean parameter of {x.name} is a {'vector' if not is_list else 'number'}",
                where="mean parameters",
            )
        if not is_list:
            continue
        names = sorted(x.size.free_symbols, key=str)
        length = len(value) - int(x.size.subs(dict.fromkeys(names, 0)))
        for name in names:
            if sizes.setdefault(name, length) != length:
                raise UserError(
                    f"the vectors give {name} = {sizes[name]} and {name} = {length}",
                    where="mean parameters",
                )
    return sizes
