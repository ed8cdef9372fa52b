"""Posterior and samples of families that are no Gaussians: moments, draws, inverse."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from blrgen.core import Derivation
from blrgen.emit.common import wants_two_points
from blrgen.emit.drawn import Numbers, Rows
from blrgen.emit.uses import collecting, use
from blrgen.errors import UserError
from blrgen.geometry.drawn import Step, steps_of
from blrgen.geometry.law import law_of
from blrgen.program import nodes as n
from blrgen.program.density import Expectation, Weight
from blrgen.program.expand import expanded
from blrgen.program.lowering import Lowering
from blrgen.program.program import Program
from blrgen.program.stable import stable_form

Expr = Any


@dataclass(frozen=True)
class Lowered:
    """Mean and variance, and how the variable is drawn: by its rule, else numerically."""

    mean: n.Node | None = None
    variance: n.Node | None = None
    steps: tuple[Step, ...] = ()
    densities: tuple[Weight, ...] = ()  # whose distribution functions are inverted
    expectations: tuple[Expectation, ...] = ()
    first: int = 0  # how many expectations stand before those of the draws


def lowered_law(derivation: Derivation, program: Program) -> Lowered | None:
    """What the class can say of the candidate; None where its states are not the parameters."""
    law = law_of(derivation.geometry) if derivation.geometry is not None else None
    if law is None or "precision" in dict(program.posterior) or wants_two_points(derivation):
        return None
    geometry, family = derivation.geometry, derivation.family
    held = {v.name for v in program.of("state", "hyper")}
    needed = {s.name for e in geometry.natural_of_working.values() for s in e.free_symbols}
    if not needed | {p.name for p in family.fixed} <= held:
        return None
    lowering = Lowering(dict(program.scope))
    lowering.first = len(program.expectations)

    def lower(e: Expr) -> n.Node:
        return expanded(stable_form(lowering.lower(e, where="in the posterior")))

    found = Lowered()
    try:
        if law.mean is not None and law.variance is not None:
            found = replace(found, mean=lower(law.mean), variance=lower(law.variance))
    except UserError:
        pass  # no target computes the moments: only samples then
    own = tuple(lowering.expectations)
    found = replace(found, expectations=own, first=lowering.first + len(own))
    return _with_draws(found, derivation, {name: name for name in held})


def _with_draws(law: Lowered, derivation: Derivation, names: dict[str, str]) -> Lowered:
    """How it is drawn; as it is where no target computes what that needs."""
    for numerically in (False, True):
        try:
            steps = steps_of(derivation.geometry, working=True, numerically=numerically)
            with collecting():  # these lines are written again, for the class
                rows = Rows("shape", names=names, first=law.first)
                for step in steps:
                    rows.step(step)
        except UserError:
            continue
        return replace(
            law, steps=steps, densities=tuple(rows.densities),
            expectations=(*law.expectations, *rows.expectations),
        )  # fmt: skip
    return law


class MethodPrinter(Numbers):
    """Expressions of methods: compiled functions are applied element by element."""

    def __init__(self, names: dict[str, str], jitted: bool) -> None:
        super().__init__(names)
        self.jitted = jitted

    def _special(self, node: n.Call) -> tuple[str, int]:
        text, level = super()._special(node)
        if not self.jitted:
            return text, level
        name, first = self.applied(node.name)
        return self.call(name, *first, *map(self.number, node.args))

    def applied(self, name: str) -> tuple[str, list[str]]:
        own, first = super().applied(name)
        return (use("_over"), [own, *first]) if self.jitted else (own, first)
