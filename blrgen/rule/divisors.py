"""Long divisors that several terms share, as names of their own: F⁻¹ has one, its determinant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import sympy as sp

from blrgen.algebra.bessel import RATIOS
from blrgen.algebra.components import total, varies
from blrgen.algebra.ring import Ring

Expr = Any
_LONG = 8  # operations up to which a divisor is written out
_OFTEN = 5  # how often a shorter one must occur to get a name
_SHORT = 3
_SUMS = 5  # operations up to which a number made from sums over components is written out


def divisors(ring: Ring, expressions: Sequence[Expr], taken: set[str]) -> dict[Expr, Expr]:
    """Divisor → the symbol to write for it; deterministic, empty when none is long."""
    if ring.components:
        return _numbers(expressions, taken)
    if not ring.elementwise:
        return {}
    count: dict[Expr, int] = {}
    for x in expressions:
        for term in sp.Add.make_args(x):
            for f in sp.Mul.make_args(term):
                if f.is_commutative and f.is_Pow and f.exp == -1 and f.base.is_Add:
                    count[f.base] = count.get(f.base, 0) + 1
    long = [
        d
        for d, n in count.items()
        if n > 1 and sp.count_ops(d) > (_SHORT if n >= _OFTEN else _LONG)
    ]
    return _named(long, taken)


def spelled(named: dict[Expr, Expr], taken: set[str]) -> tuple[tuple[Expr, Expr], ...]:
    """Each letter and what it stands for; κ = √s for the arguments of Bessel functions."""
    out: list[tuple[Expr, Expr]] = []
    roots: dict[Expr, Expr] = {}
    for expr, letter in named.items():
        if isinstance(expr, RATIOS):
            order, s = expr.args
            name = f"kappa{len(roots) + 1 if roots else ''}"
            if s not in roots and not s.is_Symbol and name not in taken:
                roots[s] = sp.Symbol(name, nonnegative=True)
                out.append((roots[s], sp.sqrt(s)))
            expr = expr.func(order, roots[s] ** 2) if s in roots else expr
        out.append((letter, expr))
    return tuple(out)


def _numbers(expressions: Sequence[Expr], taken: set[str]) -> dict[Expr, Expr]:
    """Divisors of vectors that are numbers made from sums over the components."""
    found: dict[Expr, None] = {}
    for x in expressions:
        for p in sorted(x.atoms(sp.Pow), key=sp.default_sort_key):
            d = p.base
            if p.exp == -1 and d.is_Add and d.has(total) and not varies(d):
                found[d] = None
    named = _named([d for d in found if sp.count_ops(d) > _SUMS], taken)
    return {**_functions(expressions, taken), **named}


def _functions(expressions: Sequence[Expr], taken: set[str]) -> dict[Expr, Expr]:
    """Ratios of Bessel functions at sums over the components, each by its letter."""
    found: dict[Expr, Expr] = {}
    atoms = {f for x in expressions for f in x.atoms(*RATIOS)}
    for f in sorted(atoms, key=sp.default_sort_key):
        same = sum(s.name.startswith(f.letter) for s in found.values())
        name = f"{f.letter}{same + 1 if same else ''}"
        if name not in taken:
            found[f] = sp.Symbol(name, positive=True)
    return found


def _named(long: list[Expr], taken: set[str]) -> dict[Expr, Expr]:
    found: dict[Expr, Expr] = {}
    for d in sorted(long, key=sp.default_sort_key):
        name = "det" if not found else f"det{len(found) + 1}"
        if name in taken:
            return found
        found[d] = sp.Symbol(name, real=True)
    return found
