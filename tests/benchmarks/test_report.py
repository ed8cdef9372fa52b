"""What a run saves, and what it draws."""

from __future__ import annotations

import json

import pytest

from benchmarks import report
from benchmarks.goals import Goal
from benchmarks.picture import reached

pytestmark = pytest.mark.core

RESULTS = [
    {
        "experiment": "step", "what": "adam", "size": size, "dtype": "float32", "threads": threads,
        "elements": size, "bytes": 28,
        "times": {
            "emitted": {"best": size * 1e-9, "median": size * 2e-9},
            "roofline": {"best": size * 0.5e-9, "median": size * 1e-9},
        },
    }
    for size in (10, 1000)
    for threads in (1, 2)
]  # fmt: skip
LOST = {k: v for k, v in RESULTS[0].items() if k != "times"} | {"error": "MemoryError: no"}


def test_the_document_survives_json_and_names_no_machine(tmp_path):
    import getpass
    import socket

    found = report.rows([*RESULTS, LOST], ())
    made = report.document([*RESULTS, LOST], found, 1.0, quick=True)
    path = report.save(tmp_path / "new", made)
    text = path.read_text(encoding="utf-8")
    read = json.loads(text)
    assert read["schema"] == report.SCHEMA == "blrgen-bench/1"
    assert read["machine"]["cores"] >= 1 and read["machine"]["simd"]
    assert {"title", "against", "ours_ns", "theirs_ns", "ratio", "verdict"} <= set(read["rows"][0])
    assert read["rows"][0]["ratio"] == 0.5 and read["rows"][-1]["ratio"] is None
    assert read["rows"][-1]["error"] == LOST["error"]
    for name in (socket.gethostname(), getpass.getuser()):
        assert len(name) < 4 or name not in text
    assert "NaN" not in text


def test_every_row_is_as_wide_as_the_head():
    found = report.rows([*RESULTS, LOST], ())
    assert {len(report.cells(r)) for r in found} == {len(report.HEADINGS)}


def test_nanoseconds_are_of_an_element():
    row = report.rows(RESULTS[:1], ())[0]
    assert (round(row.ours, 9), round(row.theirs, 9), round(row.ours_median, 9)) == (1, 0.5, 2)


def test_a_goal_beyond_memory_is_missed_and_says_so():
    """Half the time of memory is out of reach: whoever takes 1.5 × it is at most 1.5 × slower."""
    result = RESULTS[0] | {"times": RESULTS[0]["times"] | {"torch": {"best": 7.5e-9, "median": 1}}}
    case = {k: result[k] for k in report.FIELDS}
    for least, said in ((1.2, "FAIL"), (1.6, "FAIL (memory allows 1.5)"), (0.7, "pass")):
        goal = Goal(**case, against="torch", at_least=least)
        row = next(r for r in report.rows([result], (goal,)) if r.against == "torch")
        assert report.cells(row)[-1] == said
        assert round(row.most, 9) == 1.5 and round(row.ratio, 9) == 0.75


def test_the_picture_shows_the_largest_size():
    panels = reached([*RESULTS, LOST])
    assert set(panels) == {1, 2}
    assert panels[1] == {"adam, f32, 1000": {"emitted": 0.5}}
