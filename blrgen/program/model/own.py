"""A block under way, and points: what of them is known so far, and what they become."""

from __future__ import annotations

from dataclasses import dataclass, field

from blrgen.program.model.member import Lowered, Member
from blrgen.program.model.values import Array


@dataclass
class Own:
    """A block under way: its equations' writer, its state, and λ as it stands."""

    lowered: Lowered
    name: str
    arrays: tuple[Array, ...] = ()
    natural: tuple[str, ...] = ()
    means: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    known: list[tuple[Member, tuple[str, ...]]] = field(default_factory=list)  # node by node

    pairs: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of a chain in the state
    path: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def member(self) -> Member:
        return self.lowered.member

    @property
    def chained(self) -> bool:
        """Whether its elements are joined: then natural parameters are what a state has of it."""
        return self.member.block.kind != "element"


@dataclass
class Points:
    """The points: their arrays and what they become."""

    arrays: dict[str, Array] = field(default_factory=dict)
    next: dict[str, str] = field(default_factory=dict)
    flags: list[tuple[str, str]] = field(default_factory=list)


def tables(own: Own) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Pairs and path of a chain: of the state where it is kept there, else at its maximum."""
    if own.pairs or own.path:
        return own.pairs, own.path
    return own.lowered.pairs, own.lowered.path
