"""Entries written out: against exact linear algebra, with known entries, and refused."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from random import Random
from typing import Any

import pytest
import sympy as sp

from blrgen.algebra.ranks import T, mat, scalar, symmat, trace, vec
from blrgen.decide.field import Rows, invert, multiply, transpose
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as axes
from blrgen.program.axes.check import check
from blrgen.program.axes.congruent import congruent
from blrgen.program.axes.pivots import Pivoted, pivoted
from blrgen.program.axes.written_out import Known
from blrgen.program.part import Part
from blrgen.program.program import Program, Variable
from blrgen.program.types import SCALAR, matrix, symmetric, vector
from tests.program.small import of_symbols

pytestmark = pytest.mark.core

A, B, F, P, Q, S = (*map(mat, "ABF"), *map(symmat, "PQS"))
g, m, a = vec("g"), vec("m"), scalar("a")


def program(d: int, *body: tuple[str, Any], writes: tuple[str, ...], known: str = "") -> Part:
    """Symmetric S, P, Q, definite where `known`; matrices A, B, F; vectors m, g; a number a."""
    kinds = dict.fromkeys("SPQ", symmetric(str(d))) | dict.fromkeys("ABF", matrix(str(d), str(d)))
    kinds |= dict.fromkeys("mg", vector(str(d))) | {"a": SCALAR}
    variables = tuple(
        Variable(x, "state", t, domain="SPD" if x in known else "") for x, t in kinds.items()
    )
    pairs = tuple((x.removesuffix("_next"), x) for x in writes)
    return of_symbols(Program(variables), *body, writes=pairs)


def unrolled(p: Part, known: Known | None = None) -> Pivoted:
    """Its equations over axes, every entry by itself."""
    over = congruent(p.returning([local for _, local in p.writes]))
    check(over)
    return pivoted(over, {x.size for x in over.letters if isinstance(x.size, int)}, known)


def loads(u: Pivoted) -> list[axes.Let]:
    """The equations that read an entry of an array."""
    return [s for s in u.program.lets if isinstance(s.expr, axes.Ref) and s.expr.index]


def computed(u: Pivoted) -> list[axes.Let]:
    """All others."""
    return [s for s in u.program.lets if s not in loads(u)]


def stores(u: Pivoted) -> list[tuple[str, tuple[int, ...], n.Node]]:
    """Result, place, value."""
    return [
        (x.name, tuple(i.value for i in at if isinstance(i, axes.Num)), e)
        for x in u.program.assembled for at, e in x.entries
    ]  # fmt: skip


def run(u: Pivoted, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Fraction]]:
    """What is stored, and every pivot, in exact arithmetic."""
    env: dict[str, Any] = dict(given)
    for s in u.program.lets:
        assert s.name not in env
        env[s.name] = value(s.expr, env)
    stored = {f"{array}{list(place)}": value(e, env) for array, place, e in stores(u)}
    return stored, {name: env[name] for name in u.pivots}


def value(e: n.Node, env: Mapping[str, Fraction]) -> Fraction:
    match e:
        case n.Const(x):
            return x
        case axes.Ref(name, index):
            found: Any = env[name]
            for i in index:
                assert isinstance(i, axes.Num)
                found = found[i.value]
            return Fraction(found[0] if isinstance(found, tuple) else found)
        case n.Add(args):
            return sum((value(x, env) for x in args), start=Fraction(0))
        case n.Sub(left, right):
            return value(left, env) - value(right, env)
        case n.Neg(x):
            return -value(x, env)
        case n.Div(top, bottom):
            return value(top, env) / value(bottom, env)
        case n.Mul(args):
            out = Fraction(1)
            for x in args:
                out *= value(x, env)
            return out
    raise AssertionError(type(e).__name__)


def numbers(random: Random, d: int, columns: int) -> Rows:
    draw = [[Fraction(random.randint(-9, 9), 4) for _ in range(columns)] for _ in range(d)]
    return tuple(map(tuple, draw))


def definite(random: Random, d: int) -> Rows:
    rows = numbers(random, d, d)
    eye = [[Fraction(int(i == j)) for j in range(d)] for i in range(d)]
    product = multiply(rows, transpose(rows))
    return tuple(
        tuple(x + e for x, e in zip(r, s, strict=True)) for r, s in zip(product, eye, strict=True)
    )


@pytest.mark.parametrize("d", range(1, 9))
def test_a_solution_is_exact_and_every_pivot_is_there(d: int) -> None:
    random = Random(d)
    p = program(
        d, ("m_next", m - a * S**-1 * g),
        writes=("m_next",), known="S",
    )  # fmt: skip
    given = {"S": definite(random, d), "g": numbers(random, d, 1), "m": numbers(random, d, 1)}
    u = unrolled(p)
    stored, pivots = run(u, given | {"a": Fraction(3, 7)})
    x = multiply(invert(given["S"])[0], given["g"])
    for i in range(d):
        assert stored[f"m_next[{i}]"] == given["m"][i][0] - Fraction(3, 7) * x[i][0]
    assert len(pivots) == d and all(v > 0 for v in pivots.values())
    product = Fraction(1)
    for v in pivots.values():
        product *= v
    assert product == invert(given["S"])[1]


@pytest.mark.parametrize(("name", "expr"), [
    ("A S⁻¹ B", A * S**-1 * B),
    ("A S⁻¹", A * S**-1),
    ("symmetrised", A * B),
    ("Aᵀ + trace", T(A) + trace(B)),
    ("outer", trace(T(m) * g) * m * T(g)),
    ("quotient", (A + B) / a),
])  # fmt: skip
def test_every_other_word(name: str, expr: Any) -> None:
    random = Random(4)
    state = "P" if name == "symmetrised" else "A"
    p = program(3, (f"{state}_next", expr), writes=(f"{state}_next",), known="S")
    given = {x: numbers(random, 3, 3) for x in "AB"} | {x: numbers(random, 3, 1) for x in "mg"}
    given |= {"S": definite(random, 3)}
    stored, _ = run(unrolled(p), given | {"a": Fraction(5, 3)})
    at, bt = given["A"], given["B"]
    dot = sum(x[0] * y[0] for x, y in zip(given["m"], given["g"], strict=True))
    product = multiply(at, bt)
    whole = {
        "A S⁻¹ B": multiply(multiply(at, invert(given["S"])[0]), bt),
        "A S⁻¹": multiply(at, invert(given["S"])[0]),
        "symmetrised": [[(product[i][j] + product[j][i]) / 2 for j in range(3)] for i in range(3)],
        "Aᵀ + trace": [
            [at[j][i] + (i == j) * sum(bt[k][k] for k in range(3)) for j in range(3)]
            for i in range(3)
        ],
        "outer": [[dot * given["m"][i][0] * given["g"][j][0] for j in range(3)] for i in range(3)],
        "quotient": [[(at[i][j] + bt[i][j]) * Fraction(3, 5) for j in range(3)] for i in range(3)],
    }[name]
    for i in range(3):
        for j in range(3):
            assert stored[f"{state}_next[{i}, {j}]"] == whole[i][j]


def test_a_square_needs_no_roots() -> None:
    """Zᵀ Z with Z = L⁻¹ X is Xᵀ A⁻¹ X."""
    random = Random(6)
    p = program(
        3, 
        ("P_next", T(A) * S**-1 * A), writes=("P_next",), known="S",
    )  # fmt: skip
    given = {"S": definite(random, 3), "A": numbers(random, 3, 3)}
    stored, _ = run(unrolled(p), given)
    wanted = multiply(transpose(given["A"]), multiply(invert(given["S"])[0], given["A"]))
    assert all(stored[f"P_next[{i}, {j}]"] == wanted[i][j] for i in range(3) for j in range(3))


def test_what_is_symmetric_is_computed_once() -> None:
    u = unrolled(program(4, ("S_next", a * S - P), writes=("S_next",)))
    assert len(computed(u)) == 10 and len(stores(u)) == 16 and len(loads(u)) == 20
    places = {place: e for _, place, e in stores(u)}
    assert all(places[i, j] == places[j, i] for i in range(4) for j in range(4))


def test_known_zeros_and_ones_cost_nothing() -> None:
    """Constant velocity, two positions: F P Fᵀ + Q for the filter, then one measurement."""
    p = program(4, ("P_next", F * P * T(F) + Q), writes=("P_next",))
    rows = tuple(tuple(Fraction(int(i == j or j == i + 2)) for j in range(4)) for i in range(4))
    zero = tuple(tuple(Fraction(int(i == j > 1)) for j in range(4)) for i in range(4))
    u = unrolled(p, {"F": rows, "Q": zero})
    products = [x for s in u.program.lets for x in n.walk(s.expr) if isinstance(x, n.Mul)]
    assert all(isinstance(x.args[0], n.Const) for x in products)
    assert {s.expr.names[0] for s in loads(u)} == {"P"}
    given = {"P": definite(Random(1), 4)}
    stored, _ = run(u, given)
    wanted = multiply(multiply(rows, given["P"]), transpose(rows))
    for i in range(4):
        for j in range(4):
            assert stored[f"P_next[{i}, {j}]"] == wanted[i][j] + zero[i][j]


def test_a_diagonal_matrix_is_solved_by_divisions() -> None:
    p = program(
        4, ("m_next", S**-1 * g), writes=("m_next",), known="S"
    )  # fmt: skip
    known = tuple(tuple(Fraction((i + 2) * (i == j)) for j in range(4)) for i in range(4))
    u = unrolled(p, {"S": known})
    assert not u.pivots and len(computed(u)) == 4
    stored, _ = run(u, {"g": tuple((Fraction(k),) for k in range(4))})
    assert [stored[f"m_next[{k}]"] for k in range(4)] == [Fraction(k, k + 2) for k in range(4)]


@pytest.mark.parametrize("bad", [0, -1])
def test_a_known_matrix_that_is_not_definite_is_refused(bad: int) -> None:
    p = program(2, ("m_next", S**-1 * g), writes=("m_next",), known="S")
    known = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(bad)))
    with pytest.raises(UserError, match="not positive definite"):
        unrolled(p, {"S": known})


@pytest.mark.parametrize("expr", [S**-1 * g, sp.exp(a) * g])
def test_what_needs_more_than_entries_is_refused(expr: Any) -> None:
    with pytest.raises(UserError, match="cannot be written out"):
        unrolled(program(2, ("m_next", expr), writes=("m_next",)))
