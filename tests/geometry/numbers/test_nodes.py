"""Nodes for what has no closed form: structure, derivatives, printing, numbers."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import mpmath
import pytest
import sympy as sp

from blrgen.core import Family
from blrgen.geometry.numbers.nodes import log_partition_node, mean_node
from blrgen.read.family import read_family
from blrgen.text.expression import ascii, latex, mathml, unicode
from blrgen.value.evaluate import evaluate

pytestmark = pytest.mark.core

QUARTIC = """
name = "quartic"
variable = "x"
support = "(-oo, oo)"
statistics = ["x"]
base_measure = "exp(-c*x**4)"
[natural]
eta = "(-oo, oo)"
[fixed]
c = "(0, oo)"
"""


@pytest.fixture
def family(tmp_path: Path) -> Family:
    path = tmp_path / "quartic.toml"
    path.write_text(QUARTIC)
    return read_family(path)


def test_nodes_of_one_declaration_are_equal(family: Family, tmp_path: Path) -> None:
    other = tmp_path / "again.toml"
    other.write_text(QUARTIC)
    again = read_family(other)
    assert log_partition_node(again) == log_partition_node(family)
    assert mean_node(again, family.variable**2) == mean_node(family, family.variable**2)
    assert mean_node(family, family.variable) != mean_node(family, family.variable**2)
    other.write_text(QUARTIC.replace("x**4", "x**6"))
    assert log_partition_node(read_family(other)) != log_partition_node(family)


def test_pickle_and_copy(family: Family) -> None:
    node = log_partition_node(family) + mean_node(family, family.variable**2)
    assert pickle.loads(pickle.dumps(node)) == node
    assert copy.deepcopy(node) == node


def test_expectations_are_linear(family: Family) -> None:
    x, eta = family.variable, family.natural[0].symbol
    assert mean_node(family, 3 + eta * x) == 3 + eta * mean_node(family, x)


def test_derivatives_are_covariances(family: Family) -> None:
    x, eta, c = family.variable, family.natural[0].symbol, family.fixed[0].symbol
    a, mean = log_partition_node(family), mean_node(family, family.variable)
    square = mean_node(family, x**2)
    assert a.diff(eta) == mean
    assert a.diff(eta, 2) == square - mean**2
    assert a.diff(c) == -mean_node(family, x**4)
    assert a.subs(eta, 2 * eta).diff(eta) == 2 * mean.subs(eta, 2 * eta)


def test_numbers_at_any_precision(family: Family) -> None:
    eta, c = family.natural[0].symbol, family.fixed[0].symbol
    with mpmath.workdps(40):
        line = [-mpmath.inf, 0, mpmath.inf]
        at = mpmath.mpf(1) / 3
        total, first = (
            mpmath.quad(lambda x, k=k: x**k * mpmath.exp(at * x - 2 * x**4), line) for k in (0, 1)
        )
        truth = mpmath.log(total), first / total
    a = log_partition_node(family)
    for digits in (16, 33):
        for e, value in zip((a, a.diff(eta)), truth, strict=True):
            found = e.subs({eta: sp.Rational(1, 3), c: 2}).evalf(digits)
            with mpmath.workdps(40):
                assert abs(mpmath.mpf(found._mpf_) - value) < mpmath.mpf(10) ** (1 - digits)
    with mpmath.workdps(30):
        found = evaluate(a.diff(eta), {eta: mpmath.mpf(1) / 3, c: mpmath.mpf(2)})
        assert abs(found - truth[1]) < mpmath.mpf(10) ** -28


def test_printing(family: Family) -> None:
    eta = family.natural[0].symbol
    square = mean_node(family, family.variable**2)
    assert str(square) == ascii(square) == "E[x**2](eta, c)"
    assert unicode(square) == "𝔼_q[x²]"
    assert latex(square) == r"\mathbb{E}_q\left[x^{2}\right]"
    assert "𝔼" in mathml(square)
    assert unicode(square.subs(eta, 2 * eta)) == "𝔼[x²](2η, c)"
    assert unicode(log_partition_node(family)) == "A(η, c)"
