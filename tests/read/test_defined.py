"""A loss is a number on all of its variable's support, as far as can be seen at some points."""

from __future__ import annotations

import pytest

from blrgen.errors import UserError
from blrgen.read.family import read_family
from blrgen.read.loss import read_loss

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    ("family", "text", "point"),
    [
        ("gaussian", "log(theta)", "0"),
        ("gaussian", "1/theta", "0"),
        ("gaussian", "sqrt(theta)", "-1/2"),
        ("gaussian", "y*log(1 + theta)", "-1"),
        ("gaussian", "loggamma(theta)", "0"),
        ("gaussian-diag", "(y - 1/theta)**2", "0"),
        ("gaussian", "theta**(1/3)", "-1/2"),
        ("gaussian", "1000*log(theta)", "0"),
        ("poisson", "a/x", "0"),
        ("bernoulli-sign", "log(theta)", "-1"),
        ("beta", "sqrt(x - 1)", "1/2"),
    ],
)
def test_what_is_no_number_somewhere_is_refused(family, text, point):
    declared = read_family(family)
    with pytest.raises(UserError, match=rf"the loss is not defined at \w+ = {point}\n") as refusal:
        read_loss(text, declared)
    assert declared.support.text in refusal.value.why


@pytest.mark.parametrize(
    ("family", "text"),
    [
        ("gaussian", "1/(theta - a)"),
        ("gaussian", "theta**a"),
        ("gaussian", "log(1 + exp(-y*theta))"),
        ("gaussian", "exp(exp(exp(exp(theta))))"),
        ("gaussian", "exp(exp(exp(exp(exp(exp(exp(exp(theta**2))))))))"),
        ("gaussian-diag", "cosh(cosh(cosh(cosh(cosh(theta)))))"),
        ("gaussian", "abs(theta)"),
        ("gaussian", "log(1 + a*theta**2)"),
        ("gamma", "log(x) + 1/x"),
        ("beta", "log(x) + log(1 - x)"),
        ("poisson", "loggamma(x + 1)"),
        ("poisson", "a/(x + 1)"),
    ],
)
def test_what_is_a_number_for_some_data_is_taken(family, text):
    assert read_loss(text, read_family(family)).expr is not None


@pytest.mark.parametrize("name", ["nan", "inf", "NaN", "Infinity", "None", "true"])
def test_words_for_what_is_no_number_are_no_data(name):
    with pytest.raises(UserError, match=f"{name} is no name of data|{name}"):
        read_loss(f"{name}*theta", read_family("gaussian"))
