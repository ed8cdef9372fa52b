"""Noise from NumPy's generators."""

from __future__ import annotations

from typing import Any

import numpy as np

from blrgen.runtime.arrays import Array, Arrays, _listed, _views


def _generator(rng: Any, other: str = "") -> np.random.Generator:
    """Return the generator; refuse what is none, and name what may be given instead."""
    if not isinstance(rng, np.random.Generator):
        raise TypeError("pass rng=np.random.default_rng(seed)" + f", or {other}" * bool(other))
    return rng


def _normals(rng: np.random.Generator, like: Array) -> Array:
    """Draw independent standard normal numbers."""
    return rng.standard_normal(like.shape, dtype=like.dtype)


def _uniforms(
    rng: np.random.Generator, like: Array, location: float = 0.0, scale: float = 1.0
) -> Array:
    """Draw independently and evenly between location and location + scale, its ends excluded."""
    edge = np.finfo(like.dtype).epsneg
    u = np.clip(rng.random(like.shape, dtype=like.dtype), edge, 1 - edge)
    return location + scale * u


def _logistics(
    rng: np.random.Generator, like: Array, location: float = 0.0, scale: float = 1.0
) -> Array:
    """Draw independently from location + scale·log(u/(1 − u)), u uniform."""
    u = _uniforms(rng, like)
    return location + scale * (np.log(u) - np.log1p(-u))


def _bernoullis(rng: np.random.Generator, like: Array, chance: float) -> Array:
    """Draw independently 1 with that probability, else 0."""
    return (rng.random(like.shape) < chance).astype(like.dtype)


def _noise(
    name: str, given: Any, rng: Any, params: Arrays, law: Any, finite: bool, *numbers: float
) -> list[Array]:
    """Return a copy of the noise that was given, or draw it."""
    if given is not None:
        return [array.copy() for array in _views(name, given, params, finite)]
    rng = _generator(rng, f"{name}=")
    return [law(rng, array.reshape(-1), *numbers) for array in _listed(params)]
