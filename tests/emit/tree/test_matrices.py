"""Vectors and matrices as array statements: the words, and that they mean what equations mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blrgen.emit.support import support_of
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.formed import Entries, Solved
from blrgen.emit.tree.matrices import Matrices, told
from blrgen.emit.tree.numba import function as compiled
from blrgen.emit.tree.numpy import Arrays
from blrgen.emit.tree.printer import Lines
from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import check
from blrgen.program.axes.formed import formed
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program

GIVEN = "A[n,n], B[n,p], S[n,n] spd, L[n,n] lower, H[n,n] sym, x[n], y[n], w[p], r, q"
WORDS = {
    "z[i,k] = sum(j, A[i,j] * B[j,k])": "z = A @ B",
    "z[k,i] = sum(j, B[j,k] * A[i,j])": "z = B.T @ A.T",
    "z[i,k] = r * sum(j, A[i,j] * sum(l, S[j,l] * B[l,k]))": "z = r * (A @ (S @ B))",
    "z[i,k] = sum(j, r * (A[i,j] + S[i,j]) * B[j,k])": "z = r * ((A + S) @ B)",
    "z[k] = sum(j, B[j,k] * x[j])": "z = B.T @ x",
    "z = sum(i, x[i] * y[i])": "z = x @ y",
    "z = sum(i, A[i,i])": "z = np.trace(A)",
    "z[i] = sum(j, A[i,j])": "z = np.sum(A, axis=1)",
    "z[i,k] = x[i] * w[k]": "z = np.outer(x, w)",
    "z[i,j] = r * (2 * x[i] * y[j]) - A[i,j]": "z = r * 2 * np.outer(x, y) - A",
    "z[i,j] = A[i,j] + r * [i == j]": "z = A + r * np.eye(n, dtype=real)",
    "z[i,j]: sym = 1/2 * (A[i,j] + A[j,i])": "z = 0.5 * (A + A.T)",
    "z[i,j] = A[i,j]": "z = np.copy(A)",
    "z[i] = x[i] / size(n)": "z = x / real(n)",
    "z[i,j] = chol(S[i,j])": 'z = _cholesky("S", S)',
    "z[i] = solve(S[i,j], x[i])": "z = np.linalg.solve(S, x)",
    "z[i] = lsolve(L[i,j], x[i])": "z = _solve_lower(L, x)",
    "z[i,k] = ltsolve(L[i,j], B[i,k])": "z = _solve_upper(L, B)",
    "F[i,j] = chol(S[i,j]); z[i] = x[i] - solve(S[i,j], y[i])": "z = x - _solve(F, y)",
    "F[i,j] = chol(S[i,j]); C[k,i] = B[i,k]; z[k,i] = C[k,i] + solve(S[i,j], C[k,i])":
        "z = C + _solve(F, C.T).T",
}  # fmt: skip


def made(body: str, outs: str = "z") -> a.Program:
    lines = "\n".join(x.strip() for x in body.split(";"))
    return program("i,j,l:n, k:p", GIVEN, lines, outs)


def lines(p: a.Program) -> list[str]:
    body = Matrices(p, "step", {"P_next": "P"}).body()
    return Lines(Arrays()).body(body, 0)


def run(rows: list[str], values: dict[str, Any]) -> Any:
    helpers = ("_cholesky", "_solve", "_solve_lower", "_solve_upper")
    env: dict[str, Any] = {"np": np, "Array": Any, "real": np.float64, "n": 4, **values}
    exec("\n".join(support_of("numpy", helpers).texts), env)
    exec("\n".join(rows), env)
    return env["z"]


def numbers() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    sizes = {"n": 4, "p": 3}
    values = {q.name: rng.standard_normal([sizes[str(x)] for x in q.sizes])
              for q in made("z = r").given}  # fmt: skip
    values["S"] = values["S"] @ values["S"].T + np.eye(4)
    values["L"] = np.linalg.cholesky(values["S"])
    return values | {"H": values["A"] + values["A"].T}


@pytest.mark.parametrize(("body", "line"), WORDS.items())
def test_equations_become_words(body: str, line: str) -> None:
    p, values = made(body), numbers()
    check(p)
    rows = lines(p)
    assert rows[-1] == line
    wanted = interpret(p, {q.name: values[q.name] for q in p.given})["z"]
    np.testing.assert_allclose(run(rows, values), wanted, rtol=1e-12, atol=1e-13)


def test_a_factor_that_nobody_reads_is_a_look() -> None:
    p = made("P_next[i,j]: spd = S[i,j] + H[i,j]; F[i,j] = chol(P_next[i,j]); z[i] = x[i]")
    assert lines(p)[1] == '_cholesky("the next P", P_next)'
    p = made("minus_P[i,j]: spd = -H[i,j]; F[i,j] = chol(minus_P[i,j]); z[i] = x[i]")
    assert lines(p)[1] == '_cholesky("minus H", minus_P)'


def test_what_is_factored_in_words() -> None:
    p = made("""one[i,j] = [i == j]; B[i,j] = S[i,j] + H[i,j]; part[i,j] = solve(B[i,l], one[i,j]);
    new[i,j]: sym = 1/2 * (part[i,j] + part[j,i]); m[i] = solve(B[i,j], x[i]);
    gap[i,j] = P[i,j] - r * [i == j]; P[i,j] = A[i,j]; N[i,j] = -P[i,j]; z = r""")
    states = {"new": "V", "m": "m", "P": "P"}
    said = {"S": "S", "P": "the next P", "B": "the inverse of the next V",
            "N": "minus the next P", "gap": "the next P"}  # fmt: skip
    assert {x: told(p, x, states) for x in said} == said


def entries(body: str, again: bool = False) -> Entries:
    found = formed(made(body, "P_next, z"), {"P_next": "S"})
    assert found is not None
    return Entries(found, again=again)


STEP = """P_next[i,j]: spd = 3 * S[i,j] + q * H[i,j] + x[i] * x[j] + r * [i == j];
F[i,j] = chol(P_next[i,j]); z[i] = y[i] - solve(P_next[i,j], y[i])"""


def test_a_matrix_made_entry_by_entry() -> None:
    one = entries(STEP)
    rows = Lines(Arrays()).body(Solved(one, "step", {}).body(), 0)
    assert rows == [
        "part = np.outer(x, x)",
        "_write_S(P_next, work, S, H, part, q, r, work.dtype.type(3))",
        'z = y - _solved("the next S", work, y)',
    ]


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_loop_writes_every_entry(again: bool, dtype: Any) -> None:
    """On numbers, as plain Python: all of the matrix, and of the other its upper triangle."""
    text = "\n\n".join(map(compiled, entries(STEP, again).functions()))
    env: dict[str, Any] = {"np": np, "Array": Any, "Any": Any, "FASTMATH": set()}
    env["njit"] = lambda **_: lambda f: f
    exec(text, env)
    values = {k: np.asarray(v, dtype) for k, v in numbers().items()}
    S, H, x, q, r = (values[k] for k in ("S", "H", "x", "q", "r"))
    part = np.outer(x, x)
    out, work = np.full((2, 4, 4), 9, dtype)
    env["_write_S"](out, work, S, H, part, q, r, dtype(3))
    wanted = 3 * S + q * H + part + r * np.eye(4, dtype=dtype)
    np.testing.assert_allclose(out, wanted, rtol=1e-5 if dtype is np.float32 else 1e-14)
    upper = np.triu(np.ones((4, 4), bool)) | again
    assert (work[upper] == out[upper]).all() and (work[~upper] == 9).all()


def test_the_old_factor_is_read_before_the_work_space_is_written() -> None:
    p = """F[i,j] = chol(S[i,j]); P_next[i,j]: spd = S[i,j] + q * H[i,j];
    G[i,j] = chol(P_next[i,j]); z[i] = x[i] - solve(S[i,j], y[i])"""
    one = entries(p, True)
    assert one.made.known == "F"
    assert Lines(Arrays()).body(Solved(one, "step", {}).body(), 0) == [
        'F = _known_factor("S", S, work, diagonal)',
        "z = x - _solve(F, y)",
        "_write_S(P_next, work, S, H, q)",
        '_look("the next S", P_next, work, diagonal)',
    ]


def test_statements_that_are_no_matrix_words_stay() -> None:
    """Three factors of one sum are no product of two."""
    p = made("z[i,k] = sum(j, A[i,j] * x[j] * B[j,k])")
    assert "einsum" in lines(p)[-1]
    values = numbers()
    wanted = values["A"] @ np.diag(values["x"]) @ values["B"]
    np.testing.assert_allclose(run(lines(p), values), wanted, rtol=1e-12)


def test_loops_begin_at_zero() -> None:
    """The rows of a loop that begins elsewhere are parts of rows."""
    text = compiled(entries(STEP).all())
    assert "work_row = work[i, i:]" in text and "for j in range(n - i):" in text
    assert all(isinstance(x, t.Function) for x in entries(STEP).functions())
