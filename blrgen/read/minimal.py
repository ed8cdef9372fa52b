"""Minimality: no combination of the statistics is constant on the support.

The statistics and 1 are evaluated at many points of the support (all of them
when it is finite) and the rank of the table of values is computed: exactly
where the values are rational, else with 60 digits.  Statistics over vectors and
matrices are compared component by component in three dimensions.  A deficient
rank comes with the relation found, such as theta**2 = 1 on {-1, 1}.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

from blrgen.core import Domain, Family, Parameter, Support
from blrgen.errors import UserError
from blrgen.read.values import DIGITS, Inexact, TooLarge, Value, evaluate, number

Expr = Any
Column = tuple[str, list[Any]]  # what it is called, its value at every point

EXTRA = 12  # points beyond the number of columns
TOLERANCE = 40  # digits that must agree for values that are not rational
SIZE = 3  # the dimension in which vectors and matrices are compared


def check_minimal(family: Family, texts: Sequence[str], where: str) -> None:
    """Raise a `UserError` with the relation when the statistics and 1 are linearly dependent."""
    labels = [" ".join(str(t).split()) for t in texts]
    for exact in (True, False):
        try:
            relation = dependence(columns(family, labels, where, exact=exact))
        except Inexact:
            continue
        except TooLarge:
            raise UserError(
                "the statistics grow too fast to be compared", where=where,
                why="a function in them gets arguments above a million on the support",
            ) from None  # fmt: skip
        if relation:
            raise UserError(
                f"the statistics are not minimal: {describe(relation)}", where=where,
                why=f"on the support {family.support.text} this combination is constant, so "
                "different natural parameters give the same distribution",
                how=_how(family, relation),
            )  # fmt: skip
        return


def _how(family: Family, relation: list[tuple[str, Any]]) -> str:
    """A vector whose own components sum to a constant loses the last; else one statistic goes."""
    bases = {label.rpartition("[")[0] for label, _ in relation if label != "1"}
    if family.components is not None and len(bases) == 1 and (base := bases.pop()):
        return f'take its first components: "head({base})"'
    return "leave one of them out"


def columns(family: Family, labels: Sequence[str], where: str, *, exact: bool) -> list[Column]:
    """1 and every component of every statistic, evaluated at points of the support."""
    rng = Random(20230717)
    constants: dict[Expr, Value] = {}
    for p in family.fixed:  # bounds may use the constants before
        constants[p.symbol] = _constant(p, rng, constants)
    if family.components is not None:
        return _by_components(family, labels, constants, rng, where, exact=exact)
    count = sum(_components(s) for s in family.statistics) + EXTRA
    table: list[Column] = []
    for places in _places(family, constants, rng, count):
        env = {**constants, **places}
        point = places[family.variable]
        row: list[tuple[str, Any]] = [("1", number(1, exact))]
        for statistic, label in zip(family.statistics, labels, strict=True):
            value = evaluate(statistic, env, SIZE, exact=exact)
            _check_real(value, label, point, family, where)
            row += _named(value, label, statistic)
        if not table:
            table = [(name, []) for name, _ in row]
        for (_, column), (_, value) in zip(table, row, strict=True):
            column.append(value)
    return table


def _by_components(
    family: Family, labels: Sequence[str], constants: dict[Expr, Value], rng: Random, where: str,
    *, exact: bool,
) -> list[Column]:  # fmt: skip
    import mpmath

    from blrgen.read.minimal_components import component_columns

    if exact:
        raise Inexact

    def between(low: Expr, high: Expr, turn: int) -> Fraction:
        return _between(low, high, rng, constants, turn)

    with mpmath.workdps(DIGITS):
        return component_columns(family, labels, constants, between, where)


def dependence(table: list[Column]) -> list[tuple[str, Any]]:
    """The first column that is a combination of those before it: [(label, coefficient)], sum 0."""
    import mpmath

    with mpmath.workdps(DIGITS):
        return _dependence(table)


def _dependence(table: list[Column]) -> list[tuple[str, Any]]:
    basis: list[tuple[int, list[Any], list[Any]]] = []
    for j, (_, values) in enumerate(table):
        rest = list(values)
        combination = [0 * values[0]] * len(table)
        combination[j] = 1 + 0 * values[0]
        for pivot, vector, made_of in basis:
            factor = rest[pivot] / vector[pivot]
            rest = [a - factor * b for a, b in zip(rest, vector, strict=True)]
            combination = [a - factor * b for a, b in zip(combination, made_of, strict=True)]
        largest = max(range(len(rest)), key=lambda i: abs(rest[i]))
        if _vanishes(rest[largest], max(abs(v) for v in values)):
            found = [(table[i][0], c) for i, c in enumerate(combination)]
            return [(label, c) for label, c in found if not _vanishes(c, 1)]
        basis.append((largest, rest, combination))
    return []


def describe(relation: list[tuple[str, Any]]) -> str:
    """[("1", -1), ("x", 1), ("1 - x", 1)] as x + (1 - x) = 1."""
    rational = [(label, _rational(c)) for label, c in relation]
    scale: Any = 1
    if all(c is not None for _, c in rational):
        from math import lcm

        relation = rational
        scale = lcm(*(c.denominator for _, c in rational if c is not None))
    first = next((c for label, c in relation if label != "1"), 1)
    scale = -scale if first < 0 else scale
    left, right = "", "0"
    for label, c in relation:
        c = c * scale
        if label == "1":
            right = _digits(-c)
            continue
        factor = "" if abs(c) == 1 else f"{_digits(abs(c))}*"
        body = f"({label})" if _is_sum(label) else label
        sign = ("-" if c < 0 else "") if not left else (" - " if c < 0 else " + ")
        left += f"{sign}{factor}{body}"
    return f"{left} = {right}"


def _is_sum(label: str) -> bool:
    """Whether a + or - stands outside the brackets."""
    depth = 0
    for c in label:
        depth += (c in "([") - (c in ")]")
        if c in "+-" and depth == 0:
            return True
    return False


def _digits(c: Any) -> str:
    """A whole number or fraction exactly, anything else with eight digits."""
    if isinstance(c, Fraction):
        return str(c)
    import mpmath

    return str(mpmath.nstr(c, 8))


def _rational(c: Any) -> Fraction | None:
    if isinstance(c, Fraction):
        return c
    import mpmath

    sign, mantissa, exponent, _ = mpmath.mpf(c)._mpf_
    exact = Fraction(int(mantissa)) * Fraction(2) ** int(exponent) * (-1 if sign else 1)
    near = exact.limit_denominator(10_000)
    return near if abs(near - exact) < Fraction(1, 10**30) else None


def _vanishes(value: Any, scale: Any) -> bool:
    if isinstance(value, Fraction):
        return value == 0
    import mpmath

    return bool(abs(value) <= mpmath.mpf(10) ** -TOLERANCE * scale)


def _components(statistic: Expr) -> int:
    if statistic.is_commutative:
        return 1
    from blrgen.read.expression import rank_word

    return SIZE if rank_word(statistic) == "vector" else SIZE * SIZE


def _named(value: Value, label: str, statistic: Expr) -> list[tuple[str, Any]]:
    """The components of a value; of a symmetric matrix those on and above the diagonal."""
    if not isinstance(value, list):
        return [(label, value)]
    from blrgen.algebra.ranks import rank_of

    base = label if label.replace("_", "").isalnum() or label[-1] == ")" else f"({label})"
    if len(value[0]) == 1:
        return [(f"{base}[{i + 1}]", row[0]) for i, row in enumerate(value)]
    symmetric = rank_of(statistic) == "symmetric"
    return [
        (f"{base}[{i + 1},{j + 1}]", entry)
        for i, row in enumerate(value)
        for j, entry in enumerate(row)
        if not symmetric or i <= j
    ]


def _check_real(value: Value, label: str, point: Any, family: Family, where: str) -> None:
    entries = [e for row in value for e in row] if isinstance(value, list) else [value]
    if any(e is None for e in entries):
        at = f" at {family.variable} = {point}" if not isinstance(point, list) else ""
        raise UserError(
            f"the statistic {label} is not a real number on the support", where=where,
            why=f"it has no real value{at}; the support is {family.support.text}",
        )  # fmt: skip


def _constant(parameter: Parameter, rng: Random, before: dict[Expr, Value]) -> Value:
    """Some value of a fixed constant in its domain."""
    domain = parameter.domain
    if not parameter.symbol.is_commutative or domain.kind in ("spd", "-spd", "matrix"):
        return _ranked(domain, rng)
    value = _between(domain.lower, domain.upper, rng, before, 0)
    if domain.whole:  # many, so that statistics can differ
        open_ended = domain.upper is None or domain.upper.is_infinite
        most = None if open_ended else int(_substituted(domain.upper, before))
        return Fraction(int(value) + 40 if most is None else most)
    return value


def _places(
    family: Family, constants: dict[Expr, Value], rng: Random, count: int
) -> list[dict[Expr, Value]]:
    """A value of every variable: points of each support, drawn anew for every variable."""
    columns = [
        _points(x, support, constants, rng, count)
        for x, support in zip(family.variables, family.supports, strict=True)
    ]
    if len(columns) > 1:  # independent draws, also of finite supports
        columns = [[rng.choice(c) for _ in range(count)] for c in columns]
    return [dict(zip(family.variables, row, strict=True)) for row in zip(*columns, strict=True)]


def _points(
    variable: Expr, support: Support, constants: dict[Expr, Value], rng: Random, count: int
) -> list[Value]:
    """Points of a support: all of a finite one, else `count` that are spread over it."""
    if not variable.is_commutative:
        return [_ranked(support, rng) for _ in range(count)]
    if support.kind == "finite":
        return [Fraction(int(p.p), int(p.q)) if p.is_Rational else p for p in support.points]
    if support.kind == "integers":
        if support.lower.is_infinite:
            return [Fraction(n - count // 2) for n in range(count)]
        start = _substituted(support.lower, constants)
        last = None if support.upper.is_infinite else _substituted(support.upper, constants)
        return [start + n for n in range(count) if last is None or start + n <= last]
    return [_between(support.lower, support.upper, rng, constants, n) for n in range(count)]


def _ranked(domain: Domain | Support, rng: Random) -> Value:
    """A random vector, matrix or symmetric definite matrix with small fractions."""

    def entries(rows: int, across: int) -> list[list[Fraction]]:
        return [[_fraction(rng) for _ in range(across)] for _ in range(rows)]

    if domain.kind in ("spd", "-spd"):
        a = entries(SIZE, SIZE)
        sign = -1 if domain.kind == "-spd" else 1

        def entry(i: int, j: int) -> Fraction:  # of ±(a aᵀ + 1)
            return sign * (sum((x * y for x, y in zip(a[i], a[j], strict=True)), Fraction(i == j)))

        return [[entry(i, j) for j in range(SIZE)] for i in range(SIZE)]
    return entries(SIZE, SIZE if domain.kind == "matrix" else 1)


def _fraction(rng: Random) -> Fraction:
    return Fraction(rng.randint(-200, 200), rng.choice((7, 11, 13, 17)))


def _between(
    lower: Expr, upper: Expr, rng: Random, constants: dict[Expr, Value], turn: int
) -> Fraction:
    """A rational point of an interval; on the whole line both signs take turns."""
    low = None if lower is None or lower.is_infinite else _substituted(lower, constants)
    high = None if upper is None or upper.is_infinite else _substituted(upper, constants)
    inner = Fraction(rng.randint(1, 996), 997)
    if low is not None and high is not None:
        return low + (high - low) * inner
    reach = 6 * inner
    if low is not None:
        return low + reach
    if high is not None:
        return high - reach
    return reach if turn % 2 else -reach


def _substituted(bound: Expr, constants: dict[Expr, Value]) -> Fraction:
    """A bound with the fixed constants put in, as a nearby fraction when it is not rational."""
    value = evaluate(bound, constants, SIZE, exact=False)
    return (_rational(value) or Fraction(str(float(value)))) if value is not None else Fraction(0)
