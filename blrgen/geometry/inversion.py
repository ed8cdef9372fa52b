"""What a search for natural parameters finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from blrgen.core import Family
from blrgen.errors import UserError


@dataclass(frozen=True)
class Inversion:
    """λ for a μ, and whether it is one.

    `residual` is the largest |μ − ∇A|: in units of √F_ii for scalars, of the largest entry
    of μ_i (or 1, where that is less) for vectors and matrices.
    """

    natural: tuple[Any, ...]
    converged: bool
    iterations: int
    residual: float
    reason: str = ""

    @property
    def values(self) -> tuple[Any, ...]:
        """The natural parameters as doubles, vectors as lists, matrices as lists of rows."""
        return tuple(plain(x) for x in self.natural)


def plain(x: Any) -> Any:
    """A number as a double; a vector as a list of them, a matrix as a list of rows."""
    if isinstance(x, list):
        return [float(v) for v in x]
    if isinstance(x, np.ndarray):
        rows = [[float(v) for v in row] for row in x]
        return [v for row in rows for v in row] if x.shape[1] == 1 else rows
    return float(x)


class Outside(Exception):
    """A point at which the density has no normalisation that could be computed."""


def refused(family: Family, why: str) -> UserError:
    """No density of the family has these mean parameters."""
    return UserError(
        f"no member of {family.name!r} has these mean parameters", where=family.path, why=why
    )
