"""`blrgen verify`: what it says of right and wrong code, and its exit codes."""

from __future__ import annotations

import json

import pytest

from blrgen.cli.main import main
from blrgen.cli.verify import names
from blrgen.errors import UserError

pytestmark = pytest.mark.core

RIGHT = """
def step(m, g, rho):
    return m - rho*g
"""
IN_PLACE = """
def step(m, g, rho):
    m -= rho*g
"""
OTHER_NAMES = """
import numpy as np

def update(weights, grad, lr):
    return np.subtract(weights, lr*grad)
"""
WRONG = """
def step(m, g, rho):
    direction = -g
    return m - rho*direction
"""
OUTSIDE = """
def step(m, g, rho):
    return float(str(m)) - rho*g
"""


@pytest.fixture
def verify(invoke, tmp_path):
    """Verify a source text, by default against gradient descent."""

    def run(source, *words, against="gradient-descent"):
        file = tmp_path / "mine.py"
        file.write_text(source)
        return invoke("verify", str(file), *(["--against", against] if against else []), *words)

    return run


@pytest.mark.parametrize("source", [RIGHT, IN_PLACE])
def test_right_code_is_proved(verify, source):
    said = verify(source)
    assert (said.code, said.err) == (0, "")
    assert "proved" in said.out


def test_names_through_a_map(verify):
    maps = ["--map", "weights=m", "--map", "grad=g", "--map", "lr=rho"]
    said = verify(OTHER_NAMES, "--function", "update", *maps)
    assert said.code == 0, said.err


def test_wrong_code_is_refuted_with_the_point_and_the_line(verify):
    said = verify(WRONG)
    assert (said.code, said.err) == (1, "")
    assert "refuted" in said.out
    assert "at the point" in said.out
    assert "line 3" in said.out or "line 4" in said.out


def test_what_has_no_meaning_is_not_compared_and_named(verify):
    said = verify(OUTSIDE)
    assert (said.code, said.err) == (3, ""), (said.out, said.err)
    assert "mine.py:3: the name str has no meaning here" in " ".join(said.out.split())
    assert "docs/verify.md" in said.out


def test_a_family_with_approximations_can_be_held_against(verify):
    said = verify(RIGHT, "--delta", against="gaussian-fixed")
    assert said.code == 0, said.err


@pytest.mark.parametrize(
    ("source", "words", "what"),
    [
        (RIGHT, ["--function", "stepp"], "stepp"),
        (RIGHT, ["--map", "m"], "THEIRS=OURS"),
        (RIGHT, ["--map", "m=u", "--map", "m=s"], "mapped twice"),
        (OTHER_NAMES, ["--function", "update"], "weights"),
        ("def step(m, g, rho:\n", [], "not Python"),
        ("", [], "step"),
        ("def step(m, g, rho):\n    return m\x00", [], "not Python"),
    ],
)
def test_mistakes(verify, source, words, what):
    said = verify(source, *words)
    assert (said.code, said.out) == (2, "")
    assert what in said.err


@pytest.mark.parametrize(
    "source",
    [
        "raise SystemExit(0)\n" + RIGHT,
        "import sys\nsys.exit(0)\n" + RIGHT,
        "import os\n" + RIGHT.replace("return", "os._exit\n    raise SystemExit(0)\n    return"),
        RIGHT.replace("return", "raise KeyError('x')\n    return"),
        RIGHT.replace("return m", "return m.nothing"),
        RIGHT.replace("return", "yield"),
        "def step(*m):\n    return m\n",
        "step = 3\n",
    ],
)
def test_code_that_misbehaves_never_counts_as_proved(verify, source):
    said = verify(source)
    assert said.code in (1, 2, 3), (said.out, said.err)
    assert "Traceback" not in said.err


def test_against_what(verify):
    said = verify(RIGHT, against="")
    assert said.code == 2
    assert "--against" in said.err


def test_against_an_unknown_name(verify):
    said = verify(RIGHT, against="gradient-decent")
    assert said.code == 2
    assert "'gradient-descent'" in said.err


def test_a_file_that_is_not_there(invoke):
    said = invoke("verify", "nowhere.py", "--against", "adam")
    assert (said.code, said.out) == (2, "")
    assert "nowhere.py" in said.err


def test_a_recipe_against_its_reference_and_its_sources(invoke):
    said = invoke("verify", "gradient-descent")
    assert (said.code, said.err) == (0, "")
    assert "numpy" in said.out
    assert "numba" in said.out


def test_the_wrong_reference_is_refuted(invoke):
    said = invoke("verify", "sgd", "--against", "momentum")
    assert (said.code, said.err) == (1, "")


def test_reading_a_map():
    assert names(["lr=alpha", "w = m"]) == {"lr": "alpha", "w": "m"}
    for pair in ("lr", "=a", "a=", "a b=c", "a=b=c"):
        with pytest.raises(UserError):
            names([pair])


def test_verdicts_as_json(verify):
    right, wrong, outside = (
        json.loads(verify(s, "--format", "json").out) for s in (RIGHT, WRONG, OUTSIDE)
    )
    assert list(right) == [
        "schema", "what", "against", "level", "exit_code", "states", "counterexample",
        "not_compared", "notes",
    ]  # fmt: skip
    assert (right["schema"], right["exit_code"]) == ("blrgen.verdict/1", 0)
    assert right["states"][0]["name"] == "m" and right["states"][0]["sizes"] == "every length"
    assert right["counterexample"] is None and right["not_compared"] == []
    assert (wrong["level"], wrong["exit_code"]) == ("refuted", 1)
    found = wrong["counterexample"]
    assert set(found["point"]) == {"m", "g", "rho"} and found["given"] != found["rule"]
    assert found["line"]["number"] in (3, 4)
    assert outside["exit_code"] == 3
    assert outside["not_compared"][0]["line"] == 3
    assert outside["not_compared"][0]["construct"] == "the name str"


def test_a_file_is_not_held_against_a_model(tmp_path, capsys):
    path = tmp_path / "f.py"
    path.write_text("x = 1\n")
    assert main(["verify", str(path), "--against", "beta-bernoulli.model", "--vmp"]) == 2
    said = capsys.readouterr().err
    assert "a file is not held against a model" in said
    assert "verify beta-bernoulli.model with the same flags" in said
