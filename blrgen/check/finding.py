"""What one stage of `check` found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OK, REFUTED, NOT_CHECKED = "ok", "refuted", "not checked"


@dataclass(frozen=True)
class Finding:
    """One line: the stage, whether it holds, how that is known, and what is wrong.

    `passed` is False only for a refutation; `level` says how strong the line is:
    identity, random-exact, numeric, derived, refuted or not checked.  A refutation by
    numbers has the point, the value that was claimed and the value it should have.
    """

    stage: str
    passed: bool
    text: str
    level: str = ""
    point: tuple[tuple[str, str], ...] = ()
    given: str = ""
    should: str = ""

    @property
    def status(self) -> str:
        """One of ok, refuted, not checked."""
        if not self.passed:
            return REFUTED
        return NOT_CHECKED if self.level == NOT_CHECKED else OK


class Wrong(Exception):
    """A claim is refuted; `what` should be one value at the point and is another."""

    def __init__(
        self, what: str, point: Mapping[Any, Any], given: str, should: str, because: str = ""
    ) -> None:
        self.what, self.given, self.should, self.because = what, given, should, because
        self.point = tuple((str(k), shown(v)) for k, v in point.items())
        super().__init__(what)

    def finding(self, stage: str) -> Finding:
        """The line that says so."""
        at = ", ".join(f"{k} = {v}" for k, v in self.point)
        text = f"{self.what} should be {self.should}" + (f" at {at}" if at else "")
        text += f", not {self.given}"
        if self.because:
            text += f"\n{self.because}"
        return Finding(stage, False, text, "refuted", self.point, self.given, self.should)


class NotChecked(Exception):
    """A stage that cannot run here; the message says why."""


def shown(value: Any) -> str:
    """A coordinate of a point: exact when short, else twelve digits."""
    text = str(value)
    if len(text) <= 14 or isinstance(value, str):
        return text
    import mpmath

    return digits(mpmath.mpf(value.p) / value.q if hasattr(value, "p") else value)


def digits(value: Any) -> str:
    """A number with twelve digits."""
    import mpmath

    return str(mpmath.nstr(mpmath.mpmathify(value), 12))


def within(gap: Any) -> str:
    """An error as a power of ten that it is not above, never better than is worth saying."""
    import math

    size = float(gap)
    return f"{10.0 ** max(-20, math.ceil(math.log10(size))) if size > 0 else 1e-20:.0e}"
