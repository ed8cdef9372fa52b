"""How much work a proof may take: counted, not timed, so that a verdict is the same every time.

A clock would let a busy machine turn a proof into "equal at the points tried".  A unit is
one to four microseconds of an ordinary processor.
"""

from __future__ import annotations

UNITS = 3e5  # of one question; the longest proof of a recipe takes 1.5e4, the whole about a second
READ, PRODUCT, FACTOR = 20, 15, 400  # an expression read, a product, a polynomial split


class TooLarge(Exception):
    """The normal form would take too much room or work."""


class Budget:
    """Units of work that are left; spending more than there are is `TooLarge`."""

    def __init__(self, units: float) -> None:
        self.left = units

    def spend(self, units: float) -> None:
        """Take some; raises `TooLarge` when they are not there."""
        self.left -= units
        if self.left < 0:
            raise TooLarge
