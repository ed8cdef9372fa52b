"""One step of the derived rule on numbers: of vectors and matrices, or of single parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from blrgen.core import Derivation
from blrgen.program.axes.interpret import interpret
from blrgen.program.mixture.lower import Array as Place
from blrgen.program.mixture.lower import lower_moves, places_of
from blrgen.rule.mixture.candidate import SUM
from blrgen.value.tape import Tape

Array = Any


class Moves(Protocol):
    """The next state by what is expected and a step size."""

    places: tuple[Place, ...]

    def __call__(
        self, state: Mapping[str, Array], asked: Mapping[str, Array], rate: float
    ) -> dict[str, Array]: ...


class OfVectors:
    """The rule as a program over axes, interpreted."""

    def __init__(self, d: Derivation) -> None:
        made = lower_moves(d)
        self.program, self.places = made.program, made.states
        self.hyper = _defaults(d)
        self.given = {q.name for q in self.program.given}

    def __call__(
        self, state: Mapping[str, Array], asked: Mapping[str, Array], rate: float
    ) -> dict[str, Array]:
        values = {**self.hyper, **state, **asked, "rho": rate}
        found = interpret(self.program, {k: v for k, v in values.items() if k in self.given})
        return {k: found.get(f"{k}_next", v) for k, v in state.items()}


class OfNumbers:
    """The assignments of the rule one after the other, for all components at once."""

    def __init__(self, d: Derivation) -> None:
        self.places = places_of(d)
        self.hyper = _defaults(d)
        self.lines = []
        for x in d.rule.assignments:
            symbols = sorted(x.expr.free_symbols, key=str)
            self.lines.append((x.name, Tape([x.expr], symbols), [s.name for s in symbols]))

    def __call__(
        self, state: Mapping[str, Array], asked: Mapping[str, Array], rate: float
    ) -> dict[str, Array]:
        values: dict[str, Any] = {**self.hyper, **state, **asked, "rho": rate}
        if "l" in values:  # the weights depend on differences alone
            values["l"] = values["l"] - np.min(values["l"])
        for name, tape, names in self.lines:
            (found,) = tape.run([values[x] for x in names], doubles=True)
            values[name] = np.broadcast_to(np.asarray(found, dtype=float), len(state["pi"]))
            if name == "w":
                values[SUM] = float(values[name].sum())
        return {k: np.array(values.get(f"{k}_next", v)) for k, v in state.items()}


def _defaults(d: Derivation) -> dict[str, float]:
    return {q.name: float(q.default) for q in d.rule.of("hyper") if q.default is not None}
