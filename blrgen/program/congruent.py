"""Xᵀ A⁻¹ X with a factor A = L Lᵀ is Zᵀ Z with Z = L⁻¹ X: one substitution and one triangle.

Solving with A for all columns of X and multiplying by Xᵀ takes 4 d³ operations; L⁻¹ X takes
d³, and the symmetric product another d³.  What comes out equals its transpose exactly.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.program import Phase, Program, Statement, fresh
from blrgen.program.types import Memory, infer


def congruent(program: Program) -> Program:
    """Every Xᵀ A⁻¹ X whose A is factored, written as Zᵀ Z."""
    taken = set(program.scope)
    return program.with_phases(lambda p: _phase(p, Memory(program.scope), taken))


def _phase(phase: Phase, scope: Memory, taken: set[str]) -> Phase:
    body: list[Statement] = []
    halves: dict[n.Node, str] = {}

    def change(node: n.Node) -> n.Node:
        half = _half(node, scope)
        if half is None:
            return node
        if half not in halves:
            halves[half] = fresh("half", taken)
            taken.add(halves[half])
            scope[halves[half]] = infer(half, scope)
            body.append(Statement(halves[half], half, scope[halves[half]]))
        z = n.Sym(halves[half])
        return n.MatMul(n.Transpose(z), z)

    for s in phase.body:
        changed = n.transform(s.expr, change)
        body.append(replace(s, expr=changed))
    return replace(phase, body=tuple(body))


def _half(node: n.Node, scope: Memory) -> n.LowerSolve | None:
    """L⁻¹ X of a product Xᵀ (L Lᵀ)⁻¹ X of matrices; none of anything else."""
    if not isinstance(node, n.MatMul) or not isinstance(node.right, n.Solve):
        return None
    factor, right = node.right.arg, node.right.right
    types = infer(factor, scope), infer(right, scope)
    if types[0].structure != "lower" or len(types[1].shape) != 2:
        return None
    if node.left == right and types[1].is_symmetric:
        return n.LowerSolve(factor, n.Transpose(right))  # by columns, as LAPACK reads it
    return n.LowerSolve(factor, right) if node.left == n.transposed(right) else None
