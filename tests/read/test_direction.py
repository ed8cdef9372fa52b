"""A chart in the wrong direction is told so, with the lines to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from blrgen.errors import UserError
from blrgen.geometry.geometry import geometry_of
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

TEXT = """
name = "f"
title = "F"
variable = "x"
support = "(-oo, oo)"
statistics = ["x", "x**2"]
[natural]
eta1 = {{ domain = "(-oo, oo)"{n1} }}
eta2 = {{ domain = "(-oo, 0)"{n2} }}
[working]
m = {{ domain = "(-oo, oo)"{w1} }}
v = {{ domain = "(0, oo)"{w2} }}
"""
DOWN = ('working = "m/v"', 'working = "-1/(2*v)"')  # natural of working
UP = ('natural = "-eta1/(2*eta2)"', 'natural = "-1/(2*eta2)"')  # working of natural


def text(natural: tuple[str, str] = ("", ""), working: tuple[str, str] = ("", "")) -> str:
    n1, n2, w1, w2 = (f", {x}" if x else "" for x in (*natural, *working))
    return TEXT.format(n1=n1, n2=n2, w1=w1, w2=w2)


def swapped(pair: tuple[str, str]) -> tuple[str, str]:
    """The same formulas under the other key."""
    key, other = ("working", "natural") if pair[0].startswith("working") else ("natural", "working")
    return tuple(x.replace(f"{key} =", f"{other} =") for x in pair)  # type: ignore[return-value]


CASES = {
    "natural of working, on the working ones": (text(working=swapped(DOWN)), "natural", DOWN),
    "natural of working, under its key there": (text(working=DOWN), "natural", DOWN),
    "working of natural, on the natural ones": (text(natural=swapped(UP)), "working", UP),
    "working of natural, under its key there": (text(natural=UP), "working", UP),
    "the right place, the wrong key": (text(natural=swapped(DOWN)), "natural", DOWN),
    "the right place for the other": (text(working=swapped(UP)), "working", UP),
}


@pytest.mark.parametrize("case", CASES)
def test_the_wrong_way_round(case: str, tmp_path: Path) -> None:
    """What is proposed makes the file one that can be read, and is the same Gaussian."""
    given, home, lines = CASES[case]
    path = tmp_path / "f.toml"
    path.write_text(given)
    with pytest.raises(UserError, match="is the wrong way round") as refused:
        read_family(str(path))
    owners = ("eta1", "eta2") if home == "natural" else ("m", "v")
    wanted = [f"under [{home}], {x} = {{ …, {y} }}" for x, y in zip(owners, lines, strict=True)]
    assert refused.value.how == "; ".join(wanted)
    path.write_text(text(**{home: lines}))
    assert str(geometry_of(read_family(str(path))).mean_in_working[0]) == "m"


def test_only_what_can_be_read_is_proposed(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(text(working=('natural = "m/v"', 'natural = "-1/(2*v"')))
    with pytest.raises(UserError, match="is the wrong way round") as refused:
        read_family(str(path))
    assert "under [" not in refused.value.how


@pytest.mark.parametrize(("natural", "working"), [(DOWN, ("", "")), (("", ""), UP), (DOWN, UP)])
def test_the_right_ways(natural: tuple[str, str], working: tuple[str, str], tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_text(text(natural=natural, working=working))
    geometry_of(read_family(str(path)))
