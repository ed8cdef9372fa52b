"""Kalman's two forms against each other, in exact arithmetic over a prime field.

Elimination: precisions Λ of the last L elements, the oldest integrated out,

    Λ ← Λ_kk − Λ_ko Λ_oo⁻¹ Λ_ok        h ← h_k − Λ_ko Λ_oo⁻¹ h_o

Gain: means m and covariances P.  An element is predicted by its own statement, which is
x_t = A⁻¹(h_t + C w) + noise of covariance A⁻¹ given the window w, and corrected by what is
observed, with precision J (HᵀR⁻¹H) and h (HᵀR⁻¹y):

    P ← P − P J (I + P J)⁻¹ P          m ← m + P (h − J m)        (Woodbury: (P⁻¹ + J)⁻¹)

Both are run on the element's terms of the log joint, read off by differences, which of a
quadratic are exact: no coefficient that division found is used.  After T elements m, P, the
determinants and the exponents of the evidence must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from random import Random
from typing import Any

import numpy as np

from blrgen.algebra.indexed.values import COLUMN, LAST, NUMBER, ROW, Atom, Expression, Index, Term
from blrgen.decide.field import Mod, Rows, add, identity, invert, multiply, scale, transpose
from blrgen.decide.modular import P as PRIME
from blrgen.decide.modular import Unlucky
from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.expect.blocks.templates import holds
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import axis_of
from blrgen.rule.model.arrivals import NOW, element, first_elements
from blrgen.rule.model.prepare import Prepared, prepared
from blrgen.rule.model.values import ModelDerivation
from blrgen.validate.model.data import SMALL, sizes_of

LONGER = (0, 1, 2, 4)  # elements behind the first ones
MOST = 12  # numbers in a window
HALF = Mod(1) / Mod(2)


class Outside(Exception):
    """What has no value in a prime field."""


def prove_forms(d: ModelDerivation) -> tuple[tuple[str, Proof], ...]:
    """Of every Gaussian chain."""
    return tuple((u.block.name, of_chain(d, u.block)) for u in d.updates
                 if u.block.kind == "banded" and not u.block.given)  # fmt: skip


def of_chain(d: ModelDerivation, block: Block) -> Proof:
    """Both forms at several lengths, on random numbers of the field."""
    claim = f"elimination of {block.name} = Kalman's gain form"
    points = tuple(x for u in d.points for x in u.names if d.model.node(x).kind != "param")
    p = prepared(d.model, points)
    letter = next(x for x in block.letters if axis_of(d.model.plate(x).size) == block.axis)
    begins = first_elements(p.model)
    lengths = [begins + k for k in LONGER]
    try:
        degree = 0
        for T in lengths:
            chain = _Chain(p, block, letter, T, Random(T))
            if chain.width * (block.lag + 1) > MOST:
                return Proof(NOT_COMPARED, claim, f"a window has over {MOST} numbers here")
            if chain.by_elimination() != chain.by_gain():
                return Proof("refuted", claim, f"they differ at T = {T}")
            degree = max(degree, chain.degree())
    except Unlucky:
        return Proof(NOT_COMPARED, claim, "a matrix of random numbers has no inverse")
    except Outside as e:
        return Proof(NOT_COMPARED, claim, str(e))
    at = f"T = {', '.join(map(str, lengths))}"
    sizes = f"{at}; {chain.width} numbers an element"
    how = "means, covariances, determinants and exponents at random points of a prime field"
    return Proof("random-exact", claim, how, bound=f"{degree}/2^127 at each of {at}", sizes=sizes)


@dataclass(frozen=True)
class Window:
    """A quadratic of some numbers: h·x − ½ xᵀ J x."""

    h: tuple[Any, ...]
    J: Rows


class _Chain:
    """A chain of T elements with all that is known of it drawn from the field."""

    def __init__(self, p: Prepared, block: Block, letter: str, T: int, random: Random) -> None:
        self.p, self.block, self.letter, self.T = p, block, letter, T
        self.names = frozenset(x for n in block.nodes for x in p.model.node(n).names)
        sizes, _ = sizes_of(p.model, SMALL)
        plates = {axis_of(q.size) for q in p.model.plates}
        self.sizes = {k: 2 if k in plates else v for k, v in sizes.items()} | {block.axis: T}
        self.kinds = {kind: [self.energy(t, kind) for t in range(1, T + 1)]
                      for kind in ("latent", "observed")}  # fmt: skip
        known = {k: s for e in self.every for k, s in e.symbols().items()}
        self.arrays = {k: self.drawn(k, s.symmetric, s.one_hot, s.binary, random)
                       for k, s in known.items() if k not in self.names}  # fmt: skip
        self.places = [self.element(t) for t in range(T)]
        self.width = len(self.places[0])

    @property
    def every(self) -> list[Expression]:
        """All elements' terms."""
        return [e for found in self.kinds.values() for e in found]

    def energy(self, t: int, kind: str) -> Expression:
        """What an element's statements have of the chain: of latent nodes, or observed ones."""
        whole = element(self.p, self.letter, t if t <= first_elements(self.p.model) else 0, kind)
        own = ((x, c) for x, c in whole.terms if any(holds(a, self.names) for a, _ in x.factors))
        return Expression(tuple(own))

    def shape(self, name: str) -> tuple[int, ...]:
        own = name.split(":", 1)[-1]
        if own not in self.p.table.variables:
            return ()
        v = self.p.table.variables[own]
        axes = v.plates if ":" in name else (*v.plates, *v.shape)
        return tuple(self.size(x) for x in axes)

    def size(self, axis: str) -> int:
        if axis.isdigit():
            return int(axis)
        name, _, less = axis.partition(" - ")
        return self.sizes[name] - int(less or 0)

    def drawn(self, name: str, symmetric: bool, one_hot: bool, binary: bool, random: Random) -> Any:
        """Numbers of the field, in the form of the symbol."""
        if name.startswith("exists:"):
            return np.full((2, self.T), Mod(1), dtype=object)
        found = np.empty(self.shape(name), dtype=object)
        for at in np.ndindex(*found.shape):
            found[at] = Mod(random.randrange(2) if binary else random.randrange(1, PRIME))
        if symmetric:
            for *front, i, j in np.ndindex(*found.shape):
                found[(*front, i, j)] = found[(*front, max(i, j), min(i, j))]
        if one_hot:
            for at in np.ndindex(*found.shape[:-1]):
                chosen = random.randrange(found.shape[-1])
                found[at] = [Mod(int(k == chosen)) for k in range(found.shape[-1])]
        return found

    def element(self, t: int) -> list[tuple[str, tuple[int, ...]]]:
        """The chain's numbers that stand at an element."""
        out: list[tuple[str, tuple[int, ...]]] = []
        for name in sorted(self.names):
            v = self.p.table.variables[name]
            axes = (*v.plates, *v.shape)
            along = v.plates.index(self.block.axis)
            for at in product(*(range(self.size(x)) for x in axes)):
                if at[along] == t:
                    out.append((name, at))
        return out

    def quadratic(self, t: int, kind: str, times: Sequence[int]) -> Window:
        """An element's terms in the numbers of some elements, by differences."""
        own = [x for s in times for x in self.places[s]]
        e = self.kinds[kind][t]

        def at(*moves: tuple[int, int]) -> Any:
            arrays = dict(self.arrays)
            for name in self.names:
                arrays[name] = np.full(self.shape(name), Mod(0), dtype=object)
            for k, by in moves:
                arrays[own[k][0]][own[k][1]] = Mod(by)
            return Field(arrays, self.sizes).of(e, {NOW: t})

        n = len(own)
        up, down = ([at((k, s)) for k in range(n)] for s in (1, -1))
        J = [[Mod(0)] * n for _ in range(n)]
        for i in range(n):
            J[i][i] = -(up[i] + down[i])
            for j in range(i):
                J[i][j] = J[j][i] = up[i] + up[j] - at((i, 1), (j, 1))
        h = tuple((x - y) * HALF for x, y in zip(up, down, strict=True))
        return Window(h, tuple(map(tuple, J)))

    # -- the two forms -----------------------------------------------------------------------
    def by_elimination(self) -> tuple[Any, ...]:
        """(m, P, determinant, exponent)."""
        times: list[int] = []
        h: tuple[Any, ...] = ()
        J: Rows = ()
        det, exponent = Mod(1), Mod(0)
        for t in range(self.T):
            times = [t, *times]
            own = [self.quadratic(t, kind, times) for kind in ("latent", "observed")]
            J = add(add(_widened(J, self.width), own[0].J), own[1].J)
            before = (*[Mod(0)] * self.width, *h)
            h = tuple(x + y + z for x, y, z in zip(before, own[0].h, own[1].h, strict=True))
            if len(times) > self.block.lag:
                times = times[:-1]
                k = len(times) * self.width
                inverse, size = invert(_part(J, k, None, k, None))
                cross = _part(J, 0, k, k, None)
                gain = multiply(cross, inverse)
                det, exponent = det * size, exponent + HALF * _square(inverse, h[k:])
                J = add(_part(J, 0, k, 0, k), scale(-1, multiply(gain, transpose(cross))))
                h = tuple(x - y for x, y in zip(h[:k], _times(gain, h[k:]), strict=True))
        P, size = invert(J)
        return _times(P, h), P, det * size, exponent + HALF * _square(P, h)

    def by_gain(self) -> tuple[Any, ...]:
        """The same from means and covariances."""
        times: list[int] = []
        m: tuple[Any, ...] = ()
        P: Rows = ()
        det, exponent = Mod(1), Mod(0)
        n = self.width
        for t in range(self.T):
            times = [t, *times]
            own = self.quadratic(t, "latent", times)
            noise, size = invert(_part(own.J, 0, n, 0, n))
            det, exponent = det * size, exponent + HALF * _square(noise, own.h[:n])
            self.proper(own, noise)
            m, P = _predicted(own, noise, m, P, n)
            seen = self.quadratic(t, "observed", times)
            left, size = invert(add(identity(len(m), Mod(1)), multiply(P, seen.J)))
            moved = multiply(multiply(multiply(P, seen.J), left), P)
            P = add(P, scale(-1, moved))
            far = tuple(x - y for x, y in zip(seen.h, _times(seen.J, m), strict=True))
            exponent += _dot(seen.h, m) - HALF * _square(seen.J, m) + HALF * _square(P, far)
            det = det * size
            m = tuple(x + y for x, y in zip(m, _times(P, far), strict=True))
            if len(times) > self.block.lag:
                times = times[:-1]
                k = len(times) * n
                m, P = m[:k], _part(P, 0, k, 0, k)
        return m, P, det, exponent

    def proper(self, own: Window, noise: Rows) -> None:
        """What an element's own statement has of the window is that of a normalised density."""
        n = self.width
        cross = scale(-1, _part(own.J, 0, n, n, None))
        if not cross[0]:
            return
        inner = multiply(multiply(transpose(cross), noise), cross)
        level = _times(multiply(transpose(cross), noise), own.h[:n])
        if inner != _part(own.J, n, None, n, None) or level != tuple(-x for x in own.h[n:]):
            raise Outside("an element's own terms are no density given those before")

    def degree(self) -> int:
        """A bound for the degree of what is compared: inverses are cofactors over determinants."""
        c = max(sum(self.of_term(t) for t, _ in e.terms) for e in self.every)
        n, found = self.width * (self.block.lag + 1), 1
        for _ in range(self.T):
            found = (n + 4) * (found + 5 * n * c)
        return found + 4 * n * self.T * c

    def of_term(self, term: Term) -> int:
        own = sum(int(abs(p)) * self.of_atom(a) for a, p in term.factors)
        return own * prod(self.size(r.axis) for r in term.bound)

    def of_atom(self, a: Atom) -> int:
        inner = sum(self.of_term(t) for e in a.arguments for t, _ in e.terms)
        if a.kind == "matrix":
            axis = next(i.axis for i in a.arguments[0].letters if i.name == ROW)
            return self.size(axis) ** 2 * inner
        return inner if a.kind == "sum" else int(a.kind == "symbol")


def _predicted(
    own: Window, noise: Rows, m: tuple[Any, ...], P: Rows, n: int
) -> tuple[tuple[Any, ...], Rows]:
    """The window with a new element in front."""
    level = _times(noise, own.h[:n])
    if not m:
        return level, noise
    F = multiply(noise, scale(-1, _part(own.J, 0, n, n, None)))
    FP = multiply(F, P)
    front = add(noise, multiply(FP, transpose(F)))
    top = tuple((*x, *y) for x, y in zip(front, FP, strict=True))
    below = tuple((*x, *y) for x, y in zip(transpose(FP), P, strict=True))
    new = tuple(x + y for x, y in zip(level, _times(F, m), strict=True))
    return (*new, *m), (*top, *below)


def _widened(J: Rows, n: int) -> Rows:
    """The matrix with n rows and columns of zeros in front."""
    whole = n + len(J)
    front = tuple((Mod(0),) * whole for _ in range(n))
    return (*front, *((*(Mod(0),) * n, *r) for r in J))


def _part(a: Rows, i: int, j: int | None, k: int, m: int | None) -> Rows:
    return tuple(r[k:m] for r in a[i:j])


def _dot(x: Sequence[Any], y: Sequence[Any]) -> Any:
    return sum((u * v for u, v in zip(x, y, strict=True)), start=Mod(0))


def _times(a: Rows, x: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(_dot(r, x) for r in a)


def _square(a: Rows, x: Sequence[Any]) -> Any:
    return _dot(x, _times(a, x))


class Field:
    """The value of an expression over the field, by plain loops."""

    def __init__(self, arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.arrays, self.sizes = arrays, sizes
        self.inverses: dict[object, Rows] = {}

    def size(self, axis: str) -> int:
        return int(axis) if axis.isdigit() else self.sizes[axis]

    def of(self, e: Expression, at: Mapping[str, int]) -> Any:
        """The value at places of its free letters, from 0."""
        return sum((Mod.lift(c) * self.term(t, at) for t, c in e.terms), start=Mod(0))

    def term(self, term: Term, at: Mapping[str, int]) -> Any:
        total = Mod(0)
        for places in product(*(range(r.low, self.size(r.axis) - r.high) for r in term.bound)):
            inner = {**at, **{r.name: k for r, k in zip(term.bound, places, strict=True)}}
            value = Mod(1)
            for a, p in term.factors:
                if p.denominator != 1:
                    raise Outside(f"{a.key} to the power {p} has no value in a prime field")
                found = self.atom(a, inner)
                value = value * found ** int(p) if p > 0 else value / found ** int(-p)
            total = total + value
        return total

    def place(self, i: Index, at: Mapping[str, int]) -> int:
        if i.name == NUMBER:
            return i.shift - 1
        if i.name == LAST:
            return self.size(i.axis) - 1 + i.shift
        return at[i.name] + i.shift

    def atom(self, a: Atom, at: Mapping[str, int]) -> Any:
        if a.kind == "size":
            return Mod(self.size(a.name))
        if a.kind == "sum":
            return self.of(a.arguments[0], at)
        places = tuple(self.place(i, at) for i in a.indices)
        if a.kind == "delta":
            return Mod(int(places[0] == places[1]))
        if a.kind == "guard":
            high = self.size(a.indices[0].axis) - a.cut[1]
            return Mod(int(a.cut[0] <= places[0] < high))
        if a.kind == "symbol":
            return self.arrays[a.name][places]
        if a.kind == "matrix" and a.name == "inv":
            return self.inverse(a.arguments[0], at)[places[0]][places[1]]
        raise Outside(f"{a.name} has no value in a prime field")

    def inverse(self, m: Expression, at: Mapping[str, int]) -> Rows:
        """M⁻¹, found once for all of its entries."""
        key = (m, *(at[i.name] for i in m.letters if i.name not in (ROW, COLUMN)))
        if key not in self.inverses:
            n = self.size(next(i.axis for i in m.letters if i.name == ROW))
            rows = tuple(
                tuple(self.of(m, {**at, ROW: i, COLUMN: j}) for j in range(n)) for i in range(n)
            )
            self.inverses[key] = invert(rows)[0]
        return self.inverses[key]
