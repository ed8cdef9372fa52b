"""The targets that a class is tried on: arrays of NumPy, loops, and loops that Numba compiled.

`loops` is the text for Numba, run as the Python that it is.  Where a test asks about numbers, this
is what `make test` runs of it, in a tenth of the time, and `make full` compiles it as well.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from blrgen.core import Derivation
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from tests.emit.tree.running import names_of_numpy
from tests.shared_kernels import uncompiled

LOOPS = "loops"
TARGETS = ("numpy", LOOPS, pytest.param("numba", marks=pytest.mark.rest))


def class_of(source: Callable[[str], str], target: str) -> Any:
    """The class of a text for each target."""
    if target != LOOPS:
        return compile_class(source(target))
    found = uncompiled(source("numba"))
    space = vars(sys.modules[found.__module__])
    known = names_of_numpy()  # special functions that only compiled code can run
    space |= {x: f for x, f in known.items() if x in space and x.startswith("_")}
    return found


def made(derivation: Derivation, target: str) -> Any:
    """The class of a derivation."""
    return class_of(partial(emit, derivation), target)
