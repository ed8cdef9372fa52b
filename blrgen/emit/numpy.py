"""The NumPy target: the same lines on whole arrays, in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.assemble import assemble
from blrgen.emit.kernels import Kernel
from blrgen.emit.tree.numpy import function
from blrgen.emit.tree.rules import arrayed

if TYPE_CHECKING:
    from blrgen.core import Derivation

NAME = "numpy"


def emit(derivation: Derivation, dtype: str | None) -> str:
    """The source of the file."""
    return assemble(derivation, dtype, NAME, write)


def write(k: Kernel) -> str:
    """A kernel on whole arrays."""
    return function(arrayed(k))
