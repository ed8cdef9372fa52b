"""Symbols of what assignments make."""

from __future__ import annotations

import pytest
import sympy as sp

from blrgen.algebra.components import Component
from blrgen.algebra.ranks import symmat, vec
from blrgen.core import Quantity, Rule
from blrgen.rule.results import is_matrix_result, symbol_of_result

pytestmark = pytest.mark.core

d = sp.Symbol("d", integer=True, positive=True)
RULE = Rule(
    (
        Quantity("S", "state", "symmetric", symmat("S", d)),
        Quantity("m", "state", "vector", vec("m", d)),
        Quantity("eta", "state", "elementwise", Component("eta", d)),
        Quantity("v", "state", "scalar", sp.Symbol("v", positive=True)),
    ),
    (),
)


@pytest.mark.parametrize("name", ["S", "m", "eta", "v"])
def test_a_next_value_is_of_the_kind_of_its_state(name: str) -> None:
    own, after = RULE[name].symbol, symbol_of_result(RULE, f"{name}_next")
    assert type(after) is type(own) and after.name == f"{name}_next"
    assert getattr(after, "shape", None) == getattr(own, "shape", None)
    assert after.is_positive == own.is_positive and after.is_commutative == own.is_commutative
    assert symbol_of_result(RULE, name) == own


def test_what_nothing_declares_is_a_number() -> None:
    assert symbol_of_result(RULE, "det") == sp.Symbol("det", real=True)


def test_a_number_for_a_matrix_is_a_multiple_of_the_identity() -> None:
    made = [x for x in ("S", "S_next", "m", "eta_next", "det") if is_matrix_result(RULE, x)]
    assert made == ["S", "S_next"]
