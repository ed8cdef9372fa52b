"""The value of an expression with indices, by plain loops: slow, and nothing to go wrong.

Arrays count from 0, the places of the algebra from 1.  Deltas and guards are looked at
first: where one is 0 nothing else is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np
from scipy import special

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

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "log": np.log, "exp": np.exp, "lgamma": special.gammaln, "abs": abs, "pow": np.power,
    "cos": np.cos, "sin": np.sin, "tanh": np.tanh, "cosh": np.cosh, "sinh": np.sinh,
    "erf": special.erf, "erfcx": special.erfcx,
    "log_erfc": lambda x: np.log(2) + special.log_ndtr(-np.sqrt(2) * x),
    "digamma": special.digamma, "besselk": special.kv, "besseli": special.iv,
    "polygamma": special.polygamma, "zeta": special.zeta,
    "multigammaln": lambda a, d: special.multigammaln(a, int(d)),
    "log_indicator": lambda x: 0.0 if x == 0 else -np.inf,
    "bessel_kernel": lambda v, s: special.iv(v, np.sqrt(s)) / np.sqrt(s) ** v,
}  # fmt: skip


class Values:
    """Arrays by the names of symbols, sizes by the names of axes."""

    def __init__(self, arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.arrays = {k: np.asarray(v, dtype=float) for k, v in arrays.items()}
        self.sizes = dict(sizes)
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

    def of(self, e: Expression, at: Mapping[str, int] | None = None) -> float:
        """The value at places of its free letters, from 0."""
        return float(sum(float(c) * self._term(t, at or {}) for t, c in e.terms))

    def array(self, e: Expression, letters: tuple[Index, ...]) -> Any:
        """All values over the given letters."""
        sizes = [self.size(i.axis) for i in letters]
        found = np.zeros(sizes)
        for places in product(*map(range, sizes)):
            found[places] = self.of(e, {i.name: k for i, k in zip(letters, places, strict=True)})
        return found

    def _term(self, term: Term, at: Mapping[str, int]) -> float:
        runs = [range(r.low, self.size(r.axis) - r.high) for r in term.bound]
        total = 0.0
        for places in product(*runs):
            inner = dict(at) | {r.name: k for r, k in zip(term.bound, places, strict=True)}
            gates = [a for a, _ in term.factors if a.kind in ("delta", "guard")]
            if all(self._atom(a, inner) for a in gates):
                found = [self._atom(a, inner) ** float(p) for a, p in term.factors]
                total += 0.0 if 0.0 in found else prod(found)  # of what cannot be: 0 · log 0
        return total

    def _atom(self, atom: Atom, at: Mapping[str, int]) -> float:
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
        return float(_FUNCTIONS[atom.name](*(self.of(a, at) for a in atom.arguments)))

    def _symbol(self, atom: Atom, at: Mapping[str, int]) -> float:
        if atom.name == PI.name:
            return float(np.pi)
        places = tuple(self.place(i, at) for i in atom.indices)
        if any(k < 0 for k in places):
            raise IndexError(f"{atom.key} read before the start")
        return float(self.arrays[atom.name][places])

    def _matrix(self, atom: Atom, at: Mapping[str, int]) -> float:
        """An entry of inv(M), or logdet(M); M is met at many entries and inverted once."""
        (m,) = atom.arguments
        where = (atom.name, m, *(at[i.name] for i in m.letters if i.name not in (ROW, COLUMN)))
        if where not in self.inverses:
            found = self._filled(m, at)
            logdet = atom.name == "logdet"
            self.inverses[where] = np.linalg.slogdet(found)[1] if logdet else np.linalg.inv(found)
        if atom.name == "logdet":
            return float(self.inverses[where])
        i, j = (self.place(i, at) for i in atom.indices)
        return float(self.inverses[where][i, j])

    def _filled(self, m: Expression, at: Mapping[str, int]) -> Any:
        """The matrix, entry by entry."""
        n = self.size(next(i.axis for i in m.letters if i.name == ROW))
        rows = ([self.of(m, {**at, ROW: i, COLUMN: j}) for j in range(n)] for i in range(n))
        return np.array(list(rows))
