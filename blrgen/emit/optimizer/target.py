"""What a target says of itself: how kernels and classes are written, which support there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from blrgen.emit.support import Support
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.spelling import Spelling
from blrgen.program.kernels import Kernel

TYPES = """Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = Array | Sequence[Array]
{numbers}DTYPES = ({dtypes})  # what the arrays may be; everything is computed in their dtype
"""


@dataclass(frozen=True)
class Target:
    """One target of optimizers; `compiled`: loops that threads share and that make noise.

    `layout` is the folder of templates/ with its whole files.
    """

    name: str
    write: Callable[[Kernel], str]
    function: Callable[[t.Function], str]
    spelling: Spelling
    support: Callable[..., Support]
    compiled: bool = False
    layout: str = "numpy"
    types: str = TYPES  # of a file's own, where the dtypes it takes are put in
    every: tuple[str, ...] = ("np", "Any", "Mapping", "Sequence", "TypeAlias", "NDArray")
