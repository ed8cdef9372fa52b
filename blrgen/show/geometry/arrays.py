"""Numbers at a point for families of vectors and matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from blrgen.errors import UserError


def array_numbers_at(geometry: Any, at: Mapping[str, Any]) -> dict[str, Any]:
    """As `numbers_at`, for parameters that are vectors and matrices."""
    raise UserError(
        f"the natural parameters of {geometry.family.name!r} are vectors and matrices",
        where="--at",
        how="choose a family with scalar parameters, such as its elementwise or scalar form",
    )
