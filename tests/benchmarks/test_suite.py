"""What a run measures: everything, the quick part, or what was asked for."""

from __future__ import annotations

import pytest

from benchmarks.goals import read_goals
from benchmarks.suite import EXTRA, QUICK, Settings, cases, file_of, files
from blrgen.errors import UserError
from blrgen.read.recipe import read_recipes


@pytest.fixture(scope="module")
def everything():
    settings = Settings(threads=(1, 2))
    made = files(settings)
    return made, cases(settings, made)


def test_every_goal_is_looked_at(everything):
    made, found = everything
    for goal in read_goals():
        assert any(goal.concerns(c) for c in found), goal
    assert {c.what for c in found} == {*read_recipes(), *EXTRA}
    assert {file_of(c) for c in found} <= set(made)
    assert len(set(found)) == len(found)
    assert {c.dtype for c in found} == {"float32", "float64"}
    assert {10_000, 1_000_000, 20_000_000} <= {c.size for c in found}


def test_the_quick_run_has_goals_only():
    settings = Settings(threads=(1, 2), quick=True)
    made = files(settings)
    found = cases(settings, made)
    assert set(made) == {*QUICK, *EXTRA}
    assert all(any(g.concerns(c) for g in read_goals()) for c in found)
    assert max(c.size for c in found) <= 1_000_000
    assert all(t.lean for t in made.values())


def test_what_was_asked_for_is_measured_and_no_more():
    settings = Settings(what=("ogn", "normals"), sizes=(1234,), threads=(2,))
    made = files(settings)
    found = cases(settings, made)
    assert {(c.experiment, c.what) for c in found} == {
        ("step", "ogn"), ("normals", "normals"), ("normals", "normals, fast hash"),
    }  # fmt: skip
    assert {(c.size, c.threads) for c in found} == {(1234, 2)}
    assert made["ogn"].plain and not made["normals"].plain


def test_matrices_have_dimensions_of_their_own():
    settings = Settings(what=("von",), threads=(1,))
    found = cases(settings, files(settings))
    assert {c.size for c in found if c.experiment == "posv"} == {100, 1000}
    assert {c.size for c in found if c.experiment != "posv"} == {4}


def test_an_unknown_name_gets_the_nearest():
    with pytest.raises(UserError, match="signs"):
        files(Settings(what=("sign",)))
