"""Solves by a symmetric positive definite matrix share one Cholesky factor.

Every state that must stay positive definite has its next value factored before
anything is written: that is the check, and usually the factor is needed anyway.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.program import LINEAR, Phase, Program, Statement, fresh
from blrgen.program.types import Type, infer

DEFINITE = "SPD"


def factor(program: Program) -> Program:
    """Factors as statements of their own, each placed right after what it factors."""
    if program.kind != LINEAR:
        return program
    definite = {v.name for v in program.variables if v.domain == DEFINITE}
    definite |= {f"{v.name}_next" for v in program.of("state") if v.domain == DEFINITE}
    taken = set(program.scope)
    return program.with_phases(lambda p: _phase(p, program, definite, taken))


class _Factors:
    """The factors one phase needs, and the statements that make them."""

    def __init__(self, program: Program, definite: set[str], taken: set[str]) -> None:
        self.program, self.definite, self.taken = program, definite, taken
        self.names: dict[str, str] = {}
        self.extra: list[Statement] = []  # matrices that had no name

    def of(self, name: str) -> n.Node:
        if name not in self.names:
            self.names[name] = self.fresh(f"{name}_factor")
        return n.Sym(self.names[name])

    def fresh(self, name: str) -> str:
        name = fresh(name, self.taken)
        self.taken.add(name)
        return name

    def change(self, node: n.Node) -> n.Node:
        if not isinstance(node, n.Solve | n.HalfSolve | n.HalfProduct):
            return node
        if isinstance(node.arg, n.Sym):
            if isinstance(node, n.Solve) and node.arg.name not in self.definite:
                return node
            return replace(node, arg=self.of(node.arg.name))
        if isinstance(node, n.Solve):
            return node
        name = next((s.name for s in self.extra if s.expr == node.arg), "")
        if not name:
            name = self.fresh("precision")
            self.extra.append(Statement(name, node.arg, infer(node.arg, self.program.scope)))
        return replace(node, arg=self.of(name))


def _phase(phase: Phase, program: Program, definite: set[str], taken: set[str]) -> Phase:
    factors = _Factors(program, definite, taken)
    changed = [replace(s, expr=n.transform(s.expr, factors.change)) for s in phase.body]
    body = [*factors.extra, *changed]
    for state, local in phase.writes:
        if state in program and program[state].domain == DEFINITE:
            factors.of(local)
    types = program.scope | {s.name: s.type for s in body}
    for name, own in factors.names.items():
        at = next((k + 1 for k, s in enumerate(body) if s.name == name), 0)
        body.insert(at, Statement(own, n.Factor(n.Sym(name)), Type("factor", types[name].shape)))
    return replace(phase, body=tuple(body))
