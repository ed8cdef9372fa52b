"""The same for vectors and matrices: exponents are compared word by word.

The own statistics are λ(y), one a natural parameter, and −A(y).  A vector or matrix λ_i(y)
must be a multiple of one of the family's statistics; what is a number is matched term by
term.  The Jacobian of a chart that is triangular in blocks is a product of

    |∂(A x)/∂x| = |A|        |∂(A X Aᵀ)/∂X| = |A|^(d+1)  of symmetric d × d matrices.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.algebra.calculus import differential, increment
from blrgen.algebra.partial import partial
from blrgen.algebra.ranks import SymMat, T, Vec, like, logdet, shape_of
from blrgen.algebra.span import in_span
from blrgen.algebra.words import normal, split
from blrgen.core import Family
from blrgen.errors import InternalError, UserError
from blrgen.geometry.conjugate import Conjugate, variables_of
from blrgen.geometry.recognise import (
    Coordinate,
    Recognised,
    candidates,
    shipped,
)

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any


def recognise_matrix(conjugate: Conjugate) -> Recognised | None:
    """The first shipped family over vectors and matrices that fits."""
    g = conjugate.geometry
    if not g.family.working:
        return None
    for name in candidates(len(g.working), False):
        try:
            family = shipped(name)
        except UserError:
            continue
        if family.elementwise or getattr(family, "components", None) is not None:
            continue
        for where in _coordinates(g, family):
            try:
                found = _fit(conjugate, family, where)
            except InternalError:
                continue
            if found is not None:
                return found
    return None


def _coordinates(g: Geometry, family: Family) -> Iterator[tuple[Coordinate, ...]]:
    """Working parameters, a symmetric matrix or a positive number also inverted, in any order."""
    for order in permutations(g.working):
        pairs = zip(variables_of(family), order, strict=True)
        if not all(type(v) is type(x) or v.is_commutative == x.is_commutative is True
                   for v, x in pairs):  # fmt: skip
            continue
        options = []
        for k, x in enumerate(order):
            y = like(x, f"y{k + 1}_")
            options.append([Coordinate(y, x, y, None, None)])
            if isinstance(x, SymMat) or x.is_positive:
                options[-1].append(Coordinate(y, x**-1, y**-1, None, None))
        yield from product(*options)


def _fit(conjugate: Conjugate, family: Family, where: tuple[Coordinate, ...]) -> Recognised | None:
    from blrgen.decide.equal import equal

    g = conjugate.geometry
    back = {(c.shown.base if c.shown.is_Pow else c.shown): c.back for c in where}
    images = [normal(g.natural_of_working[x].xreplace(back)) for x in g.natural]
    ys = tuple(c.symbol for c in where)
    slope = block_determinant(images, ys)
    if slope is None:
        return None
    to = dict(zip(variables_of(family), ys, strict=True))
    statistics = [normal(t.xreplace(to)) for t in family.statistics]
    base = sp.expand_log(sp.log(family.base_measure.xreplace(to)), force=True)
    moved = normal(g.log_partition.xreplace(dict(zip(g.natural, images, strict=True))))
    kappa: list[Expr] = [sp.S.Zero] * len(statistics)
    rest = normal(slope - conjugate.nu * moved - base)
    for c, image in zip(conjugate.chi, images, strict=True):
        if image.is_commutative:
            rest += sp.expand(c * image)
            continue
        place = _multiple(image, statistics)
        if place is None:
            return None
        kappa[place[0]] += place[1] * c
    scalars = [j for j, t in enumerate(statistics) if t.is_commutative]
    solved = in_span(sp.expand(rest), [statistics[j] for j in scalars], ys)
    if solved is None:
        return None
    constant, factors = solved
    for j, value in zip(scalars, factors, strict=True):
        kappa[j] += value
    if any(k == 0 for k in kappa):
        return None
    own = normal(_paired(g, conjugate.chi, images) - conjugate.nu * moved + slope)
    whole = normal(_paired(g, tuple(kappa), statistics) + base + constant)
    proof = equal(own, whole, {}, claim=f"the prior's exponent is that of {family.name}")
    if proof.level == "refuted":
        return None
    return Recognised(family, where, tuple(kappa), constant, proof)


def _paired(g: Geometry, left: tuple[Expr, ...], right: list[Expr]) -> Expr:
    return sp.Add(*[
        a * b if a.is_commutative and b.is_commutative else g.ring.inner(a, b)
        for a, b in zip(left, right, strict=True)
    ])  # fmt: skip


def _multiple(image: Expr, statistics: list[Expr]) -> tuple[int, Expr] | None:
    """(j, c) with image = c · statistic j."""
    for j, t in enumerate(statistics):
        if t.is_commutative or image.is_Add or t.is_Add:
            continue
        (a, word), (b, other) = split(image), split(t)
        if word == other and not (a / b).free_symbols:
            return j, a / b
    return None


def block_determinant(images: list[Expr], names: tuple[Expr, ...]) -> Expr | None:
    """log|∂images/∂names| up to a constant, where the blocks are triangular; else None."""
    left, open_, total = list(images), list(names), sp.S.Zero
    while left:
        for image in left:
            depends = [x for x in open_ if image.has(x)]
            if len(depends) == 1:
                slope = _block(image, depends[0])
                if slope is None:
                    return None
                total += slope
                left.remove(image)
                open_.remove(depends[0])
                break
        else:
            return None
    return sp.Add(*[t for t in sp.Add.make_args(sp.expand(total)) if t.has(*names)])


def _block(image: Expr, x: Expr) -> Expr | None:
    """log|∂image/∂x| of one block."""
    if image.is_commutative and x.is_commutative:
        return sp.expand_log(sp.log(sp.Abs(partial(image, x))), force=True)
    if image.is_commutative or not isinstance(x, Vec | SymMat):
        return None
    dx = increment(x)
    moved = normal(differential(image, x, dx))
    if moved.is_Add or moved == 0:
        return None
    coefficient, word = split(moved)
    if dx not in word or coefficient.has(x):
        return None
    i = word.index(dx)
    before, after = sp.Mul(*word[:i]), sp.Mul(*word[i + 1 :])
    rows = (shape_of(x) or (sp.S.One,))[0]
    scale = sp.log(sp.Abs(coefficient)) if coefficient.free_symbols else sp.S.Zero
    if isinstance(x, Vec):
        return rows * scale + _logdet(before) if after == 1 else None
    if normal(T(before) - after) != 0:
        return None
    return rows * (rows + 1) / 2 * scale + (rows + 1) * _logdet(before)


def _logdet(word: Expr) -> Expr:
    """log|A| of a product of square factors."""
    if word == 1:
        return sp.S.Zero
    return sp.Add(*[logdet(a) for a in (word.args if word.is_Mul else (word,))])


__all__ = ["block_determinant", "recognise_matrix"]
