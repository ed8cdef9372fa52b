"""Points at which arguments are looked at: values of constants, params and nodes.

Ends of closed intervals are among them; of continuous nodes only values that do not meet by
chance (a variance w² is not refused because w might be 0 with probability 0).
"""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product
from typing import Any

from blrgen.read.model.evaluate import MAX_ELEMENTS, Evaluator, TooFar, Value
from blrgen.read.model.values import (
    All,
    Const,
    Domain,
    Index,
    Letter,
    Literal,
    Model,
    Node,
    Ref,
)

_REAL = tuple(Fraction(*x) for x in ((-10, 3), (-7, 5), (-3, 7), (2, 9), (11, 13), (17, 5)))
_ABOVE = tuple(Fraction(*x) for x in ((1, 97), (2, 11), (5, 7), (1, 1), (19, 7), (41, 3)))
_SHARE = tuple(Fraction(*x) for x in ((1, 97), (2, 11), (5, 13), (7, 11), (95, 97)))
MAX_NESTED = 24  # deterministic nodes inside each other


class Sample:
    """One point: sizes, and a value for every element that an expression refers to."""

    def __init__(self, model: Model, sizes: dict[str, int], seed: int) -> None:
        self.model, self.random = model, random.Random(seed)
        self.zero = seed == 0  # where constants and params are 0 if they may be
        self.evaluator = Evaluator(sizes, self.ref)
        self.elements: dict[tuple[Any, ...], Value] = {}
        self.letters: dict[str, int] = {}
        self.nested = 0

    def ref(self, ref: Ref) -> Value:
        """The value of a reference: elements along its plates, components of each."""
        owner = self.owner(ref.name)
        letters = owner.letters
        plates, components = ref.indices[: len(letters)], ref.indices[len(letters) :]
        sizes = [self.evaluator.size(self.model.plate(x).size) for x in letters]
        return self.along(owner, ref.name, list(zip(plates, sizes, strict=False)), (), components)

    def owner(self, name: str) -> Const | Node:
        for c in self.model.constants:
            if c.name == name:
                return c
        for n in self.model.nodes:
            if name in n.names:
                return n
        raise TooFar  # its own statement could not be read

    def along(
        self, owner: Const | Node, name: str, plates: list[tuple[Index, int]],
        key: tuple[Any, ...], components: tuple[Index, ...],
    ) -> Value:  # fmt: skip
        if not plates:
            return self.component(self.element(owner, name, key), components)
        (index, size), *rest = plates
        if isinstance(index, All):
            if size > MAX_ELEMENTS:
                raise TooFar
            return [self.along(owner, name, rest, (*key, i), components) for i in range(size)]
        return self.along(owner, name, rest, (*key, index), components)

    def component(self, value: Value, indices: tuple[Index, ...]) -> Value:
        if not indices:
            return value
        first, *rest = indices
        if isinstance(first, All):
            return [self.component(v, tuple(rest)) for v in value]
        if not value:
            raise TooFar
        at = self.position(first) % len(value)
        return self.component(value[at], tuple(rest))

    def position(self, index: Index) -> int:
        if isinstance(index, Literal):
            return index.value - 1
        if isinstance(index, Letter):
            return self.letters.setdefault(index.name, self.random.randrange(6)) + index.shift
        return self.letters.setdefault(repr(index), self.random.randrange(6))

    def element(self, owner: Const | Node, name: str, key: tuple[Any, ...]) -> Value:
        where = (name, key)
        if where not in self.elements:
            self.elements[where] = self.drawn(owner, name)
        return self.elements[where]

    def drawn(self, owner: Const | Node, name: str) -> Value:
        if isinstance(owner, Const):
            return self.inside(owner.domain, sure=False)
        if owner.kind == "deterministic":
            self.nested += 1
            try:
                if self.nested > MAX_NESTED:
                    raise TooFar
                at = 0 if self.nested > 3 else self.random.randrange(len(owner.statements))
                return self.evaluator.value(owner.statements[at].made)  # type: ignore[arg-type]
            finally:
                self.nested -= 1
        domain = owner.domains[owner.names.index(name)]
        return self.inside(domain, sure=owner.kind != "param")

    def inside(self, domain: Domain, *, sure: bool) -> Value:
        """A value of the domain; `sure`: no point that a density gives no mass."""
        shape = self.evaluator.shape(domain.shape)
        if any(n < 1 for n in shape):
            raise TooFar
        match domain.kind:
            case "simplex":
                low = 0 if domain.closed and not sure else 1
                weights = [self.random.choice((low, 1, 2, 7)) for _ in range(shape[0])]
                weights[self.random.randrange(shape[0])] += 1
                return [Fraction(w, sum(weights)) for w in weights]
            case "one-hot":
                at = self.random.randrange(shape[0])
                return [Fraction(i == at) for i in range(shape[0])]
            case "spd":
                return self.definite(shape[0])
            case "finite":
                return self.filled(shape, lambda: self.random.choice(domain.points))
            case "counts":
                most = int(self.end(domain.upper) or 3)
                return self.shared(most, shape[0])
            case "sphere":
                at = self.random.randrange(shape[0])
                return [Fraction(i == at) for i in range(shape[0])]
            case "labels":
                raise TooFar
        lower, upper = self.end(domain.lower), self.end(domain.upper)
        return self.filled(shape, lambda: self.number(domain, lower, upper, sure))

    def end(self, e: Any) -> Any:
        return None if e is None else self.evaluator.value(e)

    def filled(self, shape: tuple[int, ...], make: Any) -> Value:
        if not shape:
            return make()
        return [self.filled(shape[1:], make) for _ in range(shape[0])]

    def number(self, domain: Domain, lower: Any, upper: Any, sure: bool) -> Any:
        pick = self.random.choice
        ends = [] if domain.lower_open or sure or lower is None else [lower]
        ends += [] if domain.upper_open or sure or upper is None else [upper]
        if ends and self.random.random() < 0.3:
            return pick(ends)
        if domain.whole:
            step = self.random.choice((0, 1, 2, 3, 7))
            if lower is None:
                return step - 3 if upper is None else upper - step
            return lower + step if upper is None else min(lower + step, upper)
        if self.zero and not sure and (lower is None or lower < 0) and (upper is None or upper > 0):
            return Fraction(0)
        if lower is None and upper is None:
            return Fraction(0) if not sure and self.random.random() < 0.2 else pick(_REAL)
        if upper is None:
            return lower + pick(_ABOVE)
        if lower is None:
            return upper - pick(_ABOVE)
        return lower + (upper - lower) * pick(_SHARE)

    def definite(self, n: int) -> Value:
        """L Lᵀ with a positive diagonal."""
        pick = self.random.choice
        low = [[pick((Fraction(1, 3), Fraction(1), Fraction(5, 2))) if i == j
                else pick((Fraction(-1), Fraction(0), Fraction(2, 3))) if j < i else Fraction(0)
                for j in range(n)] for i in range(n)]  # fmt: skip
        return [[sum((a * b for a, b in zip(r, s, strict=True)), Fraction(0)) for s in low]
                for r in low]  # fmt: skip

    def shared(self, most: int, parts: int) -> Value:
        found = [Fraction(0)] * parts
        for _ in range(min(most, 50)):
            found[self.random.randrange(parts)] += 1
        return found


def size_sets(names: list[str], *, counted: bool) -> list[dict[str, int]]:
    """A few assignments of whole numbers to the sizes.

    `counted`: a size is used as a number (d - 1 as an end, K in a sum), so that larger ones
    may tell more; else 1, 2 and 3 stand for all.
    """
    if not names:
        return [{}]
    if len(names) == 1:
        return [{names[0]: n} for n in ((2, 1, 3, 6) if counted else (2, 1, 3))]
    if len(names) == 2:
        pairs = product((2, 1, 4), repeat=2) if counted else ((2, 2), (1, 2), (2, 1), (3, 2))
        return [dict(zip(names, x, strict=True)) for x in pairs]
    turned = [{n: 1 + (i + shift) % 3 for i, n in enumerate(names)} for shift in range(3)]
    return [*turned, dict.fromkeys(names, 2), {n: 1 + i for i, n in enumerate(names)}]
