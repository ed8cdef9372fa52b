"""A `Rule` of SymPy expressions → its variables, and any of its assignments as a part."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import vec
from blrgen.core import Assignment, Quantity, Rule
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.axes.lowered import Statement, over_axes
from blrgen.program.axes.parts import Averages, Writes, part_of
from blrgen.program.laws import distribution
from blrgen.program.lowering import Lowering
from blrgen.program.part import Part
from blrgen.program.program import Program
from blrgen.program.sizes import counts
from blrgen.program.special import opened
from blrgen.program.types import ENTRIES, SCALAR, Type
from blrgen.program.variables import checked_name, is_each, variables_of

Expr = Any


STAGES = ("draw", "estimate", "update")


def lower(rule: Rule) -> Program:
    """What the rule keeps, reads, draws and makes, as typed variables."""
    return Reader(rule).program


class Reader:
    """Reads a rule: its quantities, then any assignments as a part of it.

    A rule that probes the loss at random points has three stages: `draw` (where the loss is
    evaluated), `estimate` (what is averaged over several such points) and `update`; the others
    have only `update`.
    """

    def __init__(self, rule: Rule) -> None:
        self.rule = rule = with_noise(rule)
        variables = variables_of(rule)
        types = {v.name: v.type for v in variables}
        _one_number_over_draws(rule, types)
        self.lowering = Lowering(types, counts(rule))
        inputs = frozenset(q.name for q in rule.of("input"))
        self.assignments = tuple(opened(rule.assignments, inputs))
        for x in self.assignments:
            if x.name in types and _kind(rule, x.name) != "intermediate":
                raise InternalError(f"{x.name} is assigned, but it is already a quantity")
            if x.stage not in STAGES:
                raise InternalError(f"unknown stage {x.stage!r} of the assignment to {x.name}")
            checked_name(x.name)
        statements = self.statements(types, self.assignments)
        whole = over_axes(self.lowering, statements)
        said = Lowering(dict(self.lowering.types), self.lowering.counts)
        said.share(self.lowering)
        posterior = tuple(
            (key, said.lower(e, where=f"in the posterior {key}")) for key, e in rule.posterior
        )
        self.program = Program(
            variables,
            tuple((s.name, s.type) for s in statements),
            frozenset(x for s in whole.lets for x in n.names(s.expr)) | self.counted,
            next((x.name for x in reversed(self.stage("draw"))), ""),
            posterior,
            tuple(said.inner),
            rule.until,
            rule.halved,
            tuple(self.lowering.expectations),
            tuple(self.lowering.binomial_means),
        )

    def stage(self, name: str) -> tuple[Assignment, ...]:
        """The assignments of one stage, in their order."""
        return tuple(x for x in self.assignments if x.stage == name)

    @property
    def counted(self) -> frozenset[str]:
        """The arrays that assignments read the sizes of."""
        read = {s for x in self.assignments for s in x.expr.free_symbols}
        return frozenset(c.array for s, c in self.lowering.counts.items() if s in read)

    def statements(
        self, types: Mapping[str, Type], assignments: Sequence[Assignment]
    ) -> list[Statement]:
        """Assignments with their types; `types` are those of all that is known."""
        known = self.lowering.types = dict(types)
        return [statement(x, self.lowering, known) for x in assignments]

    def part(
        self,
        rule: Program,
        assignments: Sequence[Assignment],
        writes: Writes,
        averages: Averages | None = None,
    ) -> Part:
        """Assignments as a part of a rule: this one, or one with more variables.

        What is averaged is made before them.
        """
        known = rule.scope | {x: rule.scope[total] for x, (total, _) in (averages or {}).items()}
        return part_of(rule, self.lowering, self.statements(known, assignments), writes, averages)


def written(assignments: Sequence[Assignment], states: Collection[str]) -> Writes:
    """Each state whose next value is assigned, and what that is called."""
    made = {x.name for x in assignments}
    return tuple((x, f"{x}_next") for x in states if f"{x}_next" in made)


def with_noise(rule: Rule) -> Rule:
    """A draw θ ~ N(mean, P⁻¹) in terms of standard noise: θ = mean + P^−½ ε."""
    q = dict(rule.posterior)
    vectors = (d for d in rule.of("draw") if not is_each(d))
    drawn = [d for d in vectors if not distribution(d.distribution)]
    if not drawn:
        return rule
    if "mean" not in q or "precision" not in q or len(drawn) > 1 or "eps" in rule:
        raise UserError(f"no target can draw from {drawn[0].distribution}")
    (theta,) = drawn
    eps = vec("eps")
    noise = Quantity("eps", "draw", "vector", eps, "standard normal noise", distribution="N(0, I)")
    probe = replace(theta, kind="intermediate", distribution="")
    others = tuple(probe if x.name == theta.name else x for x in rule.quantities)
    at = q["mean"] + q["precision"] ** sp.Rational(-1, 2) * eps
    first = Assignment(theta.name, at, "draw")
    return replace(rule, quantities=(*others, noise), assignments=(first, *rule.assignments))


def _one_number_over_draws(rule: Rule, types: dict[str, Type]) -> None:
    """An input that is one number beside arrays has no place to be summed over draws."""
    mixed = any(types[q.name] == ENTRIES for q in rule.of("state"))
    for q in rule.of("input"):
        if mixed and rule.of("draw") and types[q.name] == SCALAR:
            raise UserError(
                f"{q.name}, one number for all components, is not averaged over draws",
                why="emitted classes average arrays only",
                how="--delta, which needs no draws",
            )


def _kind(rule: Rule, name: str) -> str:
    """What a name is in the rule; an undeclared result counts as an intermediate."""
    return rule[name].kind if name in rule else "intermediate"


def statement(x: Assignment, lowering: Lowering, types: dict[str, Type]) -> Statement:
    """Typed by the state or quantity it is the next value of, or by what is assigned."""
    lowering.where = f"in the assignment to {x.name}"
    found = lowering.type_of(lowering.prepared(x.expr))
    target = types.get(x.name, types.get(x.name.removesuffix("_next"), found))
    zero = x.expr == 0 or target.is_symmetric or target == ENTRIES
    if found.shape != target.shape and not (found == SCALAR and zero):
        raise InternalError(
            f"{x.name} does not have the type it is assigned to\n"
            f"  expression       {x.expr}\n"
            f"  expression type  {found}\n"
            f"  target type      {target}"
        )
    types[x.name] = target
    return Statement(x.name, x.expr, target, target.is_symmetric and found == Type(target.shape))
