"""What an emitted special function is: its text, its meaning, where it is checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from blrgen.emit.support import MARKS, table
from blrgen.emit.templates import fill
from blrgen.emit.text import WIDTH

Expr = Any
QUIET = MARKS["numpy"]["elementwise"]
JITTED = MARKS["numba"]["elementwise"]


@dataclass(frozen=True)
class Helper:
    """An emitted function.

    Of the `values` that its text has, the runtime holds the computed ones as constants
    (`numbers`); a `template` is filled with all of them.
    `ranges` are the decades in which it is checked, one (low, high) an argument (with either
    sign for those in `signed`), `near` points that are checked too,
    `scale` what an error is compared with where the value may pass through zero and
    `reference` the value in mpmath where `meaning` has no number of its own; `allowed` is
    the error in roundings that a check lets pass.  `place` makes a point of a draw from the
    ranges where an argument is bounded by another; `whole` are the arguments that are counts.
    Those of `numbers` are called with Python's.
    With `contract` a product and the sum it is in may be rounded once.
    """

    name: str
    meaning: Callable[..., Expr]
    values: Mapping[str, str] = field(default_factory=dict)
    template: str = ""  # of one that is made for an order; the others are in the runtime
    ranges: tuple[tuple[float, float], ...] = ((-12, 12),)
    near: tuple[tuple[float, ...], ...] = ()
    signed: tuple[int, ...] = ()
    says: str = ""
    scale: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None
    allowed: float = 4.0
    place: Callable[..., tuple[float, ...]] | None = None
    whole: tuple[int, ...] = ()
    numbers: bool = False  # computed once a step, never on arrays
    contract: bool = False
    uses: tuple[str, ...] = ()  # what one that is made for an order needs of the runtime

    def source(self, target: str) -> str:
        """The text for a target: of the runtime, or made for an order."""
        known = table(target).definitions
        if self.name in known:
            return known[self.name].text
        given = {**self.values, "decorator": MARKS[target]["elementwise"]}
        return fill(f"special/{self.template}.py.jinja", **given)


def rows(numbers: Any, indent: int = 8) -> str:
    """Numbers of a tuple, as many a line as fit."""
    lines, line = [], " " * indent
    for x in numbers:
        text = _text(x) + ","
        if len(line) + len(text) + 1 > WIDTH:
            lines.append(line.rstrip())
            line = " " * indent
        line += text + " "
    return "\n".join([*lines, line.rstrip()])


def _text(x: Any) -> str:
    number = float(x)
    return repr(number)
