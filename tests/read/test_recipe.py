"""Recipes: data only, checked, without SymPy."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from blrgen.errors import UserError
from blrgen.read.family import find_family
from blrgen.read.recipe import read_approximation, read_recipes

pytestmark = pytest.mark.core

GOOD = """\
[my-adam]
title = "Adam, mine"
family = "gaussian-diag"
approximations = ["delta", "hessian=squared-gradient", "rho=1", "tau=0.5"]
loss = "theta**2"
citation = "Nobody (2025)"

[my-adam.defaults]
alpha = "1e-3"
s = "c*2"

[other]
title = "Other"
family = "gaussian"
approximations = []
"""


@pytest.fixture
def read(tmp_path: Path):
    def write(text: str):
        file = tmp_path / "r.toml"
        file.write_text(text, encoding="utf-8")
        return read_recipes(file)

    return write


def test_a_recipe(read) -> None:
    found = read(GOOD)
    assert list(found) == ["my-adam", "other"]
    r = found["my-adam"]
    assert (r.name, r.title, r.family) == ("my-adam", "Adam, mine", "gaussian-diag")
    assert r.approximations == (
        ("delta", None), ("hessian", "squared-gradient"), ("rho", "1"), ("tau", "0.5"),
    )  # fmt: skip
    assert r.defaults == (("alpha", "1e-3"), ("s", "c*2"))
    assert (r.loss, r.citation) == ("theta**2", "Nobody (2025)")
    assert found["other"].approximations == found["other"].defaults == ()


def test_the_recipes_that_ship() -> None:
    found = read_recipes()
    assert {"adam", "sgd", "newton"} <= set(found)
    for recipe in found.values():
        assert find_family(recipe.family).is_file()


@pytest.mark.parametrize(
    ("old", "new", "line", "word"),
    [
        ("[my-adam]", "[My Adam]", 1, "TOML"),
        ("[my-adam]", "[Adam]", 1, "lowercase"),
        ('title = "Adam, mine"\n', "", 0, "missing key 'title'"),
        ('title = "Adam, mine"', 'titel = "x"', 2, "did you mean 'title'"),
        ('title = "Adam, mine"', "title = 3", 2, "must be text"),
        ('family = "gaussian-diag"', 'family = "Gauss!"', 3, "lowercase"),
        ('"delta"', "3", 4, "must be text"),
        ('"delta"', '"Delta"', 4, "not an approximation"),
        ('"delta"', '"delta="', 4, "not an approximation"),
        ('"delta"', '"delta=\\"\\nx"', 4, "not an approximation"),
        (
            '["delta", "hessian=squared-gradient", "rho=1", "tau=0.5"]',
            '"delta"',
            4,
            "must be a list",
        ),
        ('"theta**2"', '"theta.x"', 5, "attributes"),
        ('"1e-3"', "0.001", 9, "must be text"),
        ('"1e-3"', '"__import__(1)"', 9, "__import__"),
        ('alpha = "1e-3"', '"al pha" = "1"', 9, "ASCII"),
        ('title = "Adam, mine"', "title = mine", 2, "not valid TOML"),
    ],
)
def test_mistakes(read, old: str, new: str, line: int, word: str) -> None:
    assert old in GOOD
    with pytest.raises(UserError) as caught:
        read(GOOD.replace(old, new, 1))
    assert word in str(caught.value)
    if line:
        assert f"r.toml:{line}" in str(caught.value)


def test_a_recipe_that_is_no_table(read) -> None:
    with pytest.raises(UserError, match="must be a table"):
        read("adam = 3\n")


def test_approximations_as_text() -> None:
    assert read_approximation("delta") == ("delta", None)
    assert read_approximation("precision=old") == ("precision", "old")
    assert tomllib  # the standard reader is all that is needed


def test_reading_recipes_needs_no_sympy(root: Path) -> None:
    code = "import sys; from blrgen.read.recipe import read_recipes; read_recipes(); " \
        "sys.exit('sympy' in sys.modules or 'numpy' in sys.modules)"  # fmt: skip
    assert subprocess.run([sys.executable, "-c", code], cwd=root, timeout=60).returncode == 0
