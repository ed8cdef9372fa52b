"""What an experiment hands over to be timed."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.timing import Stepper, Timing

OURS, ROOF, BAR = "emitted", "roofline", "hand-written"
CHECKED = "emitted, check_finite"  # with the pass over its inputs that is on unless turned off


@dataclass(frozen=True)
class Setup:
    """Steppers by title, how many elements a step has, and the bytes an element (0: not said).

    `blas`: somebody here works with a BLAS, which has threads of its own.
    """

    steppers: dict[str, Stepper]
    elements: int
    bytes: int = 0
    note: str = ""
    blas: bool = False


def joined(times: dict[str, Timing]) -> dict[str, Timing]:
    """Ways of doing one thing as one: of `NAME` and `NAME, parallel` the quicker counts."""
    found: dict[str, Timing] = {}
    for title, time in times.items():
        name = title.removesuffix(", parallel")
        if name not in found or time.best < found[name].best:
            found[name] = time
    return found
