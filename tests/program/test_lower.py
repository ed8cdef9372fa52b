"""SymPy expressions to nodes, one class after the other."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from blrgen.algebra.ranks import T, mat, positive, scalar, symmat, trace, vec
from blrgen.core import Assignment, Quantity, Rule
from blrgen.errors import InternalError, UserError
from blrgen.program.axes.text import shown
from blrgen.program.axes.text import text as entry_text
from blrgen.program.inspect import text
from blrgen.program.lower import Reader, lower, written
from blrgen.program.lowering import Lowering
from blrgen.program.types import ENTRIES, SCALAR, matrix, symmetric, vector

pytestmark = pytest.mark.core

x, y = scalar("x"), scalar("y")
a, b = positive("a"), positive("b")
m, g, S, H, X = vec("m"), vec("g"), symmat("S"), symmat("H"), mat("X")
TYPES = {
    "x": ENTRIES, "y": ENTRIES, "a": SCALAR, "b": SCALAR, "t": SCALAR, "m": vector(),
    "g": vector(), "S": symmetric(), "H": symmetric(), "X": matrix("n", "d"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        (x - a * y, "x - a * y"),
        ((1 - a) * x + a * y, "a * y + (1 - a) * x"),
        (x / 3, "x / 3"),
        (x / 4, "1/4 * x"),
        (sp.Rational(2, 3) * x, "2 * x / 3"),
        (-x, "-x"),
        (x**2 / (2 * a), "x**2 / (2 * a)"),
        (sp.sqrt(x) / a, "sqrt(x) / a"),
        (x ** sp.Rational(3, 2), "x * sqrt(x)"),
        (sp.sqrt(1 / (1 - a)), "1 / sqrt(1 - a)"),
        (a ** sp.Symbol("t", integer=True, positive=True), "a**t"),
        (sp.exp(-x), "exp(-x)"),
        (sp.Max(-a, sp.Min(a, x)), "max(-a, min(a, x))"),
        (sp.Piecewise((x, x > 0), (a, True)), "select(x > 0, x, a)"),
        (sp.Abs(x) + sp.sign(y), "abs(x) + sign(y)"),
        (sp.pi * x, "pi * x"),
    ],
)
def test_expressions(expr: Any, wanted: str) -> None:
    assert text(Lowering(dict(TYPES)).lower(expr)) == wanted


@pytest.mark.parametrize(
    ("expr", "wanted"),
    [
        (S**-1 * g, "solve(S[i,j], g[i])"),
        (m - a * S**-1 * g, "m[i] - a * solve(S[i,j], g[i])"),
        ((1 - a) * S + a * H, "a * H[i,j] + (1 - a) * S[i,j]"),
        (a + T(X) * X, "sum(k, X[k,i] * X[k,j]) + a * [i == j]"),
        (g * T(g), "g[i] * g[j]"),
        (S * m * T(g), "sum(k, S[i,k] * m[k]) * g[j]"),
        (trace(T(g) * S * m), "sum(i, g[i] * sum(j, S[i,j] * m[j]))"),
        (S**2 * m, "sum(j, S[i,j] * sum(k, S[j,k] * m[k]))"),
    ],
)
def test_words_at_letters_of_their_own(expr: Any, wanted: str) -> None:
    reading = Lowering(dict(TYPES))
    assert entry_text(reading.lower(expr)) == wanted and not reading.inner


def test_what_needs_a_name_has_an_equation() -> None:
    reading = Lowering(dict(TYPES))
    found = reading.lower((H - S) * S**-1 * (H - S) + S**-1)
    assert entry_text(found) == (
        "solve(S[i,k], identity[i,j]) + sum(k, (H[i,k] - S[i,k]) * solve(S[k,l], part[k,j]))"
    )
    assert [shown(s) for s in reading.inner] == [
        "identity[i,j] = [i == j]", "part[i,j] = H[i,j] - S[i,j]",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        (sp.zeta(x), "no target can compute zeta in zeta(x)"),
        (sp.Function("f")(x), "no target can compute f"),
        (scalar("nowhere"), "unknown name nowhere"),
        (symmat("nowhere") * g, "unknown name nowhere"),
        (sp.Piecewise((x, x > 0), (y, x < -1)), "has no value where"),
    ],
)
def test_what_cannot_be_computed_is_named(expr: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        Lowering(TYPES).lower(expr, where="in the assignment to x_next")
    assert message in str(caught.value) and "in the assignment to x_next" in str(caught.value)


def rule(*assignments: Assignment, **changes: Any) -> Rule:
    states = (Quantity("x", "state", changes.get("rank", "elementwise"), x),)
    return Rule((*states, Quantity("y", "input", "elementwise", y)), assignments)


def test_a_rule_of_scalars_acts_on_every_element() -> None:
    p = lower(Rule(
        (Quantity("x", "state", "scalar", x), Quantity("a", "hyper", "scalar", a)),
        (Assignment("x_next", a * x),),
    ))  # fmt: skip
    assert p["x"].type == ENTRIES and p["a"].type == SCALAR


def test_next_values_are_written_at_the_end() -> None:
    reader = Reader(rule(Assignment("x_next", x + y)))
    assert written(reader.stage("update"), "xy") == (("x", "x_next"),)
    assert reader.program.parameter.name == "x"


@pytest.mark.parametrize("name", ["x y", "lambda", "os.system", "é", "1x", "x\n"])
def test_names_are_plain_identifiers(name: str) -> None:
    with pytest.raises(UserError, match="cannot be a name in a program"):
        lower(rule(Assignment(name, x)))


def test_broken_rules_are_internal_errors() -> None:
    with pytest.raises(InternalError, match="unknown stage"):
        lower(rule(Assignment("x_next", x, "someday")))
    with pytest.raises(InternalError, match="y is assigned, but it is already a quantity"):
        lower(rule(Assignment("y", x)))
    with pytest.raises(InternalError, match="without a state"):
        lower(Rule((), ()))


def test_many_terms_taken_off_are_one_flat_sum() -> None:
    """Differences inside one another would be as deep as the sum is long."""
    names = {f"c{k}": SCALAR for k in range(300)}
    node = Lowering(names).lower(-sp.Add(*[scalar(c) ** 2 for c in names]) + scalar("c0"))
    printed = text(node)
    assert printed.startswith("c0 - c0**2 - c1**2 - ") and "+" not in printed
    assert max(len(x.children) for x in node.children) < 3
