"""Text measured as a terminal shows it."""

from __future__ import annotations

import pytest

from blrgen.text.table import pad, table, width, wrap

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    ("text", "columns"), [("abc", 3), ("ĥ", 1), ("g\u0302", 1), ("漢字", 4), ("𝔼_q", 3), ("", 0)]
)
def test_width(text, columns):
    assert width(text) == columns


def test_pad_counts_columns_not_characters():
    assert pad("g\u0302", 3) == "g\u0302  "
    assert pad("漢", 4, "right") == "  漢"


def test_columns_are_aligned_and_the_last_one_folds():
    rows = [("m", "漢字", "a mean that needs more room"), ("beta1", "x", "b")]
    assert table(rows, ("name", "sign", "meaning"), columns=32) == (
        "name   sign  meaning\n"
        "─────  ────  ───────────────────\n"
        "m      漢字  a mean that needs\n"
        "             more room\n"
        "beta1  x     b"
    )


def test_an_empty_table_is_nothing():
    assert table([]) == ""


def test_a_control_character_cannot_reach_the_terminal():
    assert table([("\033[2J", "x")]) == "\\x1b[2J  x"


def test_wrap_keeps_long_words_whole():
    assert wrap("a longerthanthat b", 5) == ["a", "longerthanthat", "b"]
