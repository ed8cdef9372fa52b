"""Normal forms: transposes, traces, determinants, inverses of words; and solving for one."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from numeric import spd, value

from blrgen.algebra.ranks import DIM, T, logdet, mat, rank_of, scalar, symmat, trace, vec
from blrgen.algebra.solve import isolate, solve_linear
from blrgen.algebra.words import collect_words, normal, split
from blrgen.errors import InternalError, UserError

pytestmark = pytest.mark.core

A, B, S, P = mat("A"), mat("B"), symmat("S"), symmat("P")
a, b = vec("a"), vec("b")
c, k = scalar("c"), sp.Symbol("k", positive=True)


def test_transpose_goes_to_the_symbols() -> None:
    assert T(A * B) == T(B) * T(A)
    assert T(T(A)) == A
    assert T(S) == S
    assert T(c * A + S * B) == c * T(A) + T(B) * S
    assert T(A**-1) == T(A) ** -1
    assert T(c) == c


def test_trace_is_cyclic_linear_and_blind_to_the_transpose() -> None:
    assert trace(A * B * S) == trace(B * S * A) == trace(S * A * B)
    assert trace(A * B) == trace(T(B) * T(A))
    assert trace(2 * A + c * B) == 2 * trace(A) + c * trace(B)
    assert trace(c) == c * DIM
    assert trace(T(a) * S * b) == trace(T(b) * S * a) == trace(S * b * T(a))
    assert trace(A * B) != trace(A * T(B))
    assert trace(A).is_commutative


def test_logdet_takes_out_scalars_and_inverses() -> None:
    assert logdet(k * S) == DIM * sp.log(k) + logdet(S)
    assert logdet(-2 * S) == DIM * sp.log(2) + logdet(-S)
    assert logdet(S**-1) == -logdet(S)
    assert logdet(k) == DIM * sp.log(k)


def test_inverses_of_products_and_of_inverses() -> None:
    assert normal((2 * S * P) ** -1) == P**-1 * S**-1 / 2
    assert normal((S**-1) ** -1) == S
    assert normal((S**-1) ** -1 * S**-1 * a) == a
    assert normal((-S / 2) ** -1) == -2 * S**-1


def test_words() -> None:
    assert split(3 * c * A * B) == (3 * c, (A, B))
    assert split(S**2 * a) == (1, (S, S, a))
    assert collect_words(2 * A * B + c * A * B - S) == {(A, B): 2 + c, (S,): -1}
    assert collect_words(A * B - A * B) == {}


@pytest.mark.parametrize(
    ("x", "rank"),
    [
        (c, "scalar"), (a, "vector"), (T(a), "row"), (S, "symmetric"), (A, "matrix"),
        (A * b, "vector"), (T(a) * S, "row"), (a * T(b), "matrix"), (a * T(a), "symmetric"),
        (S + c, "symmetric"), (A + S, "matrix"), (S**-1, "symmetric"), (A * S * T(A), "symmetric"),
        (S * P, "matrix"), (T(a) * b, "scalar"),
    ],
)  # fmt: skip
def test_ranks(x: sp.Expr, rank: str) -> None:
    assert rank_of(x) == rank


def test_ranks_that_do_not_add_up() -> None:
    with pytest.raises(UserError, match="no rank"):
        rank_of(a + T(a))


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_isolate_and_solve_linear(d: int) -> None:
    """A X B = C solved as words; checked as numbers."""
    rng = np.random.default_rng(d)
    x, y = symmat("X"), vec("y")
    env = {"S": spd(rng, d), "P": spd(rng, d), "A": rng.standard_normal((d, d)),
           "a": rng.standard_normal((d, 1)), "b": rng.standard_normal((d, 1)),
           "c": 0.3}  # fmt: skip
    found = isolate(2 * S * x * P - A + c * S, x)
    got = value(found, env)
    np.testing.assert_allclose(
        2 * env["S"] @ got @ env["P"], env["A"] - 0.3 * env["S"], rtol=1e-9, atol=1e-10
    )
    solved = solve_linear([S * y + x * a - b, P * x * P - S], [x, y])
    full = env | {"X": value(solved[x], env)}
    np.testing.assert_allclose(env["P"] @ full["X"] @ env["P"], env["S"], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(
        env["S"] @ value(solved[y], env) + full["X"] @ env["a"], env["b"], rtol=1e-8, atol=1e-9
    )


def test_what_cannot_be_solved_raises() -> None:
    x = symmat("X")
    with pytest.raises(InternalError, match="several words"):
        isolate(S * x + x * S - P, x)
    with pytest.raises(InternalError, match="does not occur"):
        isolate(S - P, x)
    with pytest.raises(InternalError, match="not linear"):
        isolate(c**2 - k, c)
    y = symmat("Y")
    with pytest.raises(InternalError, match="can be isolated"):
        solve_linear([S * x + y, x - P * y * P], [x, y])


def test_commuting_systems() -> None:
    p, q = sp.symbols("p q")
    found = solve_linear([2 * p + k * q - 1, p - q], [p, q])
    assert sp.cancel(found[p] - 1 / (2 + k)) == 0
    assert sp.cancel(found[q] - 1 / (2 + k)) == 0


def test_large_systems_are_solved_without_looking_for_factors() -> None:
    """The same numbers, whether or not lowest terms are looked for."""
    p, q, z = sp.symbols("p q z")
    entries = [sp.log(1 + sum(sp.exp(i * z * j) for j in range(1, 9))) for i in range(1, 5)]
    m = [entries[0] * p + entries[1] * q - z, entries[2] * p - entries[3] * q - 1]
    found = solve_linear(m, [p, q])
    at = {z: 0.3}
    number = np.array([[float(e.subs(at)) for e in entries[:2]],
                       [float(entries[2].subs(at)), -float(entries[3].subs(at))]])  # fmt: skip
    np.testing.assert_allclose(
        [float(found[p].subs(at)), float(found[q].subs(at))], np.linalg.solve(number, [0.3, 1.0])
    )
