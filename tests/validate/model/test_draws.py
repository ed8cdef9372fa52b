"""What a class draws from is held against full conditionals, and a wrong one is found."""

from __future__ import annotations

from pathlib import Path

import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.validate.model.report import run

MODELS = Path(__file__).parents[3] / "models"


def compared(name: str, old: str = "", new: str = "") -> dict[str, str]:
    """Of every claim its level; of the file with one thing changed."""
    d = derive_model(read_model((MODELS / f"{name}.model").read_text(), name), "gibbs")
    program = lower(d)
    source = text(program, "numpy")
    assert old in source
    return {n: p.level for n, p in run(d, program, source.replace(old, new, 1), "draws")}


@pytest.mark.parametrize("name", ["normal-gamma", "hmm-poisson", "linear-regression-ard"])
def test_every_law_is_the_full_conditional(name: str) -> None:
    """By a family, by a path, by weights of labels, by standard normals."""
    found = compared(name)
    assert len(found) > 1 and set(found.values()) == {"numeric"}


@pytest.mark.parametrize(
    ("name", "old", "new", "block"),
    [
        ("gamma-poisson", "rate_q_2 = -b", "rate_q_2 = -2 * b", "rate"),
        ("poisson-mixture", "z_q_1 = ", "z_q_1 = 2 * ", "z"),
        ("state-space", "+ x_q_alone[u_2] + ", "+ 2 * x_q_alone[u_2] + ", "x"),
        ("gamma-poisson", "a * np.log(b)", "b * np.log(b)", "log joint"),
    ],
)
def test_another_law_is_refuted(name: str, old: str, new: str, block: str) -> None:
    assert compared(name, old, new)[block] == "refuted"


def test_what_plain_loops_cannot_say_is_not_compared() -> None:
    found = compared("zero-inflated-poisson")  # its labels are certain where a count is not 0
    assert (found["log joint"], found["z"]) == ("numeric", "not compared")
