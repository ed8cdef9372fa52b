"""Values of expressions: what is passed over because arrays are 0 there changes nothing."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from blrgen.algebra.indexed.build import add, multiplied, power, summed, symbol
from blrgen.algebra.indexed.values import Index, Symbol
from blrgen.decide.tower_kind import TOWERS
from blrgen.value.indexed import Values
from blrgen.value.kinds import DOUBLES

A, X = Symbol("a"), Symbol("x")
I1, J = Index("d", "i"), Index("d", "j")
BEFORE = Index("d", "i", -1)
SQUARE = summed(summed(multiplied(symbol(X, I1), symbol(A, I1), symbol(X, J), symbol(A, J)), I1), J)
FORMS = {
    "a quadratic form": SQUARE,
    "a square": summed(multiplied(symbol(A, I1), power(symbol(X, I1), 2)), I1),
    "one more": add(SQUARE, summed(symbol(A, I1), I1)),
    "a root of it": power(add(power(SQUARE, 2), summed(power(symbol(A, I1), 2), I1)),
                          Fraction(1, 2)),
}  # fmt: skip


@pytest.mark.parametrize("kind", [DOUBLES, TOWERS], ids=["doubles", "towers"])
@pytest.mark.parametrize("name", FORMS)
def test_zeros_of_what_is_put_in_later_are_passed_over(name, kind):
    e, a = FORMS[name], np.array([3, 5, 2])
    for x in product((0, 1, -2), repeat=3):
        known = Values({"a": a, "x": np.array(x)}, {"d": 3}, kind)
        later = Values({"a": a}, {"d": 3}, kind).also({"x": np.array(x)})
        assert later.of(e) == known.of(e)
        square = (a @ np.array(x)) ** 2
        if name == "a quadratic form":
            assert later.of(e) == kind.number(int(square))
        if name == "one more":
            assert later.of(e) == kind.number(int(square + a.sum()))


def test_places_before_are_counted_from_where_they_are():
    e = summed(multiplied(symbol(A, I1), symbol(X, BEFORE)), I1, 1, 0)
    for x in ((0, 0, 0), (1, 0, 0), (0, 7, 0), (0, 0, 4), (1, 2, 3)):
        found = Values({"a": np.array([3, 5, 2])}, {"d": 3}).also({"x": np.array(x)}).of(e)
        assert found == 5 * x[0] + 2 * x[1]
