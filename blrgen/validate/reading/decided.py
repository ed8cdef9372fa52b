"""Conditions as doubles decide them, at points where they may decide otherwise than algebra.

By algebra ρ/3 < 0.1 and ρ ≥ 0.3 exclude each other, e^(−|g|) is positive and 1 + g² is above 1
unless g is 0; of doubles none of this holds, and what stands on a branch that algebra never takes
is then the step.  So conditions are also decided in doubles, at very small and very large numbers
and about those at which the two sides are equal; the values are computed in many digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from blrgen.validate.reading.algebra import names_in
from blrgen.validate.reading.graph import ORDER, Node, reachable
from blrgen.validate.reading.interpret import in_digits, in_doubles, missing
from blrgen.validate.reading.points import Points, contains
from blrgen.validate.reading.signals import Refused

HARD = (1e-300, 1e-160, 1e-20, 1e-9, 0.1, 0.3, 1 / 3, 7.0, 40.0, 800.0, 1e9, 1e17, 1e160)
DIGITS, FAR = 50, mpmath.mpf(10) ** -6
RANDOM = 40  # points with several hard numbers
STEPS = 2  # doubles to each side of one where the sides are equal
TURNS = 12  # of a search for it
MOST, FEW = 8, 4  # conditions about which such numbers are looked for, and symbols of each
WORDS = "a comparison, a sign or a root that rounding decides"

Point = dict[str, Fraction]


def check_value(element: Any, n: Node, key: str, path: Sequence[tuple[Node, bool]]) -> None:
    """Refuse a value that is far from the rule's where doubles decide the conditions in it."""
    conditions = [c for c, _ in path]
    roots = [n, *conditions]
    suspects = _suspects(roots)
    if not suspects:
        return
    every = [n for n in reachable(roots) if n.op in ORDER or n.op == "sign"]
    for point in _points(element, roots, suspects):
        truths = _truths(every, roots, point)
        if truths is None:
            continue
        with mp.workdps(DIGITS):
            real = {k: mpmath.mpf(x.numerator) / x.denominator for k, x in point.items()}
            values = in_digits(roots, real, truths)
            if any(missing(values[c.index]) or bool(values[c.index]) != v for c, v in path):
                continue
            x, rule = values[n.index], element.rule_at(point, {})
            if rule is None or missing(x):
                continue
            size = max(abs(x), *(abs(v) for v in rule.values()))
            if abs(x - rule[key]) > FAR * size:
                raise Refused(WORDS, suspects[0].line)


def check_decision(element: Any, c: Node, known: bool) -> None:
    """Refuse a condition that the domains decide, and doubles decide otherwise somewhere."""
    suspects = _suspects([c])
    if not suspects:
        return
    for point in _points(element, [c], suspects):
        truths = _truths(suspects, [c], point)
        if truths is not None and c.index in truths and truths[c.index] != known:
            raise Refused(WORDS, c.line)


def _suspects(roots: Sequence[Node]) -> list[Node]:
    """Comparisons and signs of what has been computed."""
    return [
        n for n in reachable(roots)
        if (n.op in ORDER or n.op == "sign") and any(_computed(a) for a in n.args)
    ]  # fmt: skip


def _computed(n: Node) -> bool:
    """Whether rounding may have been at work: not in symbols, signs and sizes of them."""
    if n.op in ("neg", "abs", "max", "min", "case"):
        return any(_computed(a) for a in n.args if not a.is_truth)
    return n.op not in ("symbol", "number", "sign")


def _truths(suspects: list[Node], roots: Sequence[Node], point: Point) -> dict[int, Any] | None:
    """What doubles say of them; None where one of their sides is no number there."""
    try:
        values = in_doubles(roots, {k: float(v) for k, v in point.items()})
    except (OverflowError, TypeError):
        return None
    out: dict[int, Any] = {}
    for n in suspects:
        sides = [values[a.index] for a in n.args]
        if not all(isinstance(s, bool | np.bool_) or s == s for s in sides):
            return None
        x = values[n.index]
        out[n.index] = mpmath.mpf(float(x)) if n.op == "sign" else bool(x)
    return out


def _points(element: Any, roots: Sequence[Node], suspects: list[Node]) -> Iterator[Point]:
    """Points of doubles: hard ones by themselves, several of them, and about equal sides."""
    names = sorted(names_in(roots) | element.rule_symbols())
    points = Points([element.known(x) for x in names], element.domains, [])
    random = Random(97)
    own = sorted(names_in(suspects))
    for name in own[:MOST]:
        for x in HARD:
            for y in (x, -x):
                yield from _inside(points, {**points.draw(random, 0.0), name: Fraction(y)})
    for _ in range(RANDOM):
        point = points.draw(random, 0.0)
        chosen = {n: Fraction(random.choice(HARD)) for n in names if random.random() < 0.4}
        yield from _inside(points, {**point, **chosen})
    for n in suspects[:MOST]:
        for name in sorted(names_in([n]))[:FEW]:
            for start in (0.4, -2.5):
                for near in _equal_sides(n, name, points.draw(random, 0.0), start):
                    yield from _inside(points, {**points.draw(random, 0.0), **near})


def _inside(points: Points, point: Point) -> Iterator[Point]:
    """The point in doubles, where it is in the domains."""
    rounded = {
        k: v if points.ranges[points.by_name[k]].integer else Fraction(float(v))
        for k, v in point.items()
    }
    if all(contains(points.ranges[s], rounded[s.name]) for s in points.symbols):
        yield rounded


def _equal_sides(n: Node, name: str, base: Point, start: float) -> Iterator[Point]:
    """Doubles about one at which the two sides are equal, by the secant rule in one symbol."""
    base = {k: Fraction(float(v)) for k, v in base.items() if k in names_in([n])}
    with mp.workdps(DIGITS):

        def gap(x: Any) -> Any:
            point = {k: mpmath.mpf(v.numerator) / v.denominator for k, v in base.items()}
            values = in_digits(n.args, {**point, name: x})
            sides = [values[a.index] for a in n.args]
            if any(map(missing, sides)):
                raise ValueError
            return sides[0] - sides[1] if len(sides) == 2 else sides[0]

        a, b = mpmath.mpf(start), mpmath.mpf(start) * 3 / 2
        try:
            for _ in range(TURNS):
                fa, fb = gap(a), gap(b)
                if fb == 0 or fb == fa:
                    break
                a, b = b, b - fb * (b - a) / (fb - fa)
            x = float(b)
        except (ValueError, OverflowError, ZeroDivisionError, TypeError):
            return
    for toward in (math.inf, -math.inf):
        y = x
        for _ in range(STEPS + 1):
            if math.isfinite(y):
                yield {**base, name: Fraction(y)}
            y = math.nextafter(y, toward)
