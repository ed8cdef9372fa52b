"""What Numba makes of the printed loops computes what the references compute.

One case a program, with sizes that blocks of rows, turns of four and threads do not divide.
"""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.emit.compile import load
from blrgen.emit.tree.functions import functions
from blrgen.emit.tree.numba import text
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.schedule import Schedule
from tests.emit.tree.running import arguments, near
from tests.program.axes.programs import NAMES, PROGRAMS, fixed
from tests.program.axes.test_programs import Case, problem

ROUNDS = {"R": 8}
CASES = [
    Case("adam", {"n": 1003}),
    Case("rmsprop", {"n": 1003}),
    Case("momentum", {"n": 1003}),
    Case("mixture", {"N": 2563, "d": 5, "K": 3}),
    Case("mixture_parameters", {"d": 5, "K": 3}),
    Case("line_mixture", {"N": 2563, "K": 3}),
    Case("bernoulli_mixture", {"N": 2563, "d": 5, "K": 3}, {"K": 3}),
    Case("logistic", {"N": 2563, "d": 5}),
    Case("logistic_hessian", {"N": 2563, "d": 5}),
    Case("logistic_rows", {"N": 301, "d": 5, "b": 400}),
    Case("effects", {"N": 2563, "d": 5, "V": 7}),
    Case("newton", {"d": 30}),
    Case("forward_backward", {"T": 90, "K": 3}, {"K": 3}),
    Case("poisson_chain", {"T": 40, "K": 5}),
    Case("kalman", {"T": 60, "n": 4, "m": 2}, {"n": 4, "o": 2}),
    Case("smoother", {"T": 60, "n": 3, "m": 2}),
    Case("documents", {"D": 70, "V": 30, "K": 5, "L": 40}, ROUNDS, tol=1e-3),
    Case("factor", {"d": 9, "q": 3}, {"q": 3}),
]


WRITTEN = [
    Case("forward_backward", {"T": 90, "K": 3}, {"K": 3}),
    Case("kalman", {"T": 60, "n": 4, "m": 2}, {"n": 4, "o": 2}),
    Case("smoother", {"T": 60, "n": 3, "m": 2}, {"n": 3, "o": 2}),
]


@pytest.mark.sweep(24)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_compiled_program_is_its_reference(case: Case) -> None:
    compared(case, scheduled(fixed(PROGRAMS[case.name], case.known)))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("case", WRITTEN, ids=str)
def test_what_is_written_out_is_its_reference(case: Case) -> None:
    program = fixed(PROGRAMS[case.name], case.known)
    compared(case, scheduled(program, written=frozenset(case.known.values())))


def compared(case: Case, plan: Schedule) -> None:
    """Compiled, run and held against the reference."""
    made = functions(plan, "run")
    given, wanted = problem(case)
    values = arguments(plan, made[-1], given, {})
    load(text(made)).run(*values.values())
    writes = {made: name for name, made in plan.program.writes}
    near({x: np.asarray(values[writes.get(x, x)]) for x in wanted}, wanted)


def test_every_program_is_compiled() -> None:
    assert {c.name for c in CASES} == set(NAMES)
