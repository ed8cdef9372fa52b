"""The values that a reading knows.

A number that comes from a length carries a `Mark`: n ≤ scale · value + offset, so that a
constant it meets says up to which length the code can behave otherwise.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blrgen.validate.reading.graph import Node


@dataclass(frozen=True)
class Mark:
    """Where a whole number comes from: a length, or what a loop has carried (`carried`)."""

    kind: str = "length"  # length | carried
    scale: int = 1
    offset: int = 0


CARRIED = Mark("carried")


@dataclass(frozen=True)
class Whole:
    """A whole number that is known."""

    value: int
    mark: Mark | None = None


@dataclass(frozen=True)
class Num:
    """A number; `counted` where it may be a length in disguise."""

    node: Node
    counted: bool = False
    integral: bool = False  # of Python's or NumPy's whole numbers, whatever its value
    numpy: bool = False  # one of NumPy's numbers, which have the attributes of arrays


@dataclass(frozen=True)
class Cond:
    """A truth value; `counted` as for numbers."""

    node: Node
    counted: bool = False


@dataclass(frozen=True)
class Text:
    """A word."""

    text: str


@dataclass(frozen=True)
class Size:
    """The length of an axis of any size."""

    axis: int


class Lengths(tuple):  # type: ignore[type-arg]
    """The lengths of an array's axes; how many they are is the rank, and no number here."""


@dataclass(frozen=True)
class Rank:
    """How many axes an array has: to be compared, and nothing else."""

    value: int


@dataclass(frozen=True)
class Diagonal:
    """np.diag_indices(n), as a subscript."""

    n: Whole


@dataclass(frozen=True, eq=False)
class Pivots:
    """What lu_factor gives beside its factors: which matrix these are of, and what they were."""

    matrix: Array
    factors: np.ndarray


@dataclass(frozen=True)
class Index:
    """The counter of a loop over an axis of any size."""

    axis: int


@dataclass(frozen=True)
class Span:
    """range(start, stop, step), or a range over an axis of any size."""

    start: Whole
    stop: Whole | Size | Num
    step: Whole
    parallel: bool = False


@dataclass(frozen=True)
class Slice:
    """start:stop:step, as it is written."""

    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True, eq=False)
class Array:
    """Entries as nodes; `axes` names them where one entry stands for all of an axis of any size."""

    data: np.ndarray
    kind: str = "f"  # f numbers, i whole numbers, b truth values
    axes: tuple[int, ...] | None = None

    @property
    def generic(self) -> bool:
        return self.axes is not None

    @property
    def rank(self) -> int:
        return self.data.ndim


@dataclass(frozen=True, eq=False)
class Picked:
    """x[mask]: the entries of an array where a condition holds, which is kept beside them."""

    array: Array
    mask: np.ndarray


@dataclass(eq=False)
class List:
    """A list, which can change."""

    items: list[Any]
    born: int = 0  # the loop depth at which it was made
    plain: bool = False  # written out: how long it is has nothing to do with an array


class Several(tuple):  # type: ignore[type-arg]
    """A tuple whose length may come from that of an array."""

    __slots__ = ()


@dataclass(eq=False)
class Iter:
    """zip, enumerate, or items one by one: what gives its items once."""

    kind: str  # zip | enumerate | items
    parts: tuple[Any, ...]
    strict: bool = False
    start: int = 0
    used: bool = False
    lazy: bool = False  # Python computes its items where they are used: that must be at once
    serial: int = field(default_factory=itertools.count().__next__)  # when it was made


@dataclass(frozen=True, eq=False)
class Tensor:
    """A vector (rank 1), a column or a matrix (rank 2) of any size, as a sum of words."""

    expr: Any
    rank: int


@dataclass(frozen=True, eq=False)
class Listed:
    """A list of one number for each element of an axis of any length."""

    array: Array


@dataclass(eq=False)
class Dict:
    """A dictionary with words as keys."""

    items: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Record:
    """An instance of a named tuple or a frozen dataclass."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    is_tuple: bool


@dataclass(frozen=True, eq=False)
class RecordClass:
    """A named tuple or a frozen dataclass of the file."""

    name: str
    names: tuple[str, ...]
    defaults: dict[str, Any]
    is_tuple: bool


@dataclass(eq=False)
class Scope:
    """Names of one function call, of a comprehension, or of the module."""

    names: dict[str, Any]
    local: frozenset[str]
    outer: Scope | None = None
    stale: set[str] = field(default_factory=set)


@dataclass(frozen=True, eq=False)
class Function:
    """A function of the file."""

    name: str
    node: Any
    scope: Scope
    defaults: tuple[Any, ...]
    kw_defaults: tuple[Any, ...]
    compiled: bool = False


@dataclass(frozen=True)
class Known:
    """A name of the table, or a module on the way to one."""

    name: str


@dataclass(frozen=True, eq=False)
class Method:
    """A method of a value."""

    name: str
    owner: Any


@dataclass(frozen=True, eq=False)
class Partial:
    """functools.partial."""

    function: Any
    args: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]


class Poison:
    """A name whose value another turn of the loop would have made."""


class Unusable:
    """A value of the module that can change, and so must not be read."""


def root(data: np.ndarray) -> int:
    """The memory that an array looks at."""
    while data.base is not None:
        data = data.base
    return id(data)
