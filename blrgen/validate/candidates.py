"""What a line of code may mean: the parts of a rule, small ones first."""

from __future__ import annotations

import itertools
from typing import Any

import sympy as sp

from blrgen.decide.functions import plain
from blrgen.validate import reference

Expr = Any
MAX_CANDIDATES = 600


def candidates(rule: Any) -> list[Expr]:
    """Subexpressions of the rule, and partial sums and products, small ones first."""
    found: dict[Expr, None] = {}
    expanded = reference.expanded(rule)
    for name in expanded:
        found[expanded[name]] = None
    for e in [*expanded.values(), *(plain(a.expr) for a in rule.assignments)]:
        e = e.xreplace({s: expanded[s.name] for s in e.free_symbols if s.name in expanded})
        for node in sp.preorder_traversal(e):
            if node.is_number or not isinstance(node, sp.Expr):
                continue
            found[node] = None
            if (node.is_Add or (node.is_Mul and node.is_commutative)) and len(node.args) <= 6:
                for size in range(2, len(node.args)):
                    for part in itertools.combinations(node.args, size):
                        found[node.func(*part)] = None
    # √a·√b is written √(ab) as often: what stands under the joint root, and reciprocals
    roots = {n**2: None for n in found if n.is_commutative and n.is_Mul and _has_root(n)}
    return list({**roots, **found})[:MAX_CANDIDATES]


def _has_root(product: Expr) -> bool:
    """Whether every symbolic factor stands under a square root."""
    factors = [a for a in product.args if not a.is_number]
    return bool(factors) and all(a.is_Pow and abs(a.exp) == sp.S.Half for a in factors)
