"""Matrices that are made entry by entry: which there are, their parts, what is read with them."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import check
from blrgen.program.axes.formed import Formed, formed, turned_product
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program, shown

STATES = {"Sn": "S"}
SUM = "Sn[i,j]: spd = r * H[i,j] + c * S[i,j] + [i == j]"
FACTOR = "L[i,j] = chol(Sn[i,j])"
STEP = "y[i] = m[i] - r * solve(Sn[i,k], g[i])"


def made(*body: str, outs: str = "Sn, y") -> a.Program:
    given = "S[d,d] spd, H[d,d] sym, X[N,d], m[d], g[d], b[N], r, c"
    return program("i,j,k:d, n:N", given, "\n".join(body), outs)


def found(*body: str, outs: str = "Sn, y", states: dict[str, str] | None = None) -> Formed:
    one = formed(made(*body, outs=outs), STATES if states is None else states, ("X", "b"))
    assert one is not None
    check(one.program)
    return one


def test_one_solution_with_a_vector() -> None:
    one = found(SUM, FACTOR, STEP)
    assert (one.name, one.state, one.factor) == ("Sn", "S", "L")
    assert one.leaves == ("H", "S") and one.scalars == ("r", "c")
    assert one.solved and one.has_identity and not one.known and not one.products


@pytest.mark.parametrize(
    ("body", "states"),
    [
        ((SUM, STEP), STATES),  # nothing says that it is definite
        ((SUM, FACTOR, STEP), {}),  # it is the next value of no array of its own
        ((SUM, FACTOR, STEP, "z[i] = solve(Sn[i,k], m[i])"), STATES),  # two solutions
        ((SUM, FACTOR, "y[i] = lsolve(L[i,k], g[i])"), STATES),  # its factor is read
        ((SUM, FACTOR, STEP, "z[i] = sum(k, Sn[i,k] * g[k])"), STATES),  # it is read itself
        ((SUM, FACTOR, "y[i,j] = solve(Sn[i,k], H[i,j])"), STATES),  # of many right sides
        (("Sn[i,j]: spd = H[i,j]", FACTOR, "y[i] = g[i]"), STATES),  # it is there already
    ],
)
def test_others_are_not_made_so(body: tuple[str, ...], states: dict[str, str]) -> None:
    assert formed(made(*body), states) is None


def test_a_copy_is_made_where_something_is_solved_with_it() -> None:
    assert found("Sn[i,j]: spd = H[i,j]", FACTOR, STEP).leaves == ("H",)


def test_parts_that_are_not_entry_by_entry_have_names() -> None:
    """A product of vectors, a sum, numbers that are made of whole arrays."""
    whole = (
        "Sn[i,j]: spd = r * (g[i] * g[j]) + sum(n, X[n,i] * X[n,j]) + sum(k, g[k] * m[k]) * S[i,j]"
    )
    one = found(whole, FACTOR, STEP)
    assert [shown(s) for s in one.program.lets[:4]] == [
        "part[i,j] = g[i] * g[j]",
        "product[i,j] = sum(n, X[n,i] * X[n,j])",
        "number = sum(k, g[k] * m[k])",
        "Sn[i,j]: spd = r * part[i,j] + product[i,j] + number * S[i,j]",
    ]
    assert one.leaves == ("part", "product", "S") and one.scalars == ("r", "number")


def test_a_matrix_read_across_the_diagonal_is_a_part() -> None:
    one = found("Sn[i,j]: spd = S[i,j] + H[j,i]", FACTOR, STEP)
    assert shown(one.program.lets[0]) == "part[i,j] = H[j,i]" and one.leaves == ("S", "part")


def test_products_with_one_array_of_rows_come_first() -> None:
    one = found(
        "Sn[i,j]: spd = sum(n, X[n,i] * X[n,j]) + c * S[i,j]", FACTOR,
        "z[i] = sum(n, X[n,i] * b[n])", "y[i] = m[i] - solve(Sn[i,k], z[i])",
    )  # fmt: skip
    assert one.products == ("product", "z")
    assert [s.name for s in one.program.lets] == ["product", "z", "Sn", "L", "y"]
    assert [turned_product(s.expr) for s in one.program.lets[:2]] == [("X", "X"), ("X", "b")]


def test_the_old_factor_is_known_where_only_a_look_is_taken() -> None:
    old = "F[i,j] = chol(S[i,j])"
    solved = "y[i] = m[i] - r * solve(S[i,k], g[i])"
    assert found(old, solved, SUM, FACTOR).known == "F"
    assert found(old, "y[i] = lsolve(F[i,k], g[i])", SUM, FACTOR).known == "F"
    assert found(old, "y[i] = sum(k, F[i,k] * g[k])", SUM, FACTOR).known == ""


def test_it_means_the_same() -> None:
    whole = "Sn[i,j]: spd = r * (g[i] * g[j]) + sum(n, X[n,i] * X[n,j]) + c * S[i,j]"
    rng = np.random.default_rng(3)
    plain = made(whole, FACTOR, STEP)
    values = {q.name: rng.uniform(0.5, 1.5, [{"d": 3, "N": 5}[str(x)] for x in q.sizes])
              for q in plain.given}  # fmt: skip
    values["S"] = np.eye(3) + np.ones((3, 3))
    wanted, got = (interpret(p, values) for p in (plain, found(whole, FACTOR, STEP).program))
    for x in ("Sn", "y"):
        np.testing.assert_allclose(got[x], wanted[x], rtol=1e-13)
