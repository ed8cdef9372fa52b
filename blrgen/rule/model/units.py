"""In which units points are, where data are in some.

E[log joint](c·x, c^k·θ) = E[log joint](x, θ) + what neither data nor points are in, where each
term has as many units above as below: Σ k·power over its data and points is 0, of −½(x − Wh)²/s
with k = 1 for x and W, 2 for s.  These equations are linear in the exponents k.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from blrgen.algebra.indexed.values import Atom, Term
from blrgen.read.model.values import Domain, Node, Number
from blrgen.rule.model.values import ModelDerivation


def units(d: ModelDerivation) -> dict[str, dict[str, Fraction]]:
    """Exponents of points for the observed variables that can be in other units, each alone."""
    points = sorted({x for u in d.points for x in u.names})
    found = {}
    for node in d.model.nodes:
        if node.kind == "observed" and len(node.names) == 1 and _measured(node):
            one = _exponents(d, node.name, points) or {}
            own = [x for n in d.model.nodes for x in zip(n.names, n.domains, strict=True)]
            if one and all(_whole(domain) for x, domain in own if x in one):
                found[node.name] = one
    return found


def _whole(domain: Domain) -> bool:
    """Whether a domain is the same in other units."""
    low = domain.lower
    own = low is None or (isinstance(low, Number) and low.value == 0)
    return domain.kind == "spd" or (domain.kind == "interval" and own and domain.upper is None)


def _measured(node: Node) -> bool:
    """Whether its values are any numbers: nothing else has units that can change."""
    domain = node.domains[0]
    free = domain.kind == "interval" and (domain.lower, domain.upper) == (None, None)
    return free and not domain.whole


def _exponents(d: ModelDerivation, data: str, points: list[str]) -> dict[str, Fraction] | None:
    """The exponents that are not 0; None where no terms allow other units."""
    rows = []
    for term, _ in d.expected_joint.terms:
        powers = _powers(term, {data, *points})
        if powers is None:
            return None
        rows.append([powers.get(x, 0) for x in points] + [-powers.get(data, 0)])
    solved, pivots = sp.Matrix(rows).rref()
    if len(points) in pivots:
        return None
    found = {points[p]: Fraction(str(solved[row, len(points)])) for row, p in enumerate(pivots)}
    return {x: k for x, k in found.items() if k}


def _powers(term: Term, names: set[str]) -> Mapping[str, Fraction] | None:
    """Of names the powers in a term; None where it is no product of powers of them."""
    found: dict[str, Fraction] = {}
    for atom, power in term.factors:
        if not names & _names(atom):
            continue
        single = len(atom.arguments) == 1 and len(atom.arguments[0].terms) == 1
        if single and atom.name in ("log", "logdet"):
            if _powers(atom.arguments[0].terms[0][0], names) is None:
                return None
            continue  # log c^k is what no point is in
        own: Mapping[str, Fraction] | None = {atom.name: Fraction(1)}
        if single and atom.kind == "matrix" and atom.name == "inv":
            inside = _powers(atom.arguments[0].terms[0][0], names)
            own = inside and {x: -k for x, k in inside.items()}
        elif atom.arguments or atom.name not in names:
            return None
        for x, k in (own or {}).items():
            found[x] = found.get(x, Fraction(0)) + k * power
    return found


def _names(atom: Atom) -> set[str]:
    return {atom.name, *(x for e in atom.arguments for x in e.symbols())}
