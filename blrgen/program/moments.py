"""Mean and standard deviation of the components of a vector: a kernel like the step's.

The moments are outputs of a program of their own, so that sums over components and special
functions are computed as in the step; in doubles, since variances are differences.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import lengths_of
from blrgen.core import Assignment, Derivation, Quantity, Rank, Rule
from blrgen.errors import UserError
from blrgen.geometry.component_law import ComponentLaw, component_law
from blrgen.program.kernels import Kernel, kernel
from blrgen.program.lower import Reader
from blrgen.program.part import Part
from blrgen.program.passes import optimised
from blrgen.program.program import Program, fresh
from blrgen.program.types import SCALAR


@dataclass(frozen=True)
class Moments:
    """The program that writes `mean` and `variance`, and two numbers more where there are."""

    program: Part
    mean: str
    variance: str
    last: tuple[str, ...] = ()

    def kernel(self) -> Kernel:
        """Outputs first, then the arrays they are made of."""
        arrays = [v.name for v in self.program.rule.variables if v.type != SCALAR]
        order = (self.mean, self.variance, *(x for x in arrays if x not in self.names))
        return kernel(
            "_moments", "Write mean and variance of every component.", self.program, order,
            is_output=True,
        )  # fmt: skip

    @property
    def names(self) -> tuple[str, ...]:
        return (self.mean, self.variance, *self.last)


def moments_of(derivation: Derivation, program: Program) -> Moments | None:
    """None where the law has no known closed form, or states are not the family's parameters."""
    if derivation.geometry is None or "precision" in dict(program.posterior):
        return None
    law = component_law(derivation.geometry)
    if law is None:
        return None
    needed = {s.name for e in (law.mean, law.variance, *(law.last or ())) for s in e.free_symbols}
    sizes = {s.name for s in derivation.family.components.free_symbols}
    if not needed - sizes <= {v.name for v in program.of("state", "hyper")}:
        return None
    try:
        return _lowered(derivation.rule, law, program)
    except UserError:  # no target computes them
        return None


def _lowered(rule: Rule, law: ComponentLaw, program: Program) -> Moments | None:
    held = tuple(q for q in rule.quantities if q.kind in ("state", "hyper"))
    main = next((q for q in rule.of("state") if lengths_of(q.symbol)), None)
    if main is None:
        return None
    taken = {*program.scope, "index", "real"}
    made: list[tuple[Quantity, sp.Expr]] = []
    wanted = [("mean", law.mean, True), ("variance", law.variance, True)]
    for name, e in zip(("last_mean", "last_variance"), law.last or (), strict=False):
        wanted.append((name, e, False))
    for name, e, whole in wanted:
        own = fresh(name, taken)
        taken |= {own, f"{own}_next"}
        symbol = Component(own, main.symbol.size) if whole else sp.Symbol(own, real=True)
        rank: Rank = "elementwise" if whole else "scalar"
        made.append((Quantity(own, "state", rank, symbol), e))
    again = Rule(
        (*held, *(q for q, _ in made)),
        tuple(Assignment(f"{q.name}_next", e) for q, e in made),
    )
    reader = Reader(again)
    found = reader.program
    if found.expectations or found.binomial_means:
        return None
    writes = tuple((q.name, f"{q.name}_next") for q, _ in made)
    part = optimised(reader.part(found, reader.assignments, writes), "moments")
    names = [q.name for q, _ in made]
    moments = Moments(part, names[0], names[1], tuple(names[2:]))
    ours = set(names[2:])
    alone = any(not part.makes(b) for a, b in part.writes if a in ours)
    return None if alone else moments
