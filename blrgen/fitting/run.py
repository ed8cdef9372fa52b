"""Steps of the derived rule until the objective rests.

The objective is −E_q[ℓ] + 𝓗(q) = −Σ_k π_k E_{q_k}[ℓ + log q].  A step that leaves a domain, or
after which the objective is lower by more than the error of its expectations, is tried again with
half the step size; one that succeeds lets the step size grow.  Components that overlap share what
each could explain alone, so that steps of 1 are far too short for them: where falls hardly
lessen from step to step, the step size grows past 1, and comes back to 1 where that does not help.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from blrgen.core import Derivation
from blrgen.errors import UserError
from blrgen.fitting.constants import constants_of
from blrgen.fitting.gaussian import DRAWS, Gaussians
from blrgen.fitting.line import Lines
from blrgen.fitting.loss import Target
from blrgen.fitting.moves import Moves, OfNumbers, OfVectors
from blrgen.program.mixture.lower import Array as Place

Array = Any
MOST_STEPS = 500
FIRST_RATE, GROWTH, SMALLEST, LARGEST = 0.1, 1.5, 1e-6, 16.0
SLOW = 0.5  # of the last fall: a step that falls more than that is one of many
IDLE = 8  # steps that gain less than the error of expectations, before these are taken closer
WEIGHT = "pi"


@dataclass
class Fitted:
    """What a run came to."""

    state: dict[str, Array]
    objective: float
    trace: list[float]
    converged: bool = False
    reason: str = "steps"
    notes: list[dict[str, str]] = field(default_factory=list)

    @property
    def steps(self) -> int:
        return len(self.trace) - 1


def candidate_of(d: Derivation, target: Target, seed: int) -> Gaussians | Lines:
    """Who integrates over the components."""
    known = dict(d.candidate)
    states = {q.symbol for q in d.rule.of("state")}
    if "precision" in known and known["mean"] in states:
        return Gaussians(d, target, seed)
    return Lines(d, target, seed)


@dataclass
class Run:
    """One run: the rule as a program, and who integrates for it."""

    d: Derivation
    candidate: Gaussians | Lines
    rate: float = FIRST_RATE

    def __post_init__(self) -> None:
        kind = OfNumbers if isinstance(self.candidate, Lines) else OfVectors
        self.moves: Moves = kind(self.d)
        self.halved = 0
        self.fall = 0.0  # of the last step

    def to_rest(self, state: dict[str, Array], steps: int | None, tol: float | None) -> Fitted:
        """Steps until the objective changes by less than tol·(1 + |objective|)."""
        rest = tol if tol is not None else 0.0 if steps is not None else 1e-8
        most = MOST_STEPS if steps is None else steps
        free, asked = self.candidate.expected(state)
        if not np.isfinite(free):
            raise UserError(
                "the objective has no finite value at the start", where="blrgen fit",
                why="the loss is not finite under a component, or not integrable under it",
                how="--start FILE.json begins elsewhere",
            )  # fmt: skip
        found, mark, idle = Fitted(state, -free, [-free]), free, 0
        for _ in range(most):
            moved = None if idle >= IDLE else self.step(state, free, asked)
            if moved is None and self.candidate.refined():
                free, asked = self.candidate.expected(state)
                mark, idle = free, 0
                continue
            if moved is None:
                found.reason, found.converged = "converged", rest > 0
                break
            state, after, asked = moved
            change, free = free - after, after
            idle += 1
            if free < mark - self.candidate.doubt:
                mark, idle = free, 0
            found.state, found.objective = state, -free
            found.trace.append(-free)
            if abs(change) < rest * (1 + abs(free)):
                found.reason, found.converged = "converged", True
                break
        found.objective = -self.candidate.closely(found.state)
        found.notes = self.notes()
        return found

    def step(
        self, state: dict[str, Array], free: float, asked: dict[str, Array]
    ) -> tuple[dict[str, Array], float, dict[str, Array]] | None:
        """The next state with its objective; None where no step size helps."""
        rate, doubt = self.rate, self.candidate.doubt
        while rate > SMALLEST:
            with np.errstate(all="ignore"):
                after = self.moves(state, asked, rate)
            if inside(after, self.moves.places):
                with np.errstate(all="ignore"):
                    value, more = self.candidate.expected(after)
                slack = max(doubt, self.candidate.doubt, 1e-12 * (1 + abs(free)))
                if np.isfinite(value) and value <= free + slack:
                    self.rate = self.next_rate(rate, free - value)
                    return after, value, more
            rate = max(1.0, rate / 2) if rate > 1 else rate / 2
            self.halved += 1
        return None

    def next_rate(self, rate: float, fall: float) -> float:
        """Past 1 where the objective falls slowly."""
        slow, self.fall = fall > SLOW * self.fall, fall
        return min(LARGEST if slow else 1.0, rate * GROWTH)

    def notes(self) -> list[dict[str, str]]:
        """What must be known of the numbers."""
        said = []
        if self.halved:
            text = f"the step size was halved {self.halved} times to stay inside and not to fall"
            said.append({"kind": "halved", "node": "", "text": text})
        if isinstance(self.candidate, Gaussians) and self.candidate.target.dimension > 2:
            text = f"expectations are means over {DRAWS} draws, the same in every step"
            said.append({"kind": "draws", "node": "", "text": text})
        else:
            text = f"the largest error estimate of an expectation was {self.candidate.rough:.1e}"
            said.append({"kind": "quadrature", "node": "", "text": text})
        for q in constants_of(self.d):
            text = f"{q.name} = {float(q.default):g}; --set {q.name}=… for another"
            said.append({"kind": "constant", "node": "", "text": text})
        return said


def inside(state: Mapping[str, Array], places: tuple[Place, ...]) -> bool:
    """Whether every parameter of every component is in its domain."""
    for x in places:
        value = np.asarray(state[x.name])
        if not np.isfinite(value).all():
            return False
        if x.domain == "SPD":
            try:
                np.linalg.cholesky(value)
            except np.linalg.LinAlgError:
                return False
        elif x.domain.startswith(("(", "[")) and x.domain != "(-oo, oo)":
            low, high = (float(e.replace("oo", "inf")) for e in x.domain[1:-1].split(","))
            if not ((value > low) & (value < high)).all():
                return False
    return True
