"""What an emitted special function is: its text, its meaning, where it is checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from blrgen.emit.templates import fill, keys
from blrgen.emit.text import WIDTH

Expr = Any
QUIET = '@np.errstate(all="ignore")'
# a call that stays one keeps a loop from doing many elements at once
JITTED = '@njit(cache=True, error_model="numpy", forceinline=True)'
# in loops only, which are cached with it in them
CONTRACTED = '@njit(error_model="numpy", fastmath={"contract"}, forceinline=True)'


@dataclass(frozen=True)
class Helper:
    """An emitted function.

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
    template: str
    meaning: Callable[..., Expr]
    values: Mapping[str, str] = field(default_factory=dict)
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
    apart: bool = False

    def source(self, target: str) -> str:
        """The text for a target."""
        jitted = target == "numba"
        compiled = CONTRACTED if self.contract else JITTED
        given = {
            "decorator": compiled if jitted else QUIET,
            "real": "type(x)" if jitted else "x.dtype.type",
            "whole": "type(_integer_of(x))" if jitted else "_integer_of(x).dtype.type",
            "float": "type(_float_of(k))" if jitted else "_float_of(k).dtype.type",
            "where": "_where" if jitted else "np.where",
            "largest": "width" if jitted else "np.max(width, initial=0)",
            **self.values,
        }
        name = f"special/{self.template}{f'_{target}' if self.apart else ''}.py.jinja"
        text = fill(name, **{k: given[k] for k in keys(name)})
        arguments = re.findall(r"(\w+): Array", text.split("->")[0])
        if arguments:  # the array whose type all numbers take
            given["real"] = given["real"].replace("x", arguments[0])
        given = {k: v.replace("{where}", given["where"]) for k, v in given.items()}
        return fill(name, **{k: given[k] for k in keys(name)})


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
