"""A selection of what `generate` accepts is compiled and stepped (`make compiles`: all of it)."""

from __future__ import annotations

import pytest

from tests.compiles import Case, cases, outcome, pairwise, roads


@pytest.mark.sweep(24)
@pytest.mark.parametrize("case", pairwise(), ids=lambda c: c.title)
def test_what_is_emitted_is_compiled_and_stepped(case: Case) -> None:
    found = outcome(case)
    assert found.word != "failed", found.why


def test_the_selection_has_every_road_and_family() -> None:
    every, few = list(cases()), pairwise()
    assert {c.family for c in few} == {c.family for c in every}
    assert {c.approximations for c in few} == set(roads())
    assert {c.loss for c in few} == {c.loss for c in every}
    assert {c.target for c in few} == {"numpy", "numba"}
