"""Array statements give what programs mean, and read like NumPy."""

from typing import Any

import numpy as np
import pytest

from blrgen.emit.tree import numpy
from blrgen.emit.tree.arrays import array_function
from blrgen.program.axes import nodes as a
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.text import program
from tests.emit.tree.running import SMALL, near
from tests.program.axes.programs import PROGRAMS, fixed
from tests.program.axes.test_programs import CASES, Case, problem


def run(p: a.Program, values: dict[str, Any]) -> dict[str, Any]:
    """The printed file, run in a namespace of its own."""
    f = array_function(p, "run")
    space: dict[str, Any] = {}
    exec(numpy.text(f), space)
    own = {k: np.array(v) if np.ndim(v) else v for k, v in values.items()}
    found = space["run"](*(own[x] for x in (*f.arrays, *f.wholes, *f.reals)))
    results = found if isinstance(found, tuple) else (found,) if f.returns else ()
    names = (x.name for x in f.returns)
    return dict(zip(names, results, strict=True)) | {x: own[x] for x, _ in p.writes}


@pytest.mark.parametrize("name", SMALL)
def test_small_programs(name: str) -> None:
    near(run(*SMALL[name]), interpret(*SMALL[name]))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_whole_algorithms(case: Case) -> None:
    made, values = fixed(PROGRAMS[case.name], case.known), problem(case)[0]
    near(run(made, values), interpret(made, values))


@pytest.mark.parametrize("name", ["mixture", "logistic_hessian", "kalman", "forward_backward"])
def test_single_precision_stays_single(name: str) -> None:
    case = next(c for c in CASES if c.name == name)
    values = {k: v.astype(np.float32) if np.ndim(v) else v for k, v in problem(case)[0].items()}
    made = fixed(PROGRAMS[name], case.known)
    wanted = interpret(made, problem(case)[0])
    for out, value in run(made, values).items():
        assert np.asarray(value).dtype == np.float32, out
        scale = np.abs(wanted[out]).max()
        assert np.allclose(value, wanted[out], rtol=1e-3, atol=1e-4 * scale), out


def test_letters_become_axes() -> None:
    made = program(
        "n:N, k:K, i:d", "x[N,d], mu[K,d]",
        "dx[n,k,i] = x[n,i] - mu[k,i]\ns[i,k] = sum(n, x[n,i] * dx[n,k,i])", "s, dx",
    )  # fmt: skip
    lines = numpy.function(array_function(made, "run")).split("\n")
    assert "    dx = x[:, None, :] - mu" in lines
    assert '    s = np.einsum("ni,nki->ik", x, dx)' in lines


def test_rows_of_what_would_be_large_are_done_in_strips() -> None:
    made = program(
        "n:N, k:K, i:d", "x[N,d], mu[K,d]",
        "dx[n,k,i] = x[n,i] - mu[k,i]\ns[i,k] = sum(n, x[n,i] * dx[n,k,i])", "s",
    )  # fmt: skip
    lines = numpy.function(array_function(made, "run")).split("\n")
    assert "        dx = x_rows[:, None, :] - mu" in lines
    assert '        s += np.einsum("ni,nki->ik", x_rows, dx)' in lines


def test_rows_of_a_strip_that_are_multiplied_are_matrices() -> None:
    """Which einsum leaves to BLAS when it is asked to look."""
    made = program(
        "n:N, k:K, i,j:d", "x[N,d], mu[K,d]",
        "dx[n,k,i] = x[n,i] - mu[k,i]\ns[i,k] = sum(n, x[n,i] * dx[n,k,i])\n"
        "m[i,j] = sum(n, x[n,i] * x[n,j])", "s, m",
    )  # fmt: skip
    lines = numpy.function(array_function(made, "run")).split("\n")
    assert '        m += np.einsum("ni,nj->ij", x_rows, x_rows, optimize=True)' in lines
