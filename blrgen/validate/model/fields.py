"""Random numbers of a tower of prime fields, in the place of small random data and states.

What must be positive is a square in every storey, what lies on a simplex adds up to 1, a definite
matrix is L D Lᵀ with squares in D.  Labels stay as they are: places are no numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from blrgen.decide.tower_kind import TOWERS
from blrgen.decide.towers import (
    STOREYS,
    NoMeaning,
    Tower,
    is_positive,
    lift,
    prime,
    random_number,
)
from blrgen.program.model.values import Part, Variable
from blrgen.read.model.values import Domain
from blrgen.rule.model.values import ModelDerivation
from blrgen.validate.model.data import Drawn
from blrgen.validate.model.stand_ins import numbers


@dataclass
class Drawing:
    """Random numbers, equal ones in the place of equal doubles."""

    random: Random
    seen: dict[tuple[str, float], Tower] = field(default_factory=dict)

    def array(self, like: Any, domain: str) -> Any:
        """An array of the shape of `like`."""
        like = np.asarray(like)
        found: list[Any]
        if domain == "SPD":
            found = [self.definite(like.shape[-1]) for _ in np.ndindex(like.shape[:-2])]
        elif domain == "simplex":
            found = [self.simplex(like.shape[-1]) for _ in np.ndindex(like.shape[:-1])]
        else:
            found = [self.once(float(x), domain) for x in like.reshape(-1)]
        whole = np.empty(like.size, object)
        whole[:] = [x for one in found for x in np.ravel(one)]
        return whole.reshape(like.shape)

    def once(self, x: float, domain: str) -> Any:
        """The same number for the same double, wherever it stands; 0 and NaN stay."""
        if x != x:
            return x
        if x != 0 and (domain, x) not in self.seen:
            self.seen[domain, x] = self.within(domain)
        found: Tower = self.seen[domain, x] if x != 0 else lift(0)
        return found

    def within(self, domain: str) -> Tower:
        """A number of an interval; of its ends only 0, and 0 with 1, have a counterpart."""
        low, _, high = domain[1:-1].partition(", ")
        if low != "0":
            return random_number(self.random)
        if high == "1":
            return self.where(lambda x, i: is_positive(x, i) and is_positive(1 - x, i))
        return self.positive()

    def positive(self) -> Tower:
        """A square in every storey."""
        return random_number(self.random) ** 2

    def where(self, test: Callable[[int, int], bool]) -> Tower:
        """A number that passes a test in every storey."""
        at = []
        for i in range(STOREYS):
            x = self.random.randrange(2, prime(i))
            while not test(x, i):
                x = self.random.randrange(2, prime(i))
            at.append(x)
        return Tower(at)

    def simplex(self, n: int) -> Any:
        """Squares that add up to 1."""
        while True:
            first = [self.positive() for _ in range(n - 1)]
            last = lift(1) - sum(first, start=lift(0))
            if all(is_positive(a, i) for i, a in enumerate(last.at)):
                return np.array([*first, last])

    def definite(self, n: int) -> Any:
        """L D Lᵀ."""
        lower = TOWERS.array(np.eye(n, dtype=int))
        for i in range(n):
            for j in range(i):
                lower[i, j] = random_number(self.random)
        return (lower * np.array([self.positive() for _ in range(n)])) @ lower.T


_LIFTED = np.frompyfunc(lambda x: x if x != x else lift(x), 1, 1)  # NaN says that it is missing


def told(d: ModelDerivation, data: Drawn, draw: Drawing) -> tuple[dict[str, Any], dict[str, Any]]:
    """Data and constants: as the class is given them, and as arrays of the index algebra."""
    given, arrays = dict(data.given), dict(data.arrays)
    for name, domain in _known(d):
        if domain.kind in ("one-hot", "labels") or name not in given:
            continue
        if domain.kind == "finite":
            given[name] = _LIFTED(np.asarray(given[name], dtype=object))
            continue
        text = _text(domain)
        whole = text in ("SPD", "simplex")
        if whole and np.shape(arrays[name]) != np.shape(given[name]):
            raise NoMeaning(f"{name} along ragged rows")
        given[name] = draw.array(given[name], text)
        arrays[name] = given[name] if whole else draw.array(arrays[name], text)
    return {name: numbers(x) for name, x in given.items()}, arrays


def _known(d: ModelDerivation) -> Sequence[tuple[str, Domain]]:
    """Constants and what is observed."""
    observed = [n for n in d.model.nodes if n.kind == "observed"]
    return [
        *((c.name, c.domain) for c in d.model.constants),
        *((x, y) for n in observed for x, y in zip(n.names, n.domains, strict=True)),
    ]


def _text(domain: Domain) -> str:
    """SPD, simplex, or an interval."""
    if domain.kind in ("spd", "simplex"):
        return "SPD" if domain.kind == "spd" else "simplex"
    low, high = (None if e is None else str(e) for e in (domain.lower, domain.upper))
    return f"({low or '-oo'}, {high or 'oo'})"


def started(v: Variable, data: Drawn, draw: Drawing) -> Any:
    """A state of a node, as `start` takes it."""
    made = {p.parameter: _part(p, data, draw) for p in v.parts}
    return made[""] if v.is_point else made


def _part(p: Part, data: Drawn, draw: Drawing) -> Any:
    if p.array.axes != p.array.sizes:
        raise NoMeaning(f"{p.array.name} along ragged rows")
    sizes = [x if isinstance(x, int) else data.sizes[x] for x in p.array.sizes]
    other = np.random.default_rng(draw.random.randrange(2**30)).uniform(1, 2, sizes)
    return numbers(draw.array(other, p.array.domain))
