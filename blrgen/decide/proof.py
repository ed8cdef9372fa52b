"""What is known of an equation, and by which means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

NOT_COMPARED = "not compared"
LEVELS = ("identity", "random-exact", "numeric", NOT_COMPARED, "refuted")  # strongest first
_EXIT = {"identity": 0, "random-exact": 0, "numeric": 3, NOT_COMPARED: 3, "refuted": 1}


@dataclass(frozen=True)
class Proof:
    """One claim and the level it reached.

    `point` lists (name, value) of a counterexample, `left` and `right` the two
    values there, `bound` the error probability of a random-exact proof.  A claim whose
    two sides were never held against each other is `not compared`: `detail` says why,
    `line` and `construct` where the code has something without a meaning.  `sizes` says for
    which lengths and ranks a claim was compared, where that is known.
    """

    level: str
    claim: str
    detail: str = ""
    point: tuple[tuple[str, str], ...] = ()
    left: Any = None
    right: Any = None
    bound: str = ""
    sizes: str = ""
    line: int = 0
    construct: str = ""

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise ValueError(f"unknown proof level {self.level!r}")

    @property
    def proved(self) -> bool:
        """Whether the claim is a theorem (up to the stated bound)."""
        return self.level in ("identity", "random-exact")

    @property
    def exit_code(self) -> int:
        """0 proved · 1 refuted · 3 neither: only numeric, or not compared."""
        return _EXIT[self.level]


@dataclass(frozen=True)
class Verdict:
    """What was found of a step function: one proof a state, and where it goes wrong.

    `line` and `source` give the first line that differs when refuted, `repair` what
    the rule has in its place; `notes` are remarks a reader needs (unused names, a
    reason why only numbers were compared), `left_out` the states of the rule that the
    function does not have at all.
    """

    proofs: tuple[tuple[str, Proof], ...]
    path: str = ""
    line: int = 0
    source: str = ""
    repair: str = ""
    notes: tuple[str, ...] = field(default=())
    left_out: tuple[str, ...] = field(default=())

    @property
    def level(self) -> str:
        """The weakest level among the states; of no states, that nothing was compared."""
        return weakest(p.level for _, p in self.proofs)

    @property
    def proved(self) -> bool:
        return bool(self.proofs) and all(p.proved for _, p in self.proofs)

    @property
    def not_compared(self) -> tuple[str, ...]:
        """The claims of which nothing is known."""
        return tuple(n for n, p in self.proofs if p.level == NOT_COMPARED)

    @property
    def exit_code(self) -> int:
        return _EXIT[self.level]

    @property
    def refutation(self) -> Proof | None:
        """The first refuted claim, if there is one."""
        return next((p for _, p in self.proofs if p.level == "refuted"), None)

    def __getitem__(self, name: str) -> Proof:
        return dict(self.proofs)[name]


def weakest(levels: Iterable[str]) -> str:
    """The weakest of several levels: refuted if any is, not compared if there are none."""
    return max(levels, key=LEVELS.index, default=NOT_COMPARED)
