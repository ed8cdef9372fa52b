"""Axes and structure of expressions in symbols, and what may be assigned to what."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from blrgen.algebra.components import Component, total
from blrgen.algebra.ranks import DIM, T, mat, scalar, symmat, trace, vec
from blrgen.core import Assignment
from blrgen.errors import InternalError, UserError
from blrgen.program.lower import statement
from blrgen.program.lowering import Lowering
from blrgen.program.types import ENTRIES, SCALAR, Type, matrix, symmetric, vector

pytestmark = pytest.mark.core
SCOPE = {
    "a": SCALAR, "x": ENTRIES, "c": vector(), "m": vector(), "g": vector(), "y": vector("n"),
    "X": matrix("n", "d"), "B": matrix("d", "d"), "S": symmetric(), "H": symmetric(),
}  # fmt: skip
a, x = scalar("a"), scalar("x")
c, m, g, y = Component("c", DIM), vec("m"), vec("g"), vec("y")
X, B, S, H = mat("X"), mat("B"), symmat("S"), symmat("H")
half = sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        (a * x, ENTRIES),
        (a + x, ENTRIES),
        (sp.exp(c) / a, vector()),
        (a * total(c, DIM), SCALAR),
        (c * total(c, DIM), vector()),
        (sp.Piecewise((a, x < a), (2 * a, True)), ENTRIES),
        (S * m, vector()),
        (X * m, vector("n")),
        (T(X) * y, vector()),
        (y * T(m), matrix("n", "d")),
        (trace(T(m) * g) * g, vector()),
        (trace(S * H), SCALAR),
        (T(X) * X, symmetric()),
        (S * H, matrix("d", "d")),
        (S * H + H * S, symmetric()),
        (H * S**-1 * H, symmetric()),
        (S / a + a, symmetric()),
        (m * T(m), symmetric()),
        (m * T(g) + g * T(m), symmetric()),
        (S - H**-1, symmetric()),
        (S * B, matrix("d", "d")),
        (S**-1, matrix("d", "d")),  # solved for: symmetric up to rounding
        (2 * (S + H) ** -1, matrix("d", "d")),
        (S**-1 * T(X), matrix("d", "n")),
        (S**-half * m, vector()),
    ],
)
def test_axes_of_a_result(expr: Any, wanted: Type) -> None:
    assert Lowering(dict(SCOPE)).type_of(expr) == wanted


@pytest.mark.parametrize(
    "expr", [x + c, X * y, m * T(m) * y, S * m + y, m + S, T(X) * m, X + S, S * H * X]
)
def test_axes_that_do_not_fit(expr: Any) -> None:
    with pytest.raises(InternalError):
        Lowering(dict(SCOPE)).type_of(expr)


@pytest.mark.parametrize("expr", [trace(X), m + a])
def test_what_has_no_entry(expr: Any) -> None:
    with pytest.raises(InternalError):
        Lowering(dict(SCOPE)).lower(expr)


def test_names_that_nobody_knows() -> None:
    with pytest.raises(UserError, match="unknown name nowhere"):
        Lowering(dict(SCOPE)).type_of(symmat("nowhere") * m)


@pytest.mark.parametrize(
    ("expr", "target", "even"),
    [
        (a, ENTRIES, False), (a, symmetric(), False), (sp.S.Zero, vector(), False),
        (S, matrix("d", "d"), False), (B, symmetric(), True), (S**-1, symmetric(), True),
        (T(B) * B, symmetric(), False), (m, vector(), False),
    ],
)  # fmt: skip
def test_what_may_be_assigned(expr: Any, target: Type, even: bool) -> None:
    """The even part of what is not known to be symmetric is taken."""
    made = statement(Assignment("z", expr), Lowering(dict(SCOPE)), {**SCOPE, "z": target})
    assert made.type == target and made.even == even


@pytest.mark.parametrize(
    ("expr", "target"),
    [(a, vector()), (a, matrix("d", "d")), (X, symmetric()), (m, ENTRIES), (x, vector()),
     (x, SCALAR), (m, vector("n"))],
)  # fmt: skip
def test_what_may_not(expr: Any, target: Type) -> None:
    with pytest.raises(InternalError, match="z does not have the type it is assigned to") as caught:
        statement(Assignment("z", expr), Lowering(dict(SCOPE)), {**SCOPE, "z": target})
    assert f"  target type      {target}" in str(caught.value).split("\n")
