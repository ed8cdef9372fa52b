"""`blrgen show`: geometry as text and as JSON, and numbers at a point."""

from __future__ import annotations

import json

import pytest

from blrgen.cli.point import point
from blrgen.errors import UserError

KEYS = {
    "name", "variable", "support", "statistics", "base_measure", "natural", "working",
    "natural_of_working", "log_partition", "mean", "fisher", "entropy", "entropy_gradient",
    "inverse_mean", "evidence",
}  # fmt: skip
FAMILIES = ["bernoulli-sign", "gaussian", "gaussian-diag", "gaussian-fixed", "gaussian-full"]


@pytest.mark.sweep(8)
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("format_", ["text", "latex", "markdown", "html"])
def test_every_family_in_every_format(invoke, family, format_):
    said = invoke("show", family, "--format", format_)
    assert (said.code, said.err) == (0, "")
    assert len(said.out.splitlines()) > 3


@pytest.mark.parametrize("family", FAMILIES)
def test_json_by_the_contract(invoke, family):
    said = invoke("show", family, "--format", "json")
    shown = json.loads(said.out)
    assert said.code == 0
    assert set(shown) >= KEYS
    assert shown["name"] == family


def test_numbers_at_a_point(invoke):
    from math import cosh, log, tanh

    said = invoke("show", "bernoulli-sign", "--format", "json", "--at", "lam=0.3")
    at = json.loads(said.out)["at"]
    assert at["log_partition"] == pytest.approx(log(2 * cosh(0.3)), rel=1e-12)
    assert at["mean"] == pytest.approx([tanh(0.3)], rel=1e-12)
    assert set(at) == {
        "log_partition", "mean", "fisher", "entropy", "entropy_gradient", "error"
    }  # fmt: skip


def test_reading_a_point():
    assert point("eta1=0.3, eta2=-2") == {"eta1": 0.3, "eta2": -2.0}
    assert point("") == {}


@pytest.mark.parametrize(
    "text", ["eta1", "=3", "eta1=x", "a b=1", "eta1=nan", "x=1e999", "x=1,x=2"]
)
def test_what_is_no_point(text):
    with pytest.raises(UserError):
        point(text)


@pytest.mark.parametrize("text", ["nothing=1", "lam=1,more=2"])
def test_a_point_in_other_names_is_refused(invoke, text):
    said = invoke("show", "bernoulli-sign", "--at", text)
    assert said.code == 2
    assert said.out == ""


def test_a_point_with_vectors():
    assert point("eta=[0.1, 0.2],S=[[1,0],[0,2]], c=3") == {
        "eta": [0.1, 0.2], "S": [[1, 0], [0, 2]], "c": 3.0,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["a=[]", "a=[1", "a=[1,x]", "a=[[[[1]]]]", "a=[1e999]", 'a=["1"]'])
def test_what_is_no_vector(text):
    with pytest.raises(UserError):
        point(text)


GIG = """
name = "gig"
variable = "x"
support = "(0, oo)"
statistics = ["x", "1/x"]
base_measure = "x**(p - 1)"
[natural]
a = "(-oo, 0)"
b = "(-oo, 0)"
[fixed]
p = "(-oo, oo)"
"""


def test_the_member_with_these_mean_parameters(invoke):
    said = invoke("show", "gaussian", "--mean", "mu1=0.5,mu2=2.25", "--format", "json")
    found = json.loads(said.out)
    assert (said.code, found["converged"]) == (0, True)
    assert found["working"] == {"m": 0.5, "v": 2.0}
    assert found["natural"] == {"lam1": 0.25, "lam2": -0.25}
    said = invoke("show", "gaussian", "--mean", "mu1=0.5,mu2=2.25")
    assert said.code == 0
    assert "converged" in said.out


def test_mean_parameters_that_are_refused_or_not_reached(invoke, tmp_path):
    said = invoke("show", "gaussian", "--mean", "mu1=2,mu2=1")
    assert said.code == 2
    assert "no member" in said.err
    path = tmp_path / "gig.toml"
    path.write_text(GIG)
    said = invoke("show", str(path), "--mean", "mu1=1e5,mu2=10,p=-2")
    assert said.code == 3
    assert "NOT CONVERGED" in said.out


@pytest.mark.parametrize("extra", [("--at", "lam1=0,lam2=-1"), ("--format", "latex")])
def test_mean_stands_alone(invoke, extra):
    assert invoke("show", "gaussian", "--mean", "mu1=0,mu2=1", *extra).code == 2


@pytest.mark.parametrize("text", ["mu=1e999999999", "mu=x", "mu=nan", "mu=[]"])
def test_what_is_no_mean(text):
    with pytest.raises(UserError):
        point(text, "--mean", exact=True)
