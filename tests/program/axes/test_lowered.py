"""Every recipe with matrices in equations with indices: it means what the emitted file does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from blrgen import derive
from blrgen.algebra.components import Component, total
from blrgen.algebra.ranks import DIM, T, mat, symmat, trace, vec
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.program import nodes as n
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.lowered import Statement, over_axes
from blrgen.program.axes.nodes import ref
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import shown
from blrgen.program.lower import Reader
from blrgen.program.lowering import Lowering
from blrgen.program.program import Program, Variable
from blrgen.program.sizes import Count
from blrgen.program.types import EACH, ENTRIES, SCALAR, Type, matrix, symmetric, vector
from tests.emit.tree.running import near, plain
from tests.program.small import equations, of_symbols
from tests.shipped import recipes

SIZE, ROWS = 4, 7
R = np.random.default_rng(12)


def made_input(kind: Type) -> np.ndarray:
    """Random numbers of a type; symmetric ones are positive definite."""
    sizes = {"d": SIZE, "n": ROWS}
    value = R.standard_normal([sizes[x] for x in kind.shape])
    return value @ value.T + np.eye(SIZE) if kind.is_symmetric else value


@pytest.mark.parametrize("name", recipes(matrices=True))
def test_a_recipe_with_matrices_is_its_emitted_step(name: str) -> None:
    derivation = derive(name)
    reader = Reader(derivation.rule)
    program = reader.program
    assert not program.axes <= {EACH}
    made = over_axes(reader.lowering, reader.statements(program.scope, reader.stage("update")))
    check(made)
    params = R.standard_normal(SIZE)
    opt = compile_class(emit(derivation, "numpy"))(params)
    env: dict[str, Any] = {v.name: float(getattr(opt, v.name)) for v in program.of("hyper")}
    env |= {"m": params.copy(), "S": np.eye(SIZE)}
    for t in range(1, 5):
        inputs = {v.name: made_input(v.type) for v in program.of("input", "data")}
        env |= {**inputs, "t": float(t)}
        given = {q.name: env[q.name] for q in made.given}
        found = interpret(made, given)
        near(plain(scheduled(made), given), found)
        opt.step(*inputs.values())
        env |= {x: found[f"{x}_next"] for x in ("m", "S")}
        np.testing.assert_allclose(params, env["m"], rtol=1e-11, atol=1e-12)


A, B, X, S, H, x, m = mat("A"), mat("B"), mat("X"), symmat("S"), symmat("H"), vec("x"), vec("m")


def test_words_become_sums() -> None:
    """Words at the entry i, j of a matrix."""
    types = {"A": matrix("d", "d"), "B": matrix("d", "d"), "S": symmetric(), "x": vector()}
    wanted = {
        A * B: "sum(k, A[i,k] * B[k,j])",
        S * T(A): "sum(k, S[i,k] * A[j,k])",
        x * T(x): "x[i] * x[j]",
        3 * x * T(x): "3 * (x[i] * x[j])",
        B - 1: "B[i,j] - [i == j]",
        A * S * B: "sum(k, A[i,k] * sum(l, S[k,l] * B[l,j]))",
        trace(A * B) * S: "sum(k, part[k,k]) * S[i,j]",
        S**-1 * B: "solve(S[i,k], B[i,j])",
        A * S**-1: "solve(S[j,k], A[i,j])",
        B * S**-1 * A: "sum(k, B[i,k] * solve(S[k,l], A[k,j]))",
        B * S**-1 * T(A): "sum(k, B[i,k] * solve(S[k,l], A[j,k]))",
    }
    for e, line in wanted.items():
        made = equations(types, ("y", e))
        check(made)
        assert shown(made.body[-1]).partition(" = ")[2] == line
        values = {q.name: made_input(types[q.name]) for q in made.given}
        as_numbers = {k: np.asarray(v) for k, v in values.items()}
        np.testing.assert_allclose(
            interpret(made, values)["y"], direct(e, as_numbers), rtol=1e-11, atol=1e-11
        )


@pytest.mark.parametrize(
    "e",
    [
        A * S**-1 * H**-1, S**-1 * A * H**-1, T(A) * S**-1, S**-1 * T(A) * H**-1 * B,
        A * (S + x * T(x)) ** -1, (S + 2) ** -1 * T(A) + H**-1, S**-1 * x * T(x) * H**-1,
        T(A * S**-1 * B) * H, trace(S**-1 * A) * A * S**-2,
        A**3 - S**-2 * B,
    ],
    ids=str,
)  # fmt: skip
def test_inverses_in_words_are_solved_with(e: Any) -> None:
    types = {"A": matrix("d", "d"), "B": matrix("d", "d"), "S": symmetric(), "H": symmetric(),
             "x": vector()}  # fmt: skip
    made = equations(types, ("y", e))
    check(made)
    values = {q.name: made_input(types[q.name]) for q in made.given}
    found, wanted = interpret(made, values)["y"], direct(e, values)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    near(plain(scheduled(made), values), {"y": found})


def direct(e: Any, at: dict[str, np.ndarray]) -> Any:
    """A sum of words by its definition; a number in it is that times I."""
    if e.is_Add:
        return sum(direct(t, at) * (np.eye(SIZE) if t.is_commutative else 1) for t in e.args)
    if e.is_Mul:
        numbers, word = e.args_cnc()
        product = np.eye(SIZE)
        for factor in word:
            value = direct(factor, at)
            product = np.outer(product, value) if factor.func is T and value.ndim == 1 else (
                product @ value)  # fmt: skip
        return product * np.prod([direct(f, at) for f in numbers])
    if e.is_Pow:
        return np.linalg.matrix_power(direct(e.base, at), int(e.exp))
    if isinstance(e, trace):
        return np.trace(direct(e.args[0], at))
    if isinstance(e, T):
        return direct(e.args[0], at).T
    return at[e.name] if e.is_Symbol else float(e)


def test_an_even_part_is_taken_of_what_is_not_symmetric() -> None:
    made = equations({"B": matrix("d", "d")}, ("y", B), y=symmetric())
    check(made)
    assert shown(made.body[-1]) == "y[i,j]: sym = 1/2 * (B[i,j] + B[j,i])"


def test_roots_of_a_matrix() -> None:
    """L⁻ᵀ x and L x of S = L Lᵀ."""
    half = sp.Rational(1, 2)
    known = {"S": symmetric(), "x": vector()}
    made = equations(known, ("z", S**-half * x), ("w", S**half * x))
    check(made)
    values = {"S": made_input(symmetric()), "x": made_input(vector())}
    found, root = interpret(made, values), np.linalg.cholesky(values["S"])
    near(plain(scheduled(made), values), found)
    np.testing.assert_allclose(root.T @ found["z"], values["x"], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found["w"], root @ values["x"], rtol=1e-12)


def program(*more: Variable) -> Program:
    variables = (
        Variable("m", "state", vector()), Variable("S", "state", symmetric()),
        Variable("H", "input", symmetric()), Variable("k", "hyper", SCALAR), *more,
    )  # fmt: skip
    return Program(variables)


def test_what_must_stay_definite_is_solved_with_by_one_factor() -> None:
    """The negative of S; k is a number of the rule, and no letter."""
    gap = n.Neg(ref("S", "i", "j"))
    negative = (replace(v, gap=gap) if v.name == "S" else v for v in program().variables)
    B_turned = ("z", S**-1 * T(X))
    rule = Program((*negative, Variable("X", "input", matrix("d", "d"))))
    made = of_symbols(rule, ("y", S**-1 * m), B_turned).returning(["y", "z"])
    check(made)
    assert [shown(s) for s in made.body] == [
        "minus_S[i,j]: spd = -S[i,j]",
        "minus_S_factor[i,j]: lower = chol(minus_S[i,j])",
        "y[i] = -solve(minus_S[i,j], m[i])",
        "X_2[i,j] = X[j,i]",
        "z[i,j] = -solve(minus_S[i,l], X_2[i,j])",
    ]


def test_letters_are_no_names_of_the_program() -> None:
    """A number called k: each letter of a product of three has a name of its own."""
    k = sp.Symbol("k", real=True)
    made = of_symbols(program(), ("y", k * S * H * S)).returning(["y"])
    check(made)
    values = {"S": made_input(symmetric()), "H": made_input(symmetric()), "k": 0.5}
    wanted = 0.5 * values["S"] @ values["H"] @ values["S"]
    np.testing.assert_allclose(interpret(made, values)["y"], wanted, rtol=1e-12)


def test_a_size_that_is_counted_comes_from_an_array() -> None:
    k = sp.Symbol("k", real=True)
    rule = program(Variable("d", "size", SCALAR))
    made = of_symbols(rule, ("y", DIM * k), y=symmetric()).returning(["y"])
    check(made)
    assert [q.name for q in made.given] == ["k", "m"]
    found = interpret(made, {"k": 2.0, "m": np.zeros(3)})["y"]
    np.testing.assert_allclose(found, 6 * np.eye(3), rtol=1e-15)


def test_sums_and_counts_of_entries() -> None:
    """Entries have one axis, named apart from what the rule calls so; each sum has its letter."""
    K = sp.Symbol("K", integer=True, positive=True)
    e, d = Component("x", K), sp.Symbol("d", real=True)
    reading = Lowering({"x": ENTRIES, "d": SCALAR}, {K: Count("x", -1, "K")})
    body = (
        Statement("s", total(e**2, K), SCALAR),
        Statement("y", d * e / total(e, K), ENTRIES),
        Statement("c", K, SCALAR),
        Statement("l", sp.log(total(sp.exp(e), K) + 1), SCALAR),
    )
    made = over_axes(reading, body)
    check(made)
    assert [shown(s) for s in made.body][:2] == [
        "s = sum(i, x[i]**2)",
        "y[i] = d * x[i] / sum(j, x[j])",
    ]
    assert {x.size for x in made.letters} == {"d_2"}
    found = interpret(made, {"x": np.array([1.0, 2.0, 5.0]), "d": 2.0})
    np.testing.assert_allclose(found["y"], [0.25, 0.5, 1.25])
    assert found["c"] == 2 and found["s"] == 30
    np.testing.assert_allclose(found["l"], np.log(np.exp([1, 2, 5]).sum() + 1))
