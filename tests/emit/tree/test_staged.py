"""What the stages of a program are told of sizes, and what they find."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.emit.tree import numba
from blrgen.emit.tree.staged import staged
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program
from blrgen.runtime.apart import FEW, _as_length
from tests.emit.tree.running import chain

R = np.random.default_rng(7)


def lengths(p) -> list[tuple[str, ...]]:
    return [f.lengths for f in staged(scheduled(p), "f")]


def test_sizes_inside_of_recurrences_are_lengths() -> None:
    made, _ = chain()
    *stages, whole = lengths(made)
    assert set(stages) == {("K_length",)}
    assert whole == ()


def test_rows_alone_have_sizes_as_they_are() -> None:
    made = program("n:N, i:d", "x[N,d], w[d]", "s[n] = sum(i, x[n,i] * w[i])", "s")
    assert set(lengths(made)) == {()}


def test_sizes_of_matrices_are_lengths() -> None:
    made = program("n:N, i,j:d", "P[N,d,d] spd, b[N,d]", "s[n,i] = solve(P[n,i,j], b[n,i])", "s")
    assert ("d_length",) in lengths(made)


def test_long_axes_have_no_length() -> None:
    assert _as_length(3) == (0, 0, 0)
    assert _as_length(FEW + 1) == ()
    assert _as_length(0) == ()


@pytest.mark.parametrize("size", [1, 3, FEW, FEW + 1])
def test_the_same_for_short_axes_and_long_ones(size: int) -> None:
    """Compiled, with the size known and not."""
    made, given = chain()
    given = {"P": R.random((7, size)), "A": R.dirichlet(np.ones(size), size),
             "p": np.full(size, 1 / size)}  # fmt: skip
    space: dict = {}
    exec(numba.text(staged(scheduled(made), "f")), space)
    found = space["f"](*(given[q.name] for q in made.given))
    wanted = interpret(made, given)
    for name, value in zip(made.outs, found, strict=True):
        np.testing.assert_allclose(value, wanted[name], rtol=1e-12, atol=1e-300)
