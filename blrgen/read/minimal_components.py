"""The table of values behind minimality, for statistics over components.

Every component of every statistic is evaluated with four components in the variable (or
as many as declared): at all points of a finite support, else at random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

from blrgen.core import Family, Support
from blrgen.errors import UserError

Expr = Any
SIZE = 4
COUNTS = 3  # what counts sum to, where the sum is a known constant


def component_columns(
    family: Family, labels: Sequence[str], constants: dict[Expr, Any],
    between: Callable[[Expr, Expr, int], Fraction], where: str,
) -> list[tuple[str, list[Any]]]:  # fmt: skip
    """1 and every component of every statistic, in columns."""
    import mpmath

    from blrgen.value.arithmetic import EXTENDED
    from blrgen.value.instance import Instance

    sizes = concrete_sizes(family)
    size = int(family.components.subs(sizes))
    rng = Random(20230717)
    table: list[tuple[str, list[Any]]] = []
    for point in _points(family.support, size, rng, between, len(labels) * size + 12):
        names = {p.name: _number(constants[p.symbol], sizes, p) for p in family.fixed}
        here = Instance(sizes, {**names, family.variable.name: point}, EXTENDED)
        row: list[tuple[str, Any]] = [("1", mpmath.mpf(1))]
        for statistic, label in zip(family.statistics, labels, strict=True):
            value = here.value(statistic)
            row += _named(value, label, family, where)
        table = table or [(name, []) for name, _ in row]
        for (_, column), (_, entry) in zip(table, row, strict=True):
            column.append(entry)
    return table


def concrete_sizes(family: Family) -> dict[Expr, int]:
    """Every size symbol of a family's vectors as a number."""
    return {s: SIZE for s in sorted(family.components.free_symbols, key=str)}


def _number(value: Any, sizes: dict[Expr, int], p: Any) -> Any:
    import mpmath

    def one(v: Any) -> Any:
        return mpmath.mpf(v.numerator) / v.denominator if isinstance(v, Fraction) else v

    if hasattr(p.symbol, "size"):
        count = int(p.symbol.size.subs(sizes))
        return [one(value) + k for k in range(count)]
    return one(value)


def _points(
    support: Support, size: int, rng: Random, between: Callable[[Expr, Expr, int], Fraction],
    count: int,
) -> Iterator[list[Any]]:  # fmt: skip
    import mpmath

    def number(value: Any) -> Any:
        return mpmath.mpf(value.numerator) / value.denominator

    if support.kind == "one-hot":
        for k in range(size):
            yield [mpmath.mpf(j == k) for j in range(size)]
    elif support.kind == "counts":
        most = int(support.upper) if support.upper.is_number else COUNTS
        for counts in product(range(most + 1), repeat=size):
            if sum(counts) == most:
                yield [mpmath.mpf(x) for x in counts]
    elif support.kind == "finite":
        for place in product(support.points, repeat=min(size, SIZE)):
            yield [mpmath.mpf(str(x)) for x in place]
    elif support.kind in ("simplex", "sphere"):
        for _ in range(count):
            row = [number(Fraction(rng.randint(1, 400), 97)) for _ in range(size)]
            if support.kind == "sphere":
                row = [x * rng.choice((-1, 1)) for x in row]
                whole = mpmath.sqrt(mpmath.fsum(x * x for x in row))
            else:
                whole = mpmath.fsum(row)
            yield [x / whole for x in row]
    else:
        for n in range(count):
            lower, upper = support.lower, support.upper
            yield [number(between(lower, upper, n + k)) for k in range(size)]


def _named(value: Any, label: str, family: Family, where: str) -> list[tuple[str, Any]]:
    import mpmath

    entries = value if isinstance(value, list) else [value]
    if any((isinstance(e, mpmath.mpc) and e.imag != 0) or not mpmath.isfinite(e) for e in entries):
        raise UserError(
            f"the statistic {label} is not a real number on the support", where=where,
            why=f"the support is {family.support.text}",
        )  # fmt: skip
    if not isinstance(value, list):
        return [(label, value)]
    base = label if label.replace("_", "").isalnum() or label[-1] == ")" else f"({label})"
    return [(f"{base}[{k + 1}]", mpmath.mpf(e)) for k, e in enumerate(entries)]
