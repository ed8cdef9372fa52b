"""Steps of vectors that are tried with smaller and smaller step sizes until they stay inside.

Each array is a candidate of its own and has its own halvings.  A trial writes to the arrays
and is looked at as every step of such a class is; the next one starts from what was there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.emit.guard import numbers
from blrgen.emit.text import indented

if TYPE_CHECKING:
    from blrgen.emit.elementwise import ElementwiseWriter
    from blrgen.emit.kernels import Kernel

HALVINGS = 60  # of a step size: a double keeps nothing of it beyond


def tried(writer: ElementwiseWriter, k: Kernel, given: dict[str, str]) -> list[str]:
    """For each array: the kernel with ρ, ρ/2, ρ/4, … until the array stays inside."""
    rate, main = writer.program.halved, writer.main
    inner = [
        *writer.scalar_lines(k.program, {rate: rate}),
        writer.called(k, {main: main} | given, 8, (rate,)),
        *writer.scalar_writes(k.program),
    ]
    return [
        f"        for index, {main} in enumerate(self.{main}):",
        f"            for halvings in range({HALVINGS + 1}):",
        "                if halvings:  # what was tried last is outside",
        *(f"                    {row}" for row in _back(writer)),
        f"                {rate} = self.{rate} / 2**halvings",
        *(indented(row, 8) for row in inner),
        "                if not self._outside(index):",
        "                    break",
    ]


def _back(writer: ElementwiseWriter) -> list[str]:
    """The states of one candidate as they were before the step."""
    main = writer.main
    held = [main if v.name == main else f"self.{v.name}[index]" for v in writer.guarded]
    rows = [f"{array}[:] = before[{place}][index]" for place, array in enumerate(held)]
    return rows + [f"self.{v.name} = {v.name}_before" for v in numbers(writer)]
