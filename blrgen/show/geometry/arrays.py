"""Numbers at a point for families of vectors and matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def array_numbers_at(geometry: Any, at: Mapping[str, Any]) -> dict[str, Any]:
    """As `numbers_at`, for parameters that are vectors and matrices."""
    from blrgen.geometry.array_place import array_numbers

    return array_numbers(geometry, at, "--at")
