"""Data that are far from 0, or whose unit is far from 1: what is done to them and to points."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Moving:
    """Data that are brought near 0, by a number for each place of the last `axes`, with points."""

    data: str
    seen: str
    points: tuple[str, ...]
    axes: int


@dataclass(frozen=True)
class Units:
    """Data, and with which power of their units points go."""

    data: str
    points: tuple[tuple[str, float], ...]
