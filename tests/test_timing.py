"""What --time-passes records: stages inside stages, sizes, and what came from the cache."""

from __future__ import annotations

import pytest

import blrgen
from blrgen import cache
from blrgen.emit import emit
from blrgen.show.timings import timings
from blrgen.timing import Record, said, timed

pytestmark = pytest.mark.core


def test_without_a_record_nothing_is_kept():
    assert timed("one", str.upper, "a") == "A"
    said("nobody listens")
    assert Record().lines == []


@pytest.fixture
def clock(monkeypatch):
    """A clock that moves when it is told to: `clock(seconds)`."""
    now = [0.0]
    monkeypatch.setattr("blrgen.timing.perf_counter", lambda: now[0])

    def moves(seconds):
        now[0] += seconds

    return moves


def test_stages_hold_what_runs_inside_them(clock):
    with Record() as record:
        timed("outer", lambda x: timed("inner", lambda y: clock(2.0) or y, x), "a\nb\n")
        timed("after", lambda x: clock(0.5), None)
    assert [(x.name, x.depth) for x in record.lines] == [("outer", 0), ("inner", 1), ("after", 0)]
    outer, inner, after = record.lines
    assert (outer.seconds, inner.seconds, after.seconds, record.total) == (2.0, 2.0, 0.5, 2.5)
    assert (outer.before, outer.after, outer.unit) == (2, 2, "lines")
    assert (after.before, after.after, after.unit) == (None, None, "")


def test_a_stage_that_fails_has_its_time_and_the_next_is_not_inside_it():
    with Record() as record:
        with pytest.raises(ZeroDivisionError):
            timed("fails", lambda x: 1 / x, 0)
        timed("after", lambda x: x, None)
    assert [x.depth for x in record.lines] == [0, 0]
    assert record.lines[0].seconds is not None


def test_counting_is_no_part_of_a_stage(clock, monkeypatch):
    monkeypatch.setattr("blrgen.timing.size", lambda _: (clock(4.0), (1, "x"))[1])
    with Record() as record:
        timed("outer", lambda x: timed("inner", lambda y: clock(0.5), x), None)
    assert [x.seconds for x in record.lines] == [0.5, 0.5]
    assert record.counting == 16.0


def test_every_stage_and_pass_of_a_derivation_is_there():
    with Record() as record:
        source = emit(blrgen.derive("adam", loss="log(1 + exp(x0*theta))"), "numba")
    names = [x.name for x in record.lines]
    stages = ["derive adam", "read the family", "read the loss", "geometry", "expect", "rule",
              "--delta", "--bias-correction", "put the loss in", "emit numba", "lower",
              "equations", "passes of update", "ordered", "stable", "hoist", "cse"]  # fmt: skip
    places = [names.index(x) for x in stages]
    assert places == sorted(places)
    by_name = {x.name: x for x in record.lines}
    assert by_name["emit numba"].after == source.count("\n")
    assert by_name["cse"].after < by_name["cse"].before  # the loss's derivatives share parts
    assert by_name["lower"].unit == "operations" and by_name["equations"].unit == "nodes"
    assert by_name["equations"].after == by_name["passes of update"].before


def test_every_program_of_a_file_has_a_name_of_its_own():
    with Record() as record:
        emit(blrgen.derive("ivon"), "numba")
    found = [x.name for x in record.lines if x.name.startswith("passes of ")]
    assert found == [
        f"passes of {x}" for x in ("draw", "update", "observe", "update from averages")
    ]


def test_what_came_from_the_cache_is_said(tmp_path, monkeypatch):
    monkeypatch.setenv("BLRGEN_CACHE", str(tmp_path))
    for wanted in ([], ["page: from the cache"]):
        with Record() as record:
            assert cache.remembered("page", ("a",), lambda: "text") == "text"
        assert [x.name for x in record.lines] == wanted


def test_the_table_has_a_line_each_and_the_sum():
    with Record() as record:
        timed("one", lambda x: x, None)
        said("two: from the cache")
    rows = timings(record).splitlines()
    assert [r.split()[0] for r in rows[2:]] == ["one", "two:", "all"]
