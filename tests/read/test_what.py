"""WHAT: words for families and recipes, and flags put into a recipe's road."""

from __future__ import annotations

import pytest

from blrgen.approximate.tools.road import derive
from blrgen.errors import UserError
from blrgen.read.recipe import read_recipes
from blrgen.read.what import both, find_what, inserted

pytestmark = pytest.mark.core
ADAM = read_recipes()["adam"]


def test_one_name_for_two_things():
    assert both("laplace")
    assert not both("adam")
    assert find_what("laplace").recipe == read_recipes()["laplace"]
    assert find_what("recipe:laplace") == find_what("laplace")
    assert find_what("family:laplace").recipe is None
    assert derive("family:laplace").family.name == "laplace"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("family:adam", "no family called 'adam'"),
        ("recipe:gaussian", "no recipe called 'gaussian'"),
        ("recipe:", "no recipe called ''"),
        ("famly:gaussian", "no family or recipe called 'famly:gaussian'"),
        ("gausian", "did you mean 'gaussian'"),
    ],
)
def test_what_is_neither(word, said):
    with pytest.raises(UserError, match=said):
        find_what(word)


def test_a_flag_goes_behind_the_one_that_is_named():
    road = inserted(ADAM, ["stochastic:prior=apart"])
    own = list(ADAM.approximations)
    assert list(road) == [*own[:2], ("prior", "apart"), *own[2:]]
    assert inserted(ADAM, ["hessian=squared-gradient:prior=total"])[3] == ("prior", "total")
    assert inserted(ADAM, []) == ADAM.approximations
    twice = inserted(ADAM, ["delta:rho=1", "rho:prior=total"])
    assert twice[1:3] == (("rho", "1"), ("prior", "total"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stochastik:prior=apart", "did you mean 'stochastic'"),
        ("hessian=exact:prior=apart", "adam makes no approximation 'hessian=exact'"),
        ("prior=apart", "is not AFTER:FLAG"),
        (":prior", "is not AFTER:FLAG"),
        ("delta:", "is not AFTER:FLAG"),
        ("delta:Prior!", "not an approximation"),
    ],
)
def test_what_cannot_be_inserted(text, said):
    with pytest.raises(UserError, match=said):
        inserted(ADAM, [text])


def test_a_road_that_was_changed_is_no_longer_the_recipe():
    d = derive("adam", insert=["stochastic:prior=apart"])
    assert d.added == (("prior", "apart"),)
    assert not d.is_recipe
    assert derive("adam").is_recipe
    with pytest.raises(UserError, match="--insert is for recipes"):
        derive("gaussian", insert=["delta:rho=1"])
