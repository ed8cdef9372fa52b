"""The NumPy target: the same lines on whole arrays, in place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.assemble import assemble
from blrgen.emit.kernels import Kernel, array_kernel

if TYPE_CHECKING:
    from blrgen.core import Derivation

NAME = "numpy"


def emit(derivation: Derivation, dtype: str | None) -> str:
    """The source of the file."""
    return assemble(derivation, dtype, NAME, write)


def write(k: Kernel) -> str:
    """A kernel on whole arrays."""
    return array_kernel(k, "numpy/kernel.py.jinja")
