"""Decorators of functions that both targets have: in a file each target writes its own line.

For NumPy a function of arrays is silent about what is not finite; for Numba it becomes a part
of the loop that calls it (`blrgen.emit.support` has the lines).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def elementwise(function: F) -> F:
    """Mark a function of numbers or arrays, element by element."""
    return np.errstate(all="ignore")(function)


def inlined(function: F) -> F:
    """Mark one of loops that is put where it is called, with sums in the order that is fastest."""
    return function


def contracted(function: F) -> F:
    """Mark one in which a product and the sum it is in may be rounded once."""
    return np.errstate(all="ignore")(function)


def compiled(function: F) -> F:
    """Mark one of loops that is called by what is not compiled."""
    return function
