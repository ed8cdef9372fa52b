"""A support in branches x = end ± eᵘ, on which every end and singularity lies at u = −∞.

Powers and logarithms at the end of a branch become linear in u, exactly: with x = b − eᵘ
log(b − x) is u.  So a density with integrable singularities, of any scale and with
any tail is a smooth function of u that falls off exponentially on both sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

import mpmath
import sympy as sp

from blrgen.core import Family
from blrgen.geometry.numbers.nodes import arguments
from blrgen.value.tape import Tape

Expr = Any
U = sp.Symbol("_u", real=True)
CENTRE = sp.Symbol("_centre", real=True)  # an end that is only a number, such as a mode


@dataclass(frozen=True)
class Branch:
    """x = end + sign·eᵘ for u up to `top` (None: ∞); sign 0 is x = u itself."""

    end: Expr
    sign: int
    centre: Any = 0
    top: Any = None

    @property
    def x(self) -> Expr:
        return U if self.sign == 0 else self.end + self.sign * sp.exp(U)


@lru_cache(maxsize=512)
def _tape(family: Family, end: Expr, sign: int, functions: tuple[Expr, ...]) -> Tape:
    """T_1, …, T_n, log h and then the functions, in u, the centre and the arguments."""
    from blrgen.geometry.integrate import log_base

    x = Branch(end, sign).x
    outputs = [
        sp.sympify(e).subs(family.variable, x)
        for e in (*family.statistics, log_base(family), *functions)
    ]
    return Tape(outputs, (U, CENTRE, *arguments(family)))


def values(
    family: Family, branch: Branch, u: Any, args: tuple[Any, ...],
    functions: tuple[Expr, ...] = (), *, doubles: bool,
) -> tuple[list[Any], Any, list[Any]]:  # fmt: skip
    """(T_i, log h, functions) at the points u of a branch."""
    centre = float(branch.centre) if doubles else branch.centre
    found = _tape(family, branch.end, branch.sign, functions).run(
        (u, centre, *args), doubles=doubles
    )
    count = len(family.statistics)
    return found[:count], found[count], found[count + 1 :]


def segments(
    family: Family, lower: Expr, upper: Expr, point: dict[Expr, Any], centre: Any
) -> list[Branch]:
    """The branches that cover an interval, split where the density is not smooth."""
    ends = _ends(family, lower, upper, point)
    if len(ends) == 2 and ends[0][0] == -sp.oo and ends[1][0] == sp.oo:
        return [Branch(CENTRE, 1, centre), Branch(CENTRE, -1, centre)]
    found: list[Branch] = []
    for (low, a), (high, b) in pairwise(ends):
        infinite = mpmath.isinf(a) or mpmath.isinf(b)
        top = None if infinite else mpmath.log((b - a) / 2)
        if not mpmath.isinf(a):
            found.append(_from(low, 1, a, top))
        if not mpmath.isinf(b):
            found.append(_from(high, -1, b, top))
    return found


def _from(end: Expr, sign: int, value: Any, top: Any) -> Branch:
    known = end is not CENTRE
    return Branch(end, sign, 0 if known else value, top)


def _ends(
    family: Family, lower: Expr, upper: Expr, point: dict[Expr, Any]
) -> list[tuple[Expr, Any]]:
    """The ends and the points between them where something is not smooth, in order."""
    low, high = number(lower, point), number(upper, point)
    inner: dict[Any, Expr] = {}
    for root in _irregular(family):
        value = number(root, point) if not isinstance(root, mpmath.mpf) else root
        if low < value < high:
            inner[value] = root
    for value in _numeric_roots(family, point):
        if low < value < high:
            inner.setdefault(value, CENTRE)
    middle = [(inner[v], v) for v in sorted(inner)]
    return [(sp.sympify(lower), low), *middle, (sp.sympify(upper), high)]


def number(e: Expr, point: dict[Expr, Any]) -> Any:
    """A bound as an mpmath number, ±∞ included."""
    from blrgen.value.evaluate import evaluate

    e = sp.sympify(e)
    if e in (sp.oo, -sp.oo):
        return mpmath.inf if e == sp.oo else -mpmath.inf
    return evaluate(e, point)


@lru_cache(maxsize=128)
def _delicate(family: Family) -> tuple[Expr, ...]:
    """Whose zeros are no smooth points: inside |·|, log, roots, divisors, signs."""
    x = family.variable
    found: dict[Expr, None] = {}
    for e in (*family.statistics, family.base_measure):
        for part in sp.preorder_traversal(sp.sympify(e)):
            inside: list[Expr] = []
            if isinstance(part, sp.Abs | sp.log | sp.sign):
                inside = [part.args[0]]
            elif part.is_Pow and not (part.exp.is_Integer and part.exp > 0):
                inside = [part.base]
            elif isinstance(part, sp.Max | sp.Min) and len(part.args) == 2:
                inside = [part.args[0] - part.args[1]]
            elif isinstance(part, sp.Piecewise):
                inside = [c.lhs - c.rhs for _, c in part.args if c.is_Relational]
            for e in inside:
                if e.has(x):
                    found.update(dict.fromkeys(_factors(e, x) if e.is_polynomial(x) else [e]))
    return tuple(found)


def _factors(e: Expr, x: Expr) -> list[Expr]:
    return [f for f, _ in sp.factor_list(e, x)[1] if f.has(x)]


@lru_cache(maxsize=128)
def _irregular(family: Family) -> tuple[Expr, ...]:
    """Exact zeros of the delicate parts that are linear in the variable."""
    x = family.variable
    roots = []
    for e in _delicate(family):
        if e.is_polynomial(x) and sp.degree(e, x) == 1:
            slope = e.coeff(x, 1)
            roots.append(sp.cancel(-(sp.expand(e) - sp.expand(slope * x)) / slope))
    return tuple(dict.fromkeys(roots))


def _numeric_roots(family: Family, point: dict[Expr, Any]) -> list[Any]:
    """Real zeros of the other polynomial parts."""
    from blrgen.value.evaluate import Undefined, evaluate

    x, found = family.variable, []
    for e in _delicate(family):
        if not e.is_polynomial(x) or sp.degree(e, x) < 2:
            continue
        try:
            coefficients = [evaluate(c, point) for c in sp.Poly(e, x).all_coeffs()]
            roots = mpmath.polyroots(coefficients, maxsteps=200, extraprec=200)
        except (Undefined, mpmath.libmp.NoConvergence):
            continue
        tiny = mpmath.mpf(10) ** (-mpmath.mp.dps // 3)
        found += [r.real for r in roots if abs(mpmath.im(r)) <= tiny * (1 + abs(r))]
    return found
