"""F⁻¹ with letters: where the entries of F are long they keep names of their own.

F ∇_μ f = ∇_λ f is then solved in the letters F11, F12, …, and the rule computes these first.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.partial import NoDerivative, partial
from blrgen.algebra.solve import solve_linear
from blrgen.geometry.geometry import Geometry

Expr = Any
_LONG = 60  # operations in all of F up to which it is written out


def long_metric(geometry: Geometry) -> dict[Expr, Expr]:
    """Letter → entry of F (each once, F being symmetric); empty where F is short."""
    n = len(geometry.natural)
    sparse = geometry.family.joint and geometry.family.working  # F is solved in these then
    if not geometry.ring.elementwise or n < 2 or sparse:
        return {}
    fisher = geometry.fisher
    numeric = any(has_nodes(x) for row in fisher for x in row)
    short = sum(sp.count_ops(x) for row in fisher for x in row) <= _LONG
    if short and not numeric and _direct(geometry):
        return {}
    entries = [fisher[i][j] for i in range(n) for j in range(i, n)]
    return dict(zip(metric_letters(geometry), entries, strict=True))


def metric_letters(geometry: Geometry) -> list[Expr]:
    """F11, F12, …: a letter for each entry, each once, that no parameter uses."""
    n, family = len(geometry.natural), geometry.family
    taken = {p.name for p in (*family.natural, *family.working, *family.fixed)}
    stem = next(s for s in ("F", "F_", "F__") if not _clash(s[1:], taken))
    pairs = ((i, j) for i in range(n) for j in range(i, n))
    return [sp.Symbol(f"{stem}{i + 1}{j + 1}", real=True) for i, j in pairs]


def _clash(mark: str, taken: set[str]) -> bool:
    """Whether a parameter has a name that the letters would use."""
    return any(t[:1] in "FDLzY" and t[1:].removeprefix(mark).isdigit() for t in taken)


def _direct(geometry: Geometry) -> bool:
    """Whether μ has derivatives in closed form at all."""
    try:
        for m in geometry.mean:
            for x in geometry.natural:
                partial(m, x)
    except NoDerivative:
        return False
    return True


def solve_metric(
    geometry: Geometry, metric: dict[Expr, Expr], slopes: list[Expr]
) -> tuple[tuple[Expr, ...], dict[Expr, Expr]]:
    """(∇_μ f, the letters it needs, in order) from F ∇_μ f = slopes.

    Up to three parameters the solution is written out; beyond that F = L D Lᵀ, and its
    factors and the solution have letters too.
    """
    n = len(slopes)
    table: dict[tuple[int, int], Expr] = {}
    letters = iter(metric)
    for i in range(n):
        for j in range(i, n):
            table[i, j] = table[j, i] = next(letters)
    if n > 3:
        return _factored(table, metric, slopes)
    unknowns = [sp.Dummy(f"Y{i + 1}", real=True) for i in range(n)]
    sides = [sp.Dummy(f"slope{i + 1}", real=True) for i in range(n)]
    equations = [
        sp.Add(*[table[i, j] * y for j, y in enumerate(unknowns)]) - side
        for i, side in enumerate(sides)
    ]
    found = solve_linear(equations, unknowns)
    given = dict(zip(sides, slopes, strict=True))
    return tuple(found[y].xreplace(given) for y in unknowns), metric


def _factored(
    table: dict[tuple[int, int], Expr], metric: dict[Expr, Expr], slopes: list[Expr]
) -> tuple[tuple[Expr, ...], dict[Expr, Expr]]:
    """D_j = F_jj − Σ_k L_jk² D_k, L_ij = (F_ij − Σ_k L_ik L_jk D_k)/D_j; then z, then Y."""
    n, named = len(slopes), dict(metric)
    stem = next(iter(metric)).name.removesuffix("11").removeprefix("F")

    def name(letter: str, place: str, value: Expr) -> Expr:
        symbol = sp.Symbol(f"{letter}{stem}{place}", real=True)
        named[symbol] = value
        return symbol

    diagonal: list[Expr] = []
    lower: dict[tuple[int, int], Expr] = {}
    for j in range(n):
        used = [lower[j, k] ** 2 * diagonal[k] for k in range(j)]
        diagonal.append(name("D", f"{j + 1}", table[j, j] - sp.Add(*used)))
        for i in range(j + 1, n):
            cross = [lower[i, k] * lower[j, k] * diagonal[k] for k in range(j)]
            value = (table[i, j] - sp.Add(*cross)) / diagonal[j]
            lower[i, j] = name("L", f"{i + 1}{j + 1}", value)
    z: list[Expr] = []
    for i in range(n):
        z.append(name("z", f"{i + 1}", slopes[i] - sp.Add(*[lower[i, k] * z[k] for k in range(i)])))
    solution: dict[int, Expr] = {}
    for i in reversed(range(n)):
        back = sp.Add(*[lower[k, i] * solution[k] for k in range(i + 1, n)])
        solution[i] = name("Y", f"{i + 1}", z[i] / diagonal[i] - back)
    return tuple(solution[i] for i in range(n)), named
