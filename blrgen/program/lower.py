"""A `Rule` of SymPy expressions → a `Program`; nothing behind it sees SymPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import vec
from blrgen.core import Assignment, Quantity, Rule
from blrgen.errors import InternalError, UserError
from blrgen.program import nodes as n
from blrgen.program.laws import distribution
from blrgen.program.lowering import Lowering
from blrgen.program.program import (
    PHASES,
    Phase,
    Program,
    Statement,
)
from blrgen.program.sizes import counts
from blrgen.program.special import opened
from blrgen.program.types import ENTRIES, SCALAR, Type, check, infer
from blrgen.program.variables import checked_name, is_each, multiple, variables_of

Expr = Any


def lower(rule: Rule) -> Program:
    """The program of a rule, statements in the order of its assignments, unoptimised."""
    return lowered(rule)[0]


def lowered(rule: Rule) -> tuple[Program, dict[str, Callable[..., Expr]]]:
    """The program of a rule, and what its expectations without a closed form mean."""
    rule = with_noise(rule)
    variables = variables_of(rule)
    types = {v.name: v.type for v in variables}
    _one_number_over_draws(rule, types)
    lowering = Lowering(types, counts(rule))
    statements: dict[str, list[Statement]] = {phase: [] for phase in PHASES}
    inputs = frozenset(q.name for q in rule.of("input"))
    for a in opened(rule.assignments, inputs):
        if a.name in types and _kind(rule, a.name) != "intermediate":
            raise InternalError(f"{a.name} is assigned, but it is already a quantity")
        if a.stage not in statements:
            raise InternalError(f"unknown stage {a.stage!r} of the assignment to {a.name}")
        checked_name(a.name)
        expr = lowering.lower(a.expr, where=f"in the assignment to {a.name}")
        statements[a.stage].append(_statement(a.name, expr, types))
    phases = [_phase(name, statements[name], rule) for name in PHASES]
    posterior = tuple(
        (key, lowering.lower(e, where=f"in the posterior {key}")) for key, e in rule.posterior
    )
    program = Program(
        variables,
        tuple(p for p in phases if p.body),
        posterior,
        rule.until,
        rule.halved,
        tuple(lowering.expectations),
        tuple(lowering.binomial_means),
    )
    return program, lowering.meanings


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
        expr = n.Symmetrize(expr)
    check(expr, target, types, name)
    types[name] = target
    return Statement(name, expr, target)


def _alone(expr: n.Node, target: Type, state: str) -> n.Node:
    """A number that is all of an array: beside nothing, 2 is 2I, and 0 is what any vector has."""
    if target.is_symmetric:
        return multiple(expr, target)
    own = n.Ref(state)
    return n.Sub(own, own) if expr == n.ZERO and target != ENTRIES else expr


def _phase(name: str, statements: list[Statement], rule: Rule) -> Phase:
    writes = tuple(
        (q.name, f"{q.name}_next")
        for q in rule.of("state")
        if any(s.name == f"{q.name}_next" for s in statements)
    )
    if name == "draw" and statements:
        probe = statements[-1].name  # where the loss is evaluated
        writes = ((probe, probe),)
    return Phase(name, tuple(statements), writes)
