"""How the caller holds the parameters of a rule of vectors and matrices, by their axes.

One axis: arrays of any shape, or a list of them, gathered into one vector for a step and
scattered after it.  Two: one matrix, which is written to as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.emit.optimizer.parts import ARRAYS, PARAMS
from blrgen.emit.tree import classes as c
from blrgen.program.types import Type


@dataclass(frozen=True)
class Matrix:
    """One matrix; `name` is what the caller holds, `one` what it is in a method."""

    name: str = "matrix"
    one: str = "matrix"
    kind: str = "Array"

    def gathered(self) -> c.Expression:
        """What the caller holds as one array."""
        return c.call("_parameter", c.Literal("params"), PARAMS)

    def kept(self, given: c.Expression) -> c.Expression:
        """What the object keeps of the constructor's argument."""
        return given

    def shaped(self, value: c.Expression) -> c.Expression:
        """A value for every parameter, as the caller holds them."""
        return value

    def written(self, value: c.Expression) -> c.Statement:
        """The next parameters, to where the caller holds them."""
        return c.Set((c.Item(PARAMS, c.Name(":")),), value)


@dataclass(frozen=True)
class Vectors(Matrix):
    """Arrays that are one vector together."""

    name: str = "arrays"
    one: str = "vector"
    kind: str = ARRAYS

    def gathered(self) -> c.Expression:
        return c.call("_vector", c.Literal("params"), PARAMS, PARAMS)

    def kept(self, given: c.Expression) -> c.Expression:
        return c.call("_held", c.Literal("params"), given)

    def shaped(self, value: c.Expression) -> c.Expression:
        return c.call("_split", value, PARAMS)

    def written(self, value: c.Expression) -> c.Statement:
        return c.Do(c.call("_scattered", value, PARAMS))


def held(kind: Type) -> Matrix:
    """How parameters of this type are held."""
    return (Vectors(), Matrix())[len(kind.shape) - 1]
