"""The law of a full-covariance draw is proved, and a wrong one is refuted."""

from __future__ import annotations

import pytest

from blrgen.api import derive
from blrgen.emit import emit
from blrgen.validate.drawn_law import law_proofs

pytestmark = pytest.mark.core

ROADS = (["hessian=reparam"], ["stochastic"], ["hessian=reparam", "ess", "prior=apart"])


@pytest.mark.parametrize("road", ROADS, ids=" ".join)
def test_the_emitted_draw_has_the_law_of_the_candidate(road: list[str]) -> None:
    d = derive("gaussian-full", road)
    ((_, proof),) = law_proofs(emit(d, target="numpy"), d.rule)
    assert proof.level == "random-exact", proof


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("_solve_upper(precision_factor, eps)", "_solve_lower(precision_factor, eps)"),
        ("_solve_upper(precision_factor, eps)", "_solve(precision_factor, eps)"),
        ("precision = S + delta", "precision = S - delta"),
        ("one_over_sqrt_N = 1 / math.sqrt(self.N)", "one_over_sqrt_N = 1 / self.N"),
        ("theta = m + one", "theta = 2 * m + one"),
    ],
)
def test_a_wrong_draw_is_refuted(right: str, wrong: str) -> None:
    d = derive("gaussian-full", ["hessian=reparam", "ess", "prior=apart"])
    source = emit(d, target="numpy")
    assert right in source
    ((_, proof),) = law_proofs(source.replace(right, wrong), d.rule)
    assert proof.level == "refuted"
