"""Families of vectors by their components: supports, formulas, sizes, minimality."""

from __future__ import annotations

from pathlib import Path

import pytest
import sympy as sp

from blrgen.algebra.components import Component, head, total
from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.read.domain import read_support
from blrgen.read.expression import parse_ranked
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

K = sp.Symbol("K", integer=True, positive=True)
X, ETA = Component("x", K), Component("eta", K)
NAMES = {"x": X, "eta": ETA, "K": K, "s": sp.Symbol("s", real=True)}


def read(tmp_path: Path, support: str, statistics: str, natural: str, more: str = "") -> Family:
    file = tmp_path / "f.toml"
    file.write_text(
        f'name = "f"\nvariable = "x"\nsupport = "{support}"\nstatistics = {statistics}\n'
        f"{more}\n[natural]\n{natural}\n"
    )
    return read_family(str(file))


@pytest.mark.parametrize(
    ("text", "kind", "size"),
    [
        ("simplex", "simplex", "K"),
        ("simplex in R^4", "simplex", "4"),
        ("sphere", "sphere", "d"),
        ("sphere in R^3", "sphere", "3"),
        ("one-hot", "one-hot", "K"),
        ("{e_1, ..., e_K}", "one-hot", "K"),
        ("{ e_1, ..., e_4 }", "one-hot", "4"),
        ("counts summing to 3", "counts", "K"),
        ("counts summing to 2 in R^3", "counts", "3"),
    ],
)
def test_supports(text: str, kind: str, size: str) -> None:
    found = read_support(text)
    assert (found.kind, found.size, found.text) == (kind, (size,), text)


@pytest.mark.parametrize("text", ["counts summing to 1/2", "counts summing to 0", "{e_1, e_2}"])
def test_no_supports(text: str) -> None:
    with pytest.raises(UserError):
        read_support(text)


@pytest.mark.parametrize(
    ("text", "expected", "rank"),
    [
        ("log(x)", sp.log(X), "vector"),
        ("sum(exp(eta))", total(sp.exp(ETA), K), "scalar"),
        ("sum(2*x + 1)", 2 * total(X, K) + K, "scalar"),
        ("dot(x, eta)", total(X * ETA, K), "scalar"),
        ("x*eta/s", X * ETA / NAMES["s"], "vector"),
        ("prod(exp(x))", sp.exp(total(X, K)), "scalar"),
        ("head(x)", head(X), "vector"),
        ("x/sum(x)", X / total(X, K), "vector"),
        ("x**2 - s", X**2 - NAMES["s"], "vector"),
    ],
)
def test_formulas(text: str, expected: sp.Expr, rank: str) -> None:
    value = parse_ranked(text, NAMES, elementwise=False, components=True)
    assert (value.expr, value.rank) == (expected, rank)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sum(s)", "vector"), ("head(K)", "vector"), ("dot(x, 2)", "vector"),
        ("x + head(x)", "different sizes"), ("sum(head(x)*eta)", "different sizes"),
        ("trace(x)", "cannot be used here"), ("outer(x, x)", "cannot be used here"),
        ("x/0", "division by zero"), ("sum(x, x)", "takes 1 argument"),
    ],
)  # fmt: skip
def test_refused_formulas(text: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        parse_ranked(text, NAMES, elementwise=False, components=True)


def test_a_sum_is_not_for_matrices_or_coordinates() -> None:
    for elementwise in (True, False):
        with pytest.raises(UserError, match="cannot be used here"):
            parse_ranked("sum(s)", NAMES, elementwise=elementwise)


@pytest.mark.parametrize(
    ("support", "statistics", "natural", "relation"),
    [
        ("one-hot", '["x"]', 'a = "R^K"', "x[1] + x[2] + x[3] + x[4] = 1"),
        ("counts summing to 5", '["x"]', 'a = "R^K"', "x[1] + x[2] + x[3] + x[4] = 5"),
        ("simplex", '["x"]', 'a = "R^K"', "x[1] + x[2] + x[3] + x[4] = 1"),
        ("simplex", '["log(x)", "sum(x)"]', 'a = "R^K"\nb = "(0, oo)"', "sum(x) = 1"),
        ("sphere", '["x", "dot(x, x)"]', 'a = "R^d"\nb = "(0, oo)"', "dot(x, x) = 1"),
        ("(0, oo)^d", '["x", "sum(x)"]', 'a = "R^d"\nb = "(0, oo)"', "- sum(x) = 0"),
        ("one-hot", '["head(x)", "head(x)**2"]', 'a = "R^(K-1)"\nb = "R^(K-1)"', " = 0"),
    ],
)
def test_dependent_statistics(tmp_path, support, statistics, natural, relation) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, support, statistics, natural)
    assert "not minimal" in caught.value.what and relation in caught.value.what


@pytest.mark.parametrize(
    ("support", "statistics", "natural"),
    [
        ("one-hot", '["head(x)"]', 'a = "R^(K-1)"'),
        ("counts summing to 2", '["head(x)"]', 'a = "R^(K-1)"'),
        ("simplex", '["log(x)"]', 'a = "(0, oo)^K"'),
        ("simplex", '["log(x)", "dot(x, x)"]', 'a = "(0, oo)^K"\nb = "(0, oo)"'),
        ("sphere", '["x"]', 'a = "R^d"'),
        ("R^d", '["x", "dot(x, x)"]', 'a = "R^d"\nb = "(-oo, 0)"'),
        ("(0, oo)^d", '["log(x)", "sum(x)"]', 'a = "(0, oo)^d"\nb = "(-oo, 0)"'),
    ],
)
def test_independent_statistics(tmp_path, support, statistics, natural) -> None:
    family = read(tmp_path, support, statistics, natural)
    assert not family.elementwise and family.components is not None
    assert isinstance(family.variable, Component)


@pytest.mark.parametrize(
    ("support", "statistics", "natural", "more", "what"),
    [
        ("one-hot", '["x"]', 'a = "R^(K-1)"', "", "a has K - 1 components, its statistic x has K"),
        ("R^d", '["x"]', 'a = "R^d"', 'base_measure = "exp(-x*sum(x))"', "must be a number"),
        ("(0, oo)", '["sum(x)"]', 'a = "(0, oo)"', "", "is of numbers"),
        ("R^d", '["sum(x)"]', 'a = "R^d"', "", "a is a vector, its statistic sum(x) a scalar"),
    ],
)
def test_refused_families(tmp_path, support, statistics, natural, more, what) -> None:
    with pytest.raises(UserError) as caught:
        read(tmp_path, support, statistics, natural, more)
    assert what in caught.value.what
