"""Inverses and determinants over every kind of number that the prover computes with."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from blrgen.algebra.ranks import symmat, vec
from blrgen.decide.equal import equal
from blrgen.decide.field import Mod, determinant, identity, invert, multiply
from blrgen.decide.matrices import Model
from blrgen.decide.modular import NoModel

pytestmark = pytest.mark.core

ROWS = ((2, 1, 0), (1, 3, 1), (0, 1, 4))


@pytest.mark.parametrize("kind", [int, Fraction, mpmath.mpf, Mod], ids=lambda x: x.__name__)
def test_an_inverse_over(kind: Callable[[int], Any]) -> None:
    rows = tuple(tuple(map(kind, r)) for r in ROWS)
    inverse, found = invert(rows)
    assert found == determinant(rows) == kind(18)
    near = 1e-14 if kind is mpmath.mpf else 0
    for row, one in zip(multiply(rows, inverse), identity(3), strict=True):
        assert all(x == y or abs(x - y) <= near for x, y in zip(row, one, strict=True))


def test_what_has_an_inverse_in_it_is_refuted() -> None:
    S, v = symmat("S"), vec("v")
    proof = equal(S**-1 * v, 2 * S**-1 * v, {S: "SPD"}, claim="halves")
    assert proof.level == "refuted", proof


def test_a_product_of_ranks_that_do_not_fit_has_no_value() -> None:
    S, v = symmat("S"), vec("v")
    values = {S: identity(2, Mod(3)), v: ((Mod(5),), (Mod(7),))}
    model = Model(2, lambda e, _: Mod(int(e)), values.__getitem__, lambda x: x)
    assert model.rows(S * v) == ((Mod(15),), (Mod(21),))
    with pytest.raises(NoModel, match="do not fit"):
        model.rows(v * S)
