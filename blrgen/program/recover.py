"""Noise read back from where it moved the loss to, instead of kept beside it.

Where the loss is probed at θ = a + ε·b, with a and b made of what no step has changed since,
the noise is ε = (θ − a)/b.  The point θ has to be kept for the caller anyway, so that a step
reads one array less, and what it reads is the displacement that the gradient really saw:
θ − a is exact in floating point wherever θ is within a factor of two of a.

With b = 1/√(N·(h + δ)) the √(h + δ) of the estimate meets the one of the noise, and
√x·√x = x takes both away.
"""

from __future__ import annotations

from collections.abc import Collection

from blrgen.program import nodes as n
from blrgen.program.laws import distribution
from blrgen.program.program import Program


def read_back(program: Program) -> dict[str, n.Node]:
    """What a program's noise is in terms of its probe point, where later phases need it."""
    draw = program.phase("draw")
    noises = [v.name for v in program.of("draw")]
    if not noises or not draw.body:
        return {}
    full = written_out({s.name: s.expr for s in draw.body})
    later = {x for p in program.phases if p.name != "draw" for x in p.reads}
    # a value of the draw phase that is read later brings its noise along
    later |= {x for name in later & full.keys() for x in n.names(full[name])}
    laws = [distribution(v.distribution) for v in program.of("draw")]
    if any(law is not None and law.chance for law in laws):
        return {}  # what a mask leaves of a weight that is zero does not say what the mask is
    found = recovered(draw.body[-1].name, full[draw.body[-1].name], noises)
    return {x: e for x, e in found.items() if x in later}


def written_out(values: dict[str, n.Node]) -> dict[str, n.Node]:
    """Each value without the names of earlier ones."""
    full: dict[str, n.Node] = {}
    for name, expr in values.items():
        full[name] = n.substituted(expr, full)
    return full


def recovered(probe: str, at: n.Node, noises: Collection[str]) -> dict[str, n.Node]:
    """What the noise is in terms of the probe point; empty where it cannot be read back."""
    if len(noises) != 1:
        return {}
    (noise,) = noises
    terms = _terms(at)
    moved = [(sign, t) for sign, t in terms if noise in n.names(t)]
    if len(moved) != 1:
        return {}
    sign, term = moved[0]
    found = _factor(term, noise)
    if found is None:
        return {}
    above, below = found
    rest = [n.neg(t) if s < 0 else t for s, t in terms if noise not in n.names(t)]
    shift: n.Node = n.Sub(n.Ref(probe), n.add(*rest)) if rest else n.Ref(probe)
    shift = shift if sign > 0 else n.neg(shift)
    return {noise: n.div(n.mul(shift, below), above)}


def paired_roots(node: n.Node) -> n.Node:
    """√x·√x = x in every product of the tree."""
    return n.transform(node, lambda x: _paired(x) if isinstance(x, n.Mul) else x)


def _paired(node: n.Mul) -> n.Node:
    kept: list[n.Node] = []
    for factor in n.mul(*node.args).children or node.args:
        if n.is_root(factor) and factor in kept:
            kept[kept.index(factor)] = factor.children[0]
        else:
            kept.append(factor)
    return n.mul(*kept)


def _terms(node: n.Node) -> list[tuple[int, n.Node]]:
    """The terms of a sum with their signs."""
    if isinstance(node, n.Add):
        return [t for a in node.args for t in _terms(a)]
    if isinstance(node, n.Sub):
        return [*_terms(node.left), *((-s, t) for s, t in _terms(node.right))]
    if isinstance(node, n.Neg):
        return [(-s, t) for s, t in _terms(node.arg)]
    return [(1, node)]


def _factor(node: n.Node, noise: str) -> tuple[n.Node, n.Node] | None:
    """(above, below) with node = noise · above/below; None where it is not a factor."""
    if node == n.Ref(noise):
        return n.ONE, n.ONE
    if isinstance(node, n.Div) and noise not in n.names(node.bottom):
        inner = _factor(node.top, noise)
        return None if inner is None else (inner[0], n.mul(inner[1], node.bottom))
    if isinstance(node, n.Mul):
        own = [a for a in node.args if noise in n.names(a)]
        others = [a for a in node.args if noise not in n.names(a)]
        inner = _factor(own[0], noise) if len(own) == 1 else None
        return None if inner is None else (n.mul(inner[0], *others), inner[1])
    return None
