"""Every recipe with matrices in equations with indices: it means what the emitted file does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from blrgen import derive
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.program import nodes as n
from blrgen.program import wholes as w
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.lowered import Statement, over_axes
from blrgen.program.axes.parts import part_of
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import shown
from blrgen.program.lower import Reader
from blrgen.program.program import Program, Variable
from blrgen.program.types import EACH, ENTRIES, SCALAR, Type, matrix, symmetric, vector
from tests.emit.tree.running import near, plain
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
    made = over_axes(program.scope, reader.statements(program.scope, reader.stage("update")))
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


def test_words_become_sums() -> None:
    """Each node of matrices, by its entry."""
    A, B, S, x = n.Ref("A"), n.Ref("B"), n.Ref("S"), n.Ref("x")
    wanted = {
        w.MatMul(A, B): "sum(k, A[i,k] * B[k,j])",
        w.MatMul(S, w.Transpose(A)): "sum(k, S[i,k] * A[j,k])",
        w.Outer(x, x): "x[i] * x[j]",
        w.Symmetrize(B): "1/2 * (B[i,j] + B[j,i])",
        n.Sub(B, w.Identity("d")): "B[i,j] - [i == j]",
    }
    for e, line in wanted.items():
        types = {"A": matrix("d", "d"), "B": matrix("d", "d"), "S": symmetric(), "x": vector()}
        made = over_axes(types, [Statement("y", e, matrix("d", "d"))])
        check(made)
        assert shown(made.body[-1]) == f"y[i,j] = {line}"


def test_roots_of_a_matrix() -> None:
    """L⁻ᵀ x and L x of S = L Lᵀ."""
    S, x = n.Ref("S"), n.Ref("x")
    body = tuple(
        Statement(name, node(S, x), vector())
        for name, node in (("z", w.HalfSolve), ("w", w.HalfProduct))
    )
    made = over_axes({"S": symmetric(), "x": vector()}, body)
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
    S, H = n.Ref("S"), n.Ref("H")
    body = (
        Statement("y", w.Solve(S, n.Ref("m")), vector()),
        Statement("z", w.Solve(S, w.Transpose(n.Sub(H, S))), matrix("d", "d")),
    )
    negative = (replace(v, gap=n.Neg(S)) if v.name == "S" else v for v in program().variables)
    made = part_of(Program(tuple(negative)), body).returning(["y", "z"])
    check(made)
    assert [shown(s) for s in made.body] == [
        "minus_S[i,j]: spd = -S[i,j]",
        "minus_S_factor[i,j]: lower = chol(minus_S[i,j])",
        "y[i] = -solve(minus_S[i,j], m[i])",
        "H_minus_S[i,j]: sym = H[j,i] - S[j,i]",
        "z[i,j] = -solve(minus_S[i,l], H_minus_S[i,j])",
    ]


def test_letters_are_no_names_of_the_program() -> None:
    """A number called k: each letter of a product of three has a name of its own."""
    S, H = n.Ref("S"), n.Ref("H")
    body = (Statement("y", n.Mul((n.Ref("k"), w.MatMul(S, w.MatMul(H, S)))), matrix("d", "d")),)
    made = part_of(program(), body).returning(["y"])
    check(made)
    values = {"S": made_input(symmetric()), "H": made_input(symmetric()), "k": 0.5}
    wanted = 0.5 * values["S"] @ values["H"] @ values["S"]
    np.testing.assert_allclose(interpret(made, values)["y"], wanted, rtol=1e-12)


def test_a_size_that_is_counted_comes_from_an_array() -> None:
    size = Variable("d", "size", SCALAR)
    body = (Statement("y", n.Mul((n.Ref("d"), n.Ref("k"), w.Identity("d"))), symmetric()),)
    made = part_of(program(size), body).returning(["y"])
    check(made)
    assert [q.name for q in made.given] == ["k", "m"]
    found = interpret(made, {"k": 2.0, "m": np.zeros(3)})["y"]
    np.testing.assert_allclose(found, 6 * np.eye(3), rtol=1e-15)


def test_sums_and_counts_of_entries() -> None:
    """Entries have one axis, named apart from what the rule calls so; each sum has its letter."""
    x, k = n.Ref("x"), n.Ref("d")
    body = (
        Statement("s", w.Total(n.Mul((x, x))), SCALAR),
        Statement("y", n.Div(n.Mul((k, x)), w.Total(x)), ENTRIES),
        Statement("c", w.Count(x, -1), SCALAR),
        Statement("l", w.LogTotal(x, n.ZERO), SCALAR),
    )
    made = over_axes({"x": ENTRIES, "d": SCALAR}, body)
    check(made)
    assert [shown(s) for s in made.body][:2] == [
        "s = sum(i, x[i] * x[i])",
        "y[i] = d * x[i] / sum(j, x[j])",
    ]
    assert {x.size for x in made.letters} == {"d_2"}
    found = interpret(made, {"x": np.array([1.0, 2.0, 5.0]), "d": 2.0})
    np.testing.assert_allclose(found["y"], [0.25, 0.5, 1.25])
    assert found["c"] == 2 and found["s"] == 30
    np.testing.assert_allclose(found["l"], np.log(np.exp([1, 2, 5]).sum() + 1))
