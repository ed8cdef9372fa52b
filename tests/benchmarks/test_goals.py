"""Goals are data; whoever misses one is told so."""

from __future__ import annotations

import math

import pytest

from benchmarks.cases import DTYPES, EXPERIMENTS, Case
from benchmarks.goals import Goal, goal_of, read_goals
from benchmarks.report import failed, rows, summary
from benchmarks.suite import EXTRA
from blrgen.errors import InternalError
from blrgen.read.recipe import read_recipes

pytestmark = pytest.mark.core


def case(**changed):
    given = {"experiment": "step", "what": "adam", "size": 100, "dtype": "float32", "threads": 1}
    return Case(**given | changed)


def result(ours=1e-6, elements=100, **theirs):
    times = {"emitted": ours} | {k.replace("_", " "): v for k, v in theirs.items()}
    return case().as_dict() | {
        "elements": elements,
        "bytes": 28,
        "times": {k: {"best": v, "median": 2 * v} for k, v in times.items()},
    }


GOAL = Goal("step", "adam", 100, "float32", 1, "torch fused", at_least=1.5)


def test_every_goal_is_about_something_that_can_be_measured():
    goals = read_goals()
    assert len(goals) > 50
    known = {*read_recipes(), *EXTRA, "*"}
    for goal in goals:
        assert goal.what.split(",")[0] in known
        assert goal.experiment in EXPERIMENTS and goal.dtype in DTYPES
        assert (goal.at_least > 0) != (goal.at_most > 0)
    assert len(set(goals)) == len(goals)


@pytest.mark.parametrize(
    "entry",
    [
        'what = "adam"\nsize = 1\nthreads = 1\nagainst = "torch"\n',
        'what = "adam"\nsize = 1\nthreads = 1\nagainst = "torch"\nat_least = 1\nat_most = 2\n',
        'what = "adam"\nsize = 1\nthreads = 1\nagainst = "torch"\nat_lest = 1\n',
        'what = "adam"\nsize = 1\nthreads = 1\nagainst = "torch"\nat_least = 0\n',
        'what = "adam"\nsize = 1\nthreads = 1\nagainst = "torch"\nat_least = 1\ndtype = "f4"\n',
    ],
)
def test_a_goal_that_says_nothing_is_refused(tmp_path, entry):
    path = tmp_path / "goals.toml"
    path.write_text("[[goal]]\n" + entry)
    with pytest.raises(InternalError):
        read_goals(path)


def test_lists_in_an_entry_are_combined(tmp_path):
    path = tmp_path / "goals.toml"
    path.write_text(
        '[[goal]]\nwhat = ["a", "b"]\nsize = [1, 2]\nthreads = 1\nagainst = "x"\nat_most = 2\n'
    )
    assert {(g.what, g.size, g.text) for g in read_goals(path)} == {
        (w, s, "≤ 2 ×") for w in "ab" for s in (1, 2)
    }


def test_a_slow_peer_is_beaten_and_a_fast_one_is_not():
    slow, fast = result(torch_fused=1.6e-6), result(torch_fused=1.4e-6)
    (row,) = rows([slow], (GOAL,))
    assert (row.verdict, round(row.ratio, 9)) == ("pass", 1.6)
    assert not failed([row])
    (row,) = rows([fast], (GOAL,))
    assert (row.verdict, round(row.ratio, 9)) == ("FAIL", 1.4)
    assert failed([row]) and "1 missed" in summary([row])


def test_at_most_is_our_time_over_theirs():
    goal = Goal("step", "adam", 100, "float32", 1, "posv", at_most=1.1)
    assert rows([result(posv=1e-6 / 1.09)], (goal,))[0].verdict == "pass"
    assert rows([result(posv=1e-6 / 1.11)], (goal,))[0].verdict == "FAIL"


def test_the_roofline_is_a_fraction():
    goal = Goal("step", "adam", 100, "float32", 1, "roofline", at_least=0.97)
    (row,) = rows([result(roofline=0.96e-6)], (goal,))
    assert row.verdict == "FAIL" and round(row.reached, 9) == 0.96
    assert goal.text == "≥ 97 %"


def test_what_was_not_measured_is_neither_passed_nor_failed():
    lost = case().as_dict() | {"error": "MemoryError: no"}
    for found in (rows([lost], (GOAL,)), rows([result(optax=1e-6)], (GOAL,))):
        mine = [r for r in found if r.goal is not None]
        assert [r.verdict for r in mine] == ["not measured"]
        assert math.isnan(mine[0].ratio)
        assert not failed(mine) and "1 not measured" in summary(mine)
    assert not GOAL.met(math.nan)


def test_a_goal_holds_for_its_own_case_alone():
    for changed in ({"size": 101}, {"threads": 2}, {"dtype": "float64"}, {"what": "sgd"},
                    {"experiment": "given"}):  # fmt: skip
        assert goal_of((GOAL,), case(**changed), "torch fused") is None
    assert goal_of((GOAL,), case(), "torch") is None
    every = Goal("step", "*", 100, "float32", 1, "torch fused", at_most=1.05)
    assert goal_of((every,), case(what="sgd"), "torch fused") is every
    assert goal_of((every, GOAL), case(), "torch fused") is GOAL


def test_of_several_ways_to_do_it_the_quickest_is_compared():
    goal = Goal("step", "adam", 100, "float32", 1, "scikit-learn", at_least=1.5)
    ways = {"scikit-learn, cholesky": 1.4e-6, "scikit-learn, auto": 1.7e-6}
    given = result() | {"times": {k: {"best": v, "median": v} for k, v in ways.items()}}
    given["times"]["emitted"] = {"best": 1e-6, "median": 1e-6}
    found = {r.against: r for r in rows([given], (goal,))}
    assert found["scikit-learn"].verdict == "FAIL"
    assert round(found["scikit-learn"].ratio, 9) == 1.4
