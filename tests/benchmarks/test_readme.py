"""The timings in docs/speed.md are those of the run that is kept beside it."""

from __future__ import annotations

import json

import pytest

from benchmarks import readme


def test_the_table_is_the_one_that_was_measured(root):
    made = json.loads((readme.MEASURED / "bench.json").read_text(encoding="utf-8"))
    text = (root / "docs/speed.md").read_text(encoding="utf-8")
    assert readme.placed(text, made) == text, "python -m benchmarks.readme rewrites it"
    changed = made | {"rows": [r | {"ratio": 77.7} for r in made["rows"]]}
    assert readme.placed(text, changed) != text


def test_what_was_missed_is_said():
    row = {"ratio": 1.4, "goal": "≥ 1.5 ×", "verdict": "FAIL"}
    assert readme._cell(row) == "1.4 ×, **missed**"
    assert readme._cell(row | {"goal": "≥ 97 %", "ratio": 0.98, "verdict": "pass"}) == "98 %"
    assert readme._cell(row | {"goal": "≤ 1.1 ×", "ratio": 0.5}) == "2.00 × theirs, **missed**"
    assert readme._cell(row | {"ratio": None}) == "–"


def test_a_quicker_peer_is_shown_beside_the_one_of_the_goal():
    case = {"title": "bayesbinn", "size": 10, "dtype": "float32", "threads": 1, "ratio": 9.0}
    held = case | {"against": "torch as published", "theirs_ns": 10.0, "goal": "≥ 15 ×"}
    quicker = case | {"against": "torch in place", "theirs_ns": 8.0, "goal": None, "verdict": None}
    rows = [held, quicker]
    assert readme._quicker(quicker, rows) and readme._cell(quicker) == "9 ×"
    assert not readme._quicker(quicker | {"theirs_ns": 12.0}, rows)
    assert not readme._quicker(quicker | {"threads": 2}, rows)
    assert not readme._quicker(quicker | {"against": "roofline"}, rows)


def test_a_readme_without_the_marks_is_refused():
    with pytest.raises(SystemExit):
        readme.placed("nothing here", {"rows": []})
