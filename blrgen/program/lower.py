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
from blrgen.program import wholes
from blrgen.program.axes.lowered import Statement
from blrgen.program.axes.parts import Writes, part_of
from blrgen.program.laws import distribution
from blrgen.program.lowering import Lowering
from blrgen.program.part import Part
from blrgen.program.program import Program
from blrgen.program.sizes import counts
from blrgen.program.special import opened
from blrgen.program.types import ENTRIES, SCALAR, Type, check, infer
from blrgen.program.variables import checked_name, is_each, multiple, variables_of

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
        self._read: dict[Expr, n.Node] = {}
        inputs = frozenset(q.name for q in rule.of("input"))
        self.assignments = tuple(opened(rule.assignments, inputs))
        for x in self.assignments:
            if x.name in types and _kind(rule, x.name) != "intermediate":
                raise InternalError(f"{x.name} is assigned, but it is already a quantity")
            if x.stage not in STAGES:
                raise InternalError(f"unknown stage {x.stage!r} of the assignment to {x.name}")
            checked_name(x.name)
        statements = self.statements(types, self.assignments)
        posterior = tuple(
            (key, self.lowering.lower(e, where=f"in the posterior {key}"))
            for key, e in rule.posterior
        )
        self.program = Program(
            variables,
            tuple((s.name, s.type) for s in statements),
            frozenset(x for s in statements for x in n.names(s.expr)),
            next((x.name for x in reversed(self.stage("draw"))), ""),
            posterior,
            rule.until,
            rule.halved,
            tuple(self.lowering.expectations),
            tuple(self.lowering.binomial_means),
        )

    def stage(self, name: str) -> tuple[Assignment, ...]:
        """The assignments of one stage, in their order."""
        return tuple(x for x in self.assignments if x.stage == name)

    def statements(
        self, types: Mapping[str, Type], assignments: Sequence[Assignment]
    ) -> list[Statement]:
        """Assignments with vectors and matrices whole; `types` are those of all that is known."""
        known = self.lowering.types = dict(types)
        return [_statement(x.name, self._node(x), known) for x in assignments]

    def _node(self, x: Assignment) -> n.Node:
        """What is assigned; several parts make the same."""
        if x.expr not in self._read:
            self._read[x.expr] = self.lowering.lower(x.expr, f"in the assignment to {x.name}")
        return self._read[x.expr]

    def part(
        self,
        rule: Program,
        assignments: Sequence[Assignment],
        writes: Writes,
        before: Sequence[Statement] = (),
    ) -> Part:
        """Assignments as a part of a rule: this one, or one with more variables.

        What is made `before` them is read already.
        """
        known = rule.scope | {s.name: s.type for s in before}
        return part_of(rule, [*before, *self.statements(known, assignments)], writes)


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


def _statement(name: str, expr: n.Node, types: dict[str, Type]) -> Statement:
    """Typed by the state or quantity it is the next value of, or by inference."""
    found = infer(expr, types)
    state = name.removesuffix("_next") if name.endswith("_next") else name
    target = types.get(name, types.get(state, found))
    if found == SCALAR != target:
        expr = _alone(expr, target, state)
    elif target.is_symmetric and found == Type(target.shape):
        expr = wholes.Symmetrize(expr)
    check(expr, target, types, name)
    types[name] = target
    return Statement(name, expr, target)


def _alone(expr: n.Node, target: Type, state: str) -> n.Node:
    """A number that is all of an array: beside nothing, 2 is 2I, and 0 is what any vector has."""
    if target.is_symmetric:
        return multiple(expr, target)
    own = n.Ref(state)
    return n.Sub(own, own) if expr == n.ZERO and target != ENTRIES else expr
