"""Draws from a family by itself, through the class that is emitted for it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from blrgen.api import derive
from blrgen.errors import UserError


def sampler(what: str) -> Callable[..., Any]:
    """A function that draws from a family: draw(rng, size, a=2.0, b=1.5) → an array.

    `rng` is a numpy Generator; the parameters are the family's working ones (the natural
    ones where it declares none) and its known constants, by name.  What draws is the class
    that `generate` writes: the same seed gives the same numbers there.
    """
    import numpy as np

    from blrgen.program.lower import lower

    d = derive(what)
    cls = d.compile("numpy")
    if not hasattr(cls, "sample"):
        raise UserError(f"there is no way to draw from {what!r}", why="its class has no samples")
    states = [q.name for q in d.rule.of("state")]
    names = [*states, *(p.name for p in d.family.fixed)]
    main = lower(d.rule).parameter.name
    arguments = inspect.signature(cls).parameters

    def draw(rng: Any, size: int, **parameters: float) -> Any:
        if set(parameters) != set(names):
            raise UserError(
                f"the parameters of {what!r} are {', '.join(names)}",
                why=f"given: {', '.join(parameters) or 'none'}",
            )
        held = {k: np.full(size, float(parameters[k])) for k in states}
        given = {k: held.get(k, parameters[k]) for k in names if k in arguments}
        made = cls(held[main], **given)
        for name in states:
            if name != main:
                setattr(made, name, [held[name]])
        return made.sample(rng)

    return draw
