"""The loss as a function of arrays of points.

Of a number the loss is a formula in the family's variable; of a vector in its components,
theta1, theta2, … .
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.partial import partial
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.read.expression import parse
from blrgen.value.tape import Tape

Array = Any
Expr = Any
WHERE = "--loss"


@dataclass(frozen=True)
class Target:
    """ℓ over points (N, d), of a number (N, 1); its slopes where they are asked for."""

    text: str
    expr: Expr
    names: tuple[Expr, ...]
    numbers: tuple[Expr, ...]  # data, with their values
    values: tuple[float, ...]

    @property
    def dimension(self) -> int:
        return len(self.names)

    def __post_init__(self) -> None:
        symbols = (*self.names, *self.numbers)
        object.__setattr__(self, "_tape", Tape([self.expr], symbols))
        object.__setattr__(self, "_slopes", None)

    def __call__(self, points: Array) -> Array:
        """ℓ at every point."""
        return self._run(self._tape, points)[0]  # type: ignore[attr-defined]

    def slope(self, points: Array) -> Array:
        """∇ℓ at every point."""
        if self._slopes is None:  # type: ignore[attr-defined]
            made = Tape([partial(self.expr, x) for x in self.names], (*self.names, *self.numbers))
            object.__setattr__(self, "_slopes", made)
        return np.stack(self._run(self._slopes, points), -1)  # type: ignore[attr-defined]

    def _run(self, tape: Tape, points: Array) -> list[Array]:
        columns = [points[:, i] for i in range(self.dimension)]
        found = tape.run([*columns, *self.values], doubles=True)
        shape = points.shape[:1]
        return [np.broadcast_to(np.asarray(x, dtype=float), shape) for x in found]


def target(text: str, family: Family, given: Mapping[str, Any]) -> Target:
    """The loss of a family's variable; `given` are numbers that its other names have."""
    vector = bool(family.support.size)
    variable = str(family.variable)
    names = _components(text, variable, given) if vector else [variable]
    symbols = {x: sp.Symbol(x, real=True) for x in names}
    data = {k: sp.Symbol(k, real=True) for k in given if k not in family.support.size}
    values = []
    for k in data:
        value = np.asarray(given[k])
        if value.ndim or value.dtype.kind not in "iuf":
            raise UserError(f"{k} is no number", where="--set", why=f"it is {value.tolist()!r:.60}")
        values.append(float(value))
    expr = parse(text, {**symbols, **data}, where=WHERE)
    used = expr.free_symbols & set(symbols.values())
    if not used:
        raise UserError(
            f"the loss does not depend on {', '.join(names)}", where=WHERE,
            how=f"of a vector write its components, {variable}1, {variable}2, …",
        )  # fmt: skip
    return Target(text, expr, tuple(symbols.values()), tuple(data.values()), tuple(values))


def _components(text: str, variable: str, given: Mapping[str, Any]) -> list[str]:
    """theta1, …, theta_d: as many as the loss names, or as `--set d=` says."""
    found = [int(i) for i in re.findall(rf"\b{variable}([1-9]\d*)\b", text)]
    most = max([*found, int(given.get("d", 0) or 0)], default=0)
    if not most:
        raise UserError(
            f"the loss names no component of {variable}", where=WHERE,
            how=f"write {variable}1, {variable}2, … for the components",
        )  # fmt: skip
    if most > 1000:
        raise UserError(f"{variable}{most} is too many components", where=WHERE)
    return [f"{variable}{i + 1}" for i in range(most)]
