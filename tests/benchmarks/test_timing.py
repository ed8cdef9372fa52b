"""Rounds are interleaved, the best counts, and a process that dies loses one case."""

from __future__ import annotations

import itertools

import pytest

from benchmarks import run as runner
from benchmarks import timing
from benchmarks.cases import Case
from benchmarks.child import close, merged
from benchmarks.goals import read_goals
from benchmarks.prepare import Timed, prepared
from benchmarks.setup import joined
from benchmarks.timing import Stepper, Timing, _order, measured


class Clock:
    """Time that passes only where it is said to."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        self.now += 1e-7
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(timing, "time", made)
    return made


def test_everybody_has_a_turn_and_the_best_counts(clock):
    heard = []
    durations = itertools.cycle([0.008, 0.006, 0.007])

    def slow():
        heard.append("b")
        clock.sleep(next(durations))

    found = measured({"a": Stepper(lambda: heard.append("a")), "b": Stepper(slow)}, rounds=4)
    assert found["a"].best < 1e-5
    assert found["b"].best == pytest.approx(0.006, rel=1e-3)
    assert 0.006 < found["b"].median <= 0.008
    turns = [x for x, y in zip(heard, [None, *heard], strict=False) if x != y]
    assert turns.count("b") >= 3  # in turns, not one after the other


def test_everybody_follows_each_of_its_neighbours():
    orders = [_order(["a", "b", "c"], turn) for turn in range(6)]
    assert all(sorted(x) == ["a", "b", "c"] for x in orders)
    assert {x[0] for x in orders[::2]} == {"a", "b", "c"}
    follows = {(x, y) for order in orders for x, y in itertools.pairwise(order)}
    assert {("a", "b"), ("b", "a"), ("b", "c"), ("c", "b"), ("c", "a"), ("a", "c")} == follows


def test_what_comes_before_is_not_timed(clock):
    order = []

    def ahead():
        order.append("before")
        clock.sleep(0.004)

    found = measured({"a": Stepper(lambda: order.append("step"), ahead)}, rounds=2)
    assert order[::2] == ["before"] * (len(order) // 2)
    assert order[1::2] == ["step"] * (len(order) // 2)
    assert found["a"].median < 1e-5


def test_a_budget_ends_the_rounds(clock):
    calls = []

    def once():
        calls.append(1)
        clock.sleep(0.004)

    measured({"a": Stepper(once)}, rounds=1000, budget=0.01)
    assert len(calls) < 30


def test_the_better_way_to_run_a_pass_is_the_roofline():
    times = {"roofline": Timing(2.0, 3.0), "roofline, parallel": Timing(1.0, 4.0)}
    assert joined(times) == {"roofline": Timing(1.0, 4.0)}


def test_a_process_that_ends_loses_one_case_only(monkeypatch):
    cases = [Case("step", "adam", n, "float32", 1) for n in (1, 2, 3)]

    def one_at_a_time(waiting, timed, of, rounds, said):
        return [] if waiting[0].size == 2 else [waiting[0].as_dict() | {"times": {}}]

    monkeypatch.setattr(runner, "_measured", one_at_a_time)
    # a process that stops after one case: the next one is taken for lost
    found = runner.run(cases, {}, lambda c: c.what, 1, 1.0)
    assert [r["size"] for r in found] == [1, 2, 3]
    assert "error" in found[1] and "error" not in found[2]


def test_a_case_that_raises_is_reported_and_the_next_is_measured(monkeypatch):
    made = prepared("sgd")
    broken = Timed.from_dict(made.as_dict() | {"path": "/nowhere/else.py"})
    cases = [Case("update", x, 100, "float32", 1) for x in ("broken", "sgd")]
    found = runner.run(cases, {"broken": broken, "sgd": made}, lambda c: c.what, 3, 0.05)
    assert "error" in found[0] and set(found[1]["times"]) >= {"emitted", "roofline"}


def test_a_goal_that_is_nearly_met_gets_more_rounds():
    case = Case("step", "adam", 20_000_000, "float32", 1)
    goal = next(g for g in read_goals() if g.concerns(case) and g.against == "torch fused")

    def near(part):
        ours = Timing(1.0, 1.0)
        return close(case, {"emitted": ours, "torch fused": Timing(part * goal.at_least, 9.0)})

    assert near(0.95)
    assert not near(1.001)
    assert not near(0.5)
    both = merged({"a": Timing(2.0, 3.0)}, {"a": Timing(1.0, 4.0)})
    assert both == {"a": Timing(1.0, 3.0)}
