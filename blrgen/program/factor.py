"""Solves by a symmetric positive definite matrix share one Cholesky factor.

Every state that must stay positive definite has its next value factored before
anything is written: that is the check, and usually the factor is needed anyway.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.program import LINEAR, Phase, Program, Statement, fresh
from blrgen.program.types import Type

DEFINITE = "SPD"


def factor(program: Program) -> Program:
    """Factors as statements of their own, each placed right after what it factors."""
    if program.kind != LINEAR:
        return program
    definite = {v.name for v in program.variables if v.domain == DEFINITE}
    definite |= {f"{v.name}_next" for v in program.of("state") if v.domain == DEFINITE}
    taken = set(program.scope)
    return program.with_phases(lambda p: _phase(p, program, definite, taken))


def _phase(phase: Phase, program: Program, definite: set[str], taken: set[str]) -> Phase:
    factors: dict[str, str] = {}

    def change(node: n.Node) -> n.Node:
        if not isinstance(node, n.Solve | n.HalfSolve | n.HalfProduct):
            return node
        if not isinstance(node.arg, n.Sym) or node.arg.name not in definite:
            return node
        name = node.arg.name
        if name not in factors:
            factors[name] = fresh(f"{name}_factor", taken)
            taken.add(factors[name])
        return replace(node, arg=n.Sym(factors[name]))

    body = [replace(s, expr=n.transform(s.expr, change)) for s in phase.body]
    for state, local in phase.writes:
        if program[state].domain == DEFINITE and local not in factors:
            factors[local] = fresh(f"{local}_factor", taken)
            taken.add(factors[local])
    for name, own in factors.items():
        at = next((k + 1 for k, s in enumerate(body) if s.name == name), 0)
        shape = program.scope[name].shape
        body.insert(at, Statement(own, n.Factor(n.Sym(name)), Type("factor", shape)))
    return replace(phase, body=tuple(body))
