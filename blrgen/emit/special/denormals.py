"""Zero in place of denormal numbers, for states that fade away (`program/fading`)."""

from __future__ import annotations

from collections.abc import Callable

from blrgen.emit.special.helper import Helper

SINGLE, DOUBLE = 2.0**-126, 2.0**-1022  # the smallest normal numbers


def flushed() -> Helper:
    """x; a proof reads it so, and denormal numbers are the part of rounding that it is."""
    near = [1.0, SINGLE * (1 + 2**-23), DOUBLE * (1 + 2**-52), 1e-37, 1e-30, 1e-307, 1e38, 1e308]
    return Helper(
        "_flushed", lambda x: x,
        {}, says="x where that is a normal number",
        ranges=((-300, 300),), signed=(0,), near=tuple((s * x,) for x in near for s in (1, -1)),
        allowed=0.0,
    )  # fmt: skip


BUILDERS: dict[str, Callable[[], Helper]] = {"_flushed": flushed}
