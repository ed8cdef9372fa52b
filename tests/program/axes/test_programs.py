"""Programs written by hand: the checker lets them through, and they mean their references."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.testing import assert_allclose

from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from tests.program.axes import problems, references
from tests.program.axes.programs import NAMES, PROGRAMS, fixed


@dataclass(frozen=True)
class Case:
    """A program, the sizes of its problem, and the axes whose size it knows."""

    name: str
    sizes: dict[str, int]
    known: dict[str, int] = field(default_factory=dict)
    tol: float | None = None

    def __str__(self) -> str:
        sizes = ",".join(f"{k}={v}" for k, v in self.sizes.items())
        return f"{self.name} {sizes}" + (f" known {','.join(self.known)}" if self.known else "")


ROUNDS = 8
CASES = [
    Case("adam", {"n": 7}),
    Case("rmsprop", {"n": 7}),
    Case("momentum", {"n": 7}),
    Case("mixture", {"N": 11, "d": 3, "K": 4}),
    Case("mixture", {"N": 11, "d": 3, "K": 4}, {"d": 3, "K": 4}),
    Case("mixture", {"N": 1, "d": 1, "K": 1}),
    Case("mixture_parameters", {"d": 3, "K": 4}),
    Case("mixture_parameters", {"d": 3, "K": 4}, {"d": 3}),
    Case("line_mixture", {"N": 11, "K": 4}),
    Case("line_mixture", {"N": 11, "K": 4}, {"K": 4}),
    Case("bernoulli_mixture", {"N": 11, "d": 3, "K": 4}),
    Case("logistic", {"N": 11, "d": 3}),
    Case("logistic_hessian", {"N": 11, "d": 3}),
    Case("logistic_rows", {"N": 11, "d": 3, "b": 20}),
    Case("effects", {"N": 11, "d": 3, "V": 5}),
    Case("newton", {"d": 5}),
    Case("newton", {"d": 5}, {"d": 5}),
    Case("forward_backward", {"T": 9, "K": 3}),
    Case("forward_backward", {"T": 9, "K": 3}, {"K": 3}),
    Case("forward_backward", {"T": 1, "K": 2}),
    Case("poisson_chain", {"T": 9, "K": 3}),
    Case("poisson_chain", {"T": 9, "K": 3}, {"K": 3}),
    Case("kalman", {"T": 9, "n": 4, "m": 2}),
    Case("kalman", {"T": 9, "n": 4, "m": 2}, {"n": 4, "o": 2}),
    Case("kalman", {"T": 1, "n": 1, "m": 1}),
    Case("smoother", {"T": 9, "n": 4, "m": 2}),
    Case("smoother", {"T": 9, "n": 4, "m": 2}, {"n": 4, "o": 2}),
    Case("documents", {"D": 4, "V": 9, "K": 3, "L": 20}, {"R": ROUNDS}, tol=0.0),
    Case("documents", {"D": 4, "V": 9, "K": 3, "L": 20}, {"R": ROUNDS, "K": 3}, tol=0.0),
    Case("documents", {"D": 4, "V": 9, "K": 3, "L": 20}, {"R": 200}, tol=1e-3),
    Case("factor", {"d": 6, "q": 2}),
    Case("factor", {"d": 6, "q": 2}, {"q": 2}),
]


def problem(case: Case) -> tuple[dict, dict]:
    """What the program is given, and what comes out of the reference."""
    given = getattr(problems, case.name)(**case.sizes)
    more = {}
    if case.tol is not None:
        given["tol"], more["rounds"] = case.tol, case.known["R"]
    return given, getattr(references, case.name)(**given, **more)


def same(found: dict, wanted: dict) -> None:
    """Every result of the reference, to 1e-12 of its largest entry."""
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        scale = np.abs(value).max()
        assert_allclose(found[name], value, rtol=1e-12, atol=1e-12 * scale, err_msg=name)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_program_means_its_reference(case: Case) -> None:
    made = fixed(PROGRAMS[case.name], case.known)
    check(made)
    given, wanted = problem(case)
    found = interpret(made, given)
    written = dict(made.writes)
    same({written.get(k, k): v for k, v in found.items()}, wanted)


def test_every_program_has_a_case() -> None:
    assert {c.name for c in CASES} == set(NAMES)
