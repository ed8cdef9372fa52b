"""What a model program says of itself: its title, and what was derived, line by line."""

from __future__ import annotations

from blrgen.rule.model.lines import lines_of
from blrgen.rule.model.values import ModelDerivation

TITLES = {
    "conjugate": "one exact step", "filter": "one exact step an element", "em": "EM",
    "online-em": "EM on some rows at a time", "vmp": "variational message passing",
    "ncvmp": "non-conjugate variational message passing",
    "cvi": "conjugate-computation variational inference",
    "svi": "stochastic variational inference", "gibbs": "Gibbs sampling",
}  # fmt: skip


def title_of(d: ModelDerivation) -> str:
    """The first line of a file."""
    return f"The model {d.model.name}, fitted by {TITLES[d.algorithm]}."


def equations(d: ModelDerivation) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """What was derived, line by line under its titles."""
    found: dict[str, list[str]] = {}
    for x in lines_of(d):
        title = f"{x.title[0].upper()}{x.title[1:]}"
        found.setdefault(title, []).append(x.equation)
    chosen = [f"{x.name}, {', '.join(x.nodes)}: {x.reason}" for x in d.choices]
    named = {"What is chosen": chosen} if chosen else {}
    return tuple((k, tuple(dict.fromkeys(v))) for k, v in {**found, **named}.items())
