"""Draws of the emitted sampler follow the density: moments, and Kolmogorov and Smirnov's distance.

The sampler is the one found with the log-partition, in primitive draws; a number without one
is drawn by the inverse of its distribution function.  What draws here is the function that
`blrgen.sampler` emits.  Seeded: the same file gives the same line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from blrgen.check.context import Context
from blrgen.check.drawn_places import Place, places
from blrgen.check.finding import NotChecked, Wrong
from blrgen.check.goodness import COUNT, LEVEL, SEED, compare
from blrgen.errors import UserError

NAME = "sampling"
NEEDS: tuple[str, ...] = ("minimality",)


def run(context: Context) -> tuple[str, str]:
    """A sample at a few places against sums over the density."""
    from blrgen.emit.sampler import sampler_of

    try:
        made = sampler_of(context.geometry, working=False)
    except UserError as error:
        raise NotChecked(error.args[0].splitlines()[0]) from None
    worst, farthest, said = 0.0, 0.0, list[str]()
    for turn, place in enumerate(places(context)):
        report = compare(place.law(), *place.of_draws(_drawn(context, made, place, turn)))
        if report.wrong is not None:
            gap = report.wrong
            raise Wrong(gap.what, place.said, gap.found, gap.should)
        worst, farthest = max(worst, report.distance), max(farthest, report.deviation)
        said += [f"{k} = {v}" for k, v in place.sizes.items()]
    if not worst and not farthest:
        raise NotChecked("too many dimensions for sums over the density")
    where = f" at {', '.join(dict.fromkeys(said))}" if said else ""
    return "numeric", (
        f"{_how(context)}; {COUNT} draws{where}: √n·KS = {worst:.2f}, moments of T within "
        f"{farthest:.1f} standard errors (a right sampler is refused at {LEVEL:.0e})"
    )


def _drawn(context: Context, made: Any, place: Place, turn: int) -> dict[Any, Any]:
    """The draws by variable; refused where one is not in the support."""
    from blrgen.emit.compile import load

    sizes = {s: place.sizes[s] for s in made.sizes}
    rng = np.random.default_rng(SEED + turn)
    found = load(made.source).sample(rng, COUNT, **place.values, **sizes)
    variables = context.family.variables
    draws = dict(zip(variables, found if len(variables) > 1 else (found,), strict=True))
    good = place.inside(draws)
    if not good.all():
        first = int(np.argmin(good))
        shown = ", ".join(f"{x} = {np.asarray(v)[first].tolist()}" for x, v in draws.items())
        raise Wrong("a draw", place.said, shown, "in the support, and finite")
    return draws


def _how(context: Context) -> str:
    """The variables with their draws as a person names them: normal, gamma(a), uniform2."""
    from blrgen.geometry.drawn import steps_of
    from blrgen.geometry.integrate.primitive import draws_of

    steps = steps_of(context.geometry)
    if any(d.kind == "law" for s in steps for d in draws_of(s.value)):
        return "the distribution function inverted"
    text = ", ".join(f"{s.variable} = {_shown(s.value)}" for s in steps)
    return text if len(text) <= 100 else "from primitive draws"


def _shown(sampler: Any) -> str:
    from blrgen.geometry.integrate.primitive import Draw
    from blrgen.text.expression import ascii

    try:
        return str(ascii(sampler.replace(lambda e: isinstance(e, Draw), _named)))
    except (KeyError, ValueError, TypeError):
        return "…" * 101


def _named(draw: Any) -> Any:
    name = draw.kind + (str(draw.number + 1) if draw.number else "")
    if not draw.parameters:
        return sp.Symbol(name)
    return sp.Function(name)(*draw.parameters)
