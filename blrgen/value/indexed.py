"""The value of an expression with indices, by plain loops: slow, and nothing to go wrong.

Arrays count from 0, the places of the algebra from 1.  Deltas and guards are looked at
first: where one is 0 nothing else is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np

from blrgen.algebra.indexed.functions import PI
from blrgen.algebra.indexed.values import (
    COLUMN,
    LAST,
    NUMBER,
    ROW,
    Atom,
    Expression,
    Index,
    Term,
)
from blrgen.value.kinds import DOUBLES, Kind


class Values:
    """Arrays by the names of symbols, sizes by the names of axes, and the kind of the numbers."""

    def __init__(
        self, arrays: Mapping[str, Any], sizes: Mapping[str, int], kind: Kind = DOUBLES
    ) -> None:
        self.kind = kind
        self.arrays = {k: kind.array(v) for k, v in arrays.items()}
        self.sizes = dict(sizes)
        self.later: frozenset[str] = frozenset()  # what `also` has put in
        self.lefts: dict[str, list[set[int]]] = {}
        self.inverses: dict[tuple[object, ...], Any] = {}  # of matrices met, by where they are

    def size(self, axis: str) -> int:
        """The size of an axis; "K - 1" and "3" are sizes too."""
        if axis in self.sizes:
            return self.sizes[axis]
        name, _, less = axis.partition(" - ")
        return int(name) if name.isdigit() else self.sizes[name] - int(less or 0)

    def place(self, i: Index, at: Mapping[str, int]) -> int:
        """Where an index stands, from 0."""
        if i.name == NUMBER:
            return i.shift - 1
        if i.name == LAST:
            return self.size(i.axis) - 1 + i.shift
        return at[i.name] + i.shift

    def also(self, arrays: Mapping[str, Any]) -> Values:
        """These and more arrays."""
        made = Values({**self.arrays, **arrays}, self.sizes, self.kind)
        made.later = self.later | arrays.keys()
        return made

    def of(self, e: Expression, at: Mapping[str, int] | None = None) -> Any:
        """The value at places of its free letters, from 0."""
        number = self.kind.number
        return number(sum(number(c) * self._term(t, at or {}) for t, c in e.terms))

    def array(self, e: Expression, letters: tuple[Index, ...]) -> Any:
        """All values over the given letters."""
        sizes = [self.size(i.axis) for i in letters]
        found = np.zeros(sizes, self.kind.dtype)
        for places in product(*map(range, sizes)):
            found[places] = self.of(e, {i.name: k for i, k in zip(letters, places, strict=True)})
        return found

    def _term(self, term: Term, at: Mapping[str, int]) -> Any:
        runs = self._runs(term)
        total: Any = self.kind.number(0)
        for places in product(*runs):
            inner = dict(at) | {r.name: k for r, k in zip(term.bound, places, strict=True)}
            gates = [a for a, _ in term.factors if a.kind in ("delta", "guard")]
            if all(self._atom(a, inner) for a in gates):
                total += self._product(term, inner)
        return total

    def _runs(self, term: Term) -> list[list[int]]:
        """The places of bound letters, less those where an array that was put in is 0 all over."""
        runs = {r.name: list(range(r.low, self.size(r.axis) - r.high)) for r in term.bound}
        for a, p in term.factors:
            if a.kind == "symbol" and a.name in self.later and p > 0:
                for k, i in enumerate(a.indices):
                    if i.name in runs:
                        left, count = self._left(a.name)[k], self.arrays[a.name].shape[k]
                        runs[i.name] = [x for x in runs[i.name] if x + i.shift in left
                                        or not 0 <= x + i.shift < count]  # fmt: skip
        return list(runs.values())

    def _left(self, name: str) -> list[set[int]]:
        """Of an array by axis the places at which it is not 0 all over."""
        if name not in self.lefts:
            array = self.arrays[name]
            there = [place for place, x in np.ndenumerate(array) if x != 0]
            self.lefts[name] = [{place[k] for place in there} for k in range(array.ndim)]
        return self.lefts[name]

    def _product(self, term: Term, at: Mapping[str, int]) -> Any:
        """The factors multiplied; none is read behind one that is 0, as those put in often are."""
        found = []
        for a, p in sorted(term.factors, key=lambda x: x[0].name not in self.later):
            if a.kind not in ("delta", "guard"):  # these are 1 here
                x = self._atom(a, at)
                found.append(self.kind.number(x) if p == 1 else self.kind.power(x, p))
                if found[-1] == 0:  # of what cannot be: 0 · log 0
                    return 0
        return prod(found)

    def _atom(self, atom: Atom, at: Mapping[str, int]) -> Any:
        match atom.kind:
            case "size":
                return self.size(atom.name)
            case "delta":
                i, j = (self.place(i, at) for i in atom.indices)
                return float(i == j)
            case "guard":
                i = self.place(atom.indices[0], at)
                return float(atom.cut[0] <= i < self.size(atom.indices[0].axis) - atom.cut[1])
            case "symbol":
                return self._symbol(atom, at)
            case "matrix":
                return self._matrix(atom, at)
            case "sum":
                return self.of(atom.arguments[0], at)
        return self.kind.call(atom.name, *(self.of(a, at) for a in atom.arguments))

    def _symbol(self, atom: Atom, at: Mapping[str, int]) -> Any:
        if atom.name == PI.name:
            return self.kind.constant("pi")
        places = tuple(self.place(i, at) for i in atom.indices)
        if any(k < 0 for k in places):
            raise IndexError(f"{atom.key} read before the start")
        return self.kind.number(self.arrays[atom.name][places])

    def _matrix(self, atom: Atom, at: Mapping[str, int]) -> Any:
        """An entry of inv(M), or logdet(M); M is met at many entries and inverted once."""
        (m,) = atom.arguments
        where = (atom.name, m, *(at[i.name] for i in m.letters if i.name not in (ROW, COLUMN)))
        if where not in self.inverses:
            found = self._filled(m, at)
            logdet = atom.name == "logdet"
            self.inverses[where] = (self.kind.logdet if logdet else self.kind.inverse)(found)
        if atom.name == "logdet":
            return self.kind.number(self.inverses[where])
        i, j = (self.place(i, at) for i in atom.indices)
        return self.kind.number(self.inverses[where][i, j])

    def _filled(self, m: Expression, at: Mapping[str, int]) -> Any:
        """The matrix, entry by entry."""
        n = self.size(next(i.axis for i in m.letters if i.name == ROW))
        rows = ([self.of(m, {**at, ROW: i, COLUMN: j}) for j in range(n)] for i in range(n))
        return np.array(list(rows))
