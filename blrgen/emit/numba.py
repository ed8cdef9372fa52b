"""The Numba target: one fused loop a kernel, compiled for one thread and for several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from blrgen.emit import GENERATORS
from blrgen.emit.law import MethodPrinter
from blrgen.emit.numpy import WORDS
from blrgen.emit.optimizer.target import Target
from blrgen.emit.support import support_of
from blrgen.emit.tree.numba import function
from blrgen.emit.tree.rules import compiled
from blrgen.emit.tree.spelling import Printed, Spelling
from blrgen.program.kernels import Kernel

if TYPE_CHECKING:
    from blrgen.core import Derivation

NAME = "numba"
NOISE = GENERATORS  # what it can make random words with
SIZED = True  # it can write out the entries of small matrices


def emit(
    derivation: Derivation,
    dtype: str | None,
    noise: str = GENERATORS[0],
    sizes: Mapping[str, int] | None = None,
) -> str:
    """The source of the file; its random words are made by the generator `noise`.

    With `sizes` the entries of vectors and matrices of these sizes are written out.
    """
    from blrgen.emit.assemble import assemble

    return assemble(derivation, dtype, TARGET, noise, sizes)


def write(k: Kernel) -> str:
    """A kernel as a jitted loop, or as several where it is long.

    One that is called for every block is compiled into its caller, so that numbers are given
    their type, and compared where arrays may overlap, once and not for every block.
    """
    return "\n\n\n".join(map(function, compiled(k)))


def arrays(names: Mapping[str, str], over: tuple[str, ...]) -> Printed:
    """Formulas on whole arrays; compiled functions are applied element by element."""
    return MethodPrinter(dict(names), True)


TARGET = Target(NAME, write, function, Spelling(WORDS, arrays), support_of, True, NAME)
