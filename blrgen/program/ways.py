"""Which kernels a rule of arrays has, and which ways through memory they are run in.

A rule that probes the loss at draws has several: the draw, the step, and sums over draws.
Where noise is made in compiled code the draw makes its own, and a step and the next draw may
be one pass over memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from blrgen.core import Derivation
from blrgen.program import nodes as n
from blrgen.program.kernels import Kernel, adding, in_turn, kernel
from blrgen.program.laws import distribution
from blrgen.program.moments import Moments
from blrgen.program.part import Part
from blrgen.program.plan import Plan
from blrgen.program.program import Variable
from blrgen.program.watched import guarded

FILLED = frozenset({"normal", "logistic", "uniform"})  # laws that compiled code fills blocks with


@dataclass(frozen=True)
class Noise:
    """What fills an array with noise: a law, and its numbers."""

    array: str
    law: str
    numbers: tuple[Fraction, ...] = ()


@dataclass(frozen=True)
class Joined:
    """A kernel that is run on stretches of arrays; with `noise` it makes that first."""

    kernel: Kernel
    noise: tuple[Noise, ...] = ()

    @property
    def serial(self) -> str:
        """The function that takes whole arrays."""
        return f"{self.kernel.name}_anew" if self.noise else self.kernel.name

    @property
    def threaded(self) -> str:
        """The function that takes stretches of them, with threads."""
        return f"{self.serial}_threads"

    @property
    def rows(self) -> tuple[str, ...]:
        """The arrays that are given."""
        made = {x.array for x in self.noise}
        return tuple(a for a in self.kernel.arrays if a not in made)


@dataclass(frozen=True)
class Ways:
    """The kernels of a rule; `compiled`: in loops that threads may share and that make noise."""

    derivation: Derivation
    plan: Plan
    compiled: bool = False
    moments: Moments | None = None

    # -- what there is -------------------------------------------------------------------
    def entry_points(self) -> dict[str, Kernel]:
        """The kernel of each entry point, by what it is for."""
        p, order = self.plan, self.plan.order
        made = {"single": kernel("_step", "Update every element in place.", p.single, order)}
        if p.draw is not None:
            said = f"Write where to evaluate the loss into {p.probe}."
            made["draw"] = kernel("_draw", said, p.draw, order, is_output=True)
        if p.observe is not None and p.averaged is not None:
            said = "Add what one draw has shown to the sums."
            made["observe"] = kernel("_observe", said, adding(p.observe), order)
            said = "Update every element in place, from averages over draws."
            made["averaged"] = kernel("_step_averaged", said, p.averaged, order)
        return made

    def kernels(self) -> dict[str, Kernel]:
        """All the kernels of the file, by what they are for."""
        made = self.entry_points()
        if self.fuses:
            both = (made["single"], made["draw"])
            made["again"] = in_turn("_both", both, self.plan.order)
        if self.moments is not None:
            made["moments"] = self.moments.kernel()
        often = {x for k in self._noisy(made) for x in (k.name, *(p.name for p in k.parts))}
        return {what: replace(k, by_block=k.name in often) for what, k in made.items()}

    def in_order(self) -> tuple[list[Kernel], list[Kernel]]:
        """The kernels of a draw and a step; others."""
        made = self.kernels()
        first = [made[k] for k in ("draw", "single") if k in made]
        rest = [made[k] for k in ("observe", "averaged", "moments") if k in made]
        return first, rest

    @property
    def coupled(self) -> bool:
        """Whether each array is one vector whose components need sums over all of them."""
        return any(k.coupled for k in self.entry_points().values())

    @property
    def guarded(self) -> tuple[Variable, ...]:
        """The states whose domain a step must not leave."""
        halved = bool(self.plan.program.halved)
        return guarded(self.derivation, self.plan.states, self.coupled, halved)

    # -- how they are run ----------------------------------------------------------------
    def joins(self, k: Kernel) -> bool:
        """Whether the kernel may be run on stretches of arrays: no element needs another."""
        return not (self.coupled or k.returns or self.plan.program.halved)

    @property
    def draws_itself(self) -> bool:
        """Whether noise is made where it is used: compiled, and not needed again."""
        made, noises = self.entry_points().get("draw"), self.plan.noises
        if made is None or not noises or not self.compiled or not self.joins(made):
            return False
        laws = {law.name for v in noises if (law := distribution(v.distribution))}
        return laws <= FILLED and not {v.name for v in noises} & {*self.plan.carried}

    @property
    def fuses(self) -> bool:
        """Whether the step and the next draw can be one pass over memory, block by block.

        Nothing may have to be looked at between the two, and steps are counted between them.
        """
        p = self.plan
        if p.carried != (p.probe,) or p.draw is None or p.numbers or not self.draws_itself:
            return False
        if self.guarded or not _agree((p.single, p.draw)):
            return False
        return not any("t" in n.names(s.expr) for s in p.draw.numbers)

    def noises(self) -> tuple[Noise, ...]:
        """What compiled code fills arrays with before it runs a kernel."""
        found = []
        for v in self.plan.noises:
            law = distribution(v.distribution)
            assert law is not None
            numbers = () if law.name == "normal" else (law.location, law.scale)
            found.append(Noise(v.name, law.name, numbers))
        return tuple(found)

    def joined(self) -> list[Joined]:
        """The ways in which kernels are run on stretches."""
        if not self.compiled:
            return []
        made, found = self.kernels(), list[Joined]()
        noisy = self._noisy(made)
        for what, k in made.items():
            if what == "moments" or not self.joins(k):
                continue
            if k in noisy:
                found.append(Joined(k, self.noises()))
            if what == "single" or (what == "draw" and not self.draws_itself):
                found.append(Joined(k))
        return found

    def _noisy(self, made: Mapping[str, Kernel]) -> list[Kernel]:
        """The kernels that are run with new noise, block by block."""
        found = [made["again"]] if "again" in made else []
        return [*found, made["draw"]] if self.draws_itself else found


def _agree(parts: Sequence[Part]) -> bool:
    """Whether their numbers give no name two meanings."""
    found: dict[str, n.Node] = {}
    every = [s for p in parts for s in p.numbers]
    return all(found.setdefault(s.name, s.expr) == s.expr for s in every)
