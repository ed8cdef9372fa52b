"""The Numba target: one fused loop a kernel, compiled for one thread and for several."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.assemble import assemble
from blrgen.emit.kernels import Kernel, loop_kernel
from blrgen.emit.templates import fill

if TYPE_CHECKING:
    from blrgen.core import Derivation

NAME = "numba"


def emit(derivation: Derivation, dtype: str | None) -> str:
    """The source of the file."""
    return assemble(derivation, dtype, NAME, write)


def write(k: Kernel) -> str:
    """A kernel as a jitted loop."""
    return loop_kernel(k, "numba/kernel.py.jinja", fill("numba/decorator.py.jinja"))
