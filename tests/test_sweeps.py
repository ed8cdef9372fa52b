"""A sample has every pair of values that a few parameters take, and its share of the cases."""

from __future__ import annotations

from itertools import product

import pytest

from tests.sweeps import sampled

pytestmark = pytest.mark.core
pytest_plugins = ("pytester",)


def test_one_in_n_of_many_values() -> None:
    cases = {f"case {k}": {"k": k} for k in range(41)}
    assert len(sampled(cases, 4)) == 11
    assert sampled(cases, 4) == sampled(dict(reversed(cases.items())), 4)
    assert sampled(cases, 1) == set(cases)
    assert len(sampled({f"case {k}": {"k": k} for k in range(4)}, 2)) == 2


def test_every_pair_of_few_values_is_there() -> None:
    every = product(range(20), ("numba", "numpy"), ("float32", "float64"), ("one", "list"))
    cases = {str(c): dict(zip("nabc", c, strict=True)) for c in every}
    few = [cases[name] for name in sampled(cases, 100)]
    assert len(few) < 12
    for a, b in (("a", "b"), ("a", "c"), ("b", "c")):
        assert len({(case[a], case[b]) for case in few}) == 4


SWEEP = """
import pytest
from tests.sweeps import mark_the_rest

@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_the_rest(items)
"""
TESTS = """
import pytest

@pytest.mark.sweep(5)
@pytest.mark.parametrize("k", range(20))
def test_many(k):
    assert k < 0

@pytest.mark.parametrize("k", range(20))
def test_all(k):
    pass
"""


def test_the_rest_is_left_out_where_it_is_asked_for_only(
    pytester: pytest.Pytester,
) -> None:
    pytester.makeconftest(SWEEP)
    pytester.makepyprojecttoml('[tool.pytest.ini_options]\nmarkers = ["sweep(n): ", "rest: "]')
    pytester.makepyfile(TESTS)
    pytester.runpytest("-q").assert_outcomes(failed=20, passed=20)
    pytester.runpytest("-q", "-m", "not rest").assert_outcomes(failed=4, passed=20, deselected=16)
