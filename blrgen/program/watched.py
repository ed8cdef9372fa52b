"""Which states are looked at after a step, so that one outside its domain is undone and said.

Written for candidates that are no Gaussians: what a Gaussian's scale becomes is looked at
where it is used, in `posterior`.
"""

from __future__ import annotations

from blrgen.core import Derivation
from blrgen.program.program import Variable
from blrgen.program.types import SCALAR


def guarded(
    derivation: Derivation,
    states: tuple[Variable, ...],
    coupled: bool = False,
    halved: bool = False,
) -> tuple[Variable, ...]:
    """The states that are looked at after a step: all of them, where one has an end.

    Where components are coupled, one that is not finite spoils all of them; where a step is
    tried again, smaller, that is what is looked at.
    """
    if "precision" in dict(derivation.candidate) and not halved:
        return ()
    ended = any(v.lower is not None or v.upper is not None for v in states)
    return tuple(v for v in states if v.type != SCALAR) if ended or coupled else ()
