"""First values of parameters: simple numbers inside the declared domains.

0 where it is allowed, else 1, −1 or ½; otherwise a number beside the bounds, which may be
in constants, sizes and earlier parameters: low + 1 for a bound that is a size.  A start at
which the rule has a removable 0/0, such as a von Mises density without a direction, is moved
off it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sympy as sp

from blrgen.core import Domain, Parameter

Expr = Any


def starts(parameters: Iterable[Parameter]) -> dict[Expr, Expr]:
    """A first value for each parameter, in order."""
    found: dict[Expr, Expr] = {}
    for p in parameters:
        found[p.symbol] = start(p.domain, found)
    return found


def start(domain: Domain, known: dict[Expr, Expr]) -> Expr:
    """A value inside the domain; bounds may use the values known so far."""
    if domain.kind in ("spd", "-spd"):
        return sp.Integer(-1 if domain.kind == "-spd" else 1)
    if domain.kind != "interval":
        return sp.S.Zero
    low, high = (sp.sympify(b).subs(known) for b in (domain.lower, domain.upper))
    for value in (sp.S.Zero, sp.S.One, sp.S.NegativeOne, sp.S.Half):
        if (low < value) == sp.true and (value < high) == sp.true:  # whatever the sizes are
            return value
    if high == sp.oo:
        return (sp.floor(low) if low.is_number else low) + 1
    if low == -sp.oo:
        return (sp.ceiling(high) if high.is_number else high) - 1
    return (low + high) / 2


def moved_off(
    found: dict[Expr, Expr], moving: Sequence[Expr], domains: dict[Expr, Domain],
    expressions: Sequence[Expr],
) -> dict[Expr, Expr]:  # fmt: skip
    """The first values with zeros replaced where an expression has no value at them."""
    if not any(found[x] == 0 for x in moving) or _defined(expressions, found):
        return found
    for value in (sp.S.One, sp.S.Half, sp.S.NegativeOne):
        tried = dict(found)
        for x in moving:
            if found[x] == 0 and domains[x].kind == "interval":
                tried[x] = value
        if _defined(expressions, tried):
            return tried
    return found


def _defined(expressions: Sequence[Expr], point: dict[Expr, Expr]) -> bool:
    """Whether all have a finite value; other names are put to one."""
    from blrgen.algebra.nodes import has_nodes
    from blrgen.value.evaluate import Undefined, evaluate

    for f in expressions:
        if has_nodes(f) or not f.is_commutative:
            continue
        values = {x: sp.S.One for x in f.free_symbols} | point
        try:
            evaluate(f, {k: evaluate(sp.sympify(v), {}) for k, v in values.items()})
        except Undefined:
            return False
    return True
