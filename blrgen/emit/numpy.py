"""The NumPy target: the same lines on whole arrays, in place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from blrgen.emit.law import MethodPrinter
from blrgen.emit.optimizer.target import Target
from blrgen.emit.support import support_of
from blrgen.emit.tree.numpy import function
from blrgen.emit.tree.rules import arrayed
from blrgen.emit.tree.spelling import Printed, Spelling
from blrgen.program.kernels import Kernel

if TYPE_CHECKING:
    from blrgen.core import Derivation

NAME = "numpy"
WORDS = {
    "flat": "[x.reshape(-1) for x in _listed({0}.params)]",
    "zeros": "np.zeros_like({0})",
    "filled": "np.full_like({0}, {1})",
    "zeros_like": "np.zeros_like({0})",
    "empty": "np.empty_like({0})",
    "all": "np.full_like({0}, {1})",
    "copy": "{0}.copy()",
    "as_array": "np.asarray({0}, dtype={1}.dtype)",
    "like": "np.broadcast_to({0}, {1}.shape).astype({1}.dtype)",
    "type": "{0}.dtype.type",
    "count_false": "{0}.size - int(np.count_nonzero({0}))",
    "unknown": "np.isnan({0}).any()",
    "picked": "np.where({0}.random({1}.shape, {1}.dtype) < {2}, {4}, {3}).astype({1}.dtype)",
}


def write(k: Kernel) -> str:
    """A kernel on whole arrays."""
    return function(arrayed(k))


def arrays(names: Mapping[str, str], over: tuple[str, ...]) -> Printed:
    """Formulas on whole arrays."""
    return MethodPrinter(dict(names), False)


TARGET = Target(NAME, write, function, Spelling(WORDS, arrays), support_of)


def emit(derivation: Derivation, dtype: str | None) -> str:
    """The source of the file."""
    from blrgen.emit.assemble import assemble

    return assemble(derivation, dtype, TARGET)
