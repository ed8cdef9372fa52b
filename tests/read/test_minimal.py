"""Minimality: dependent statistics are found with their relation, independent ones pass."""

from __future__ import annotations

import tomllib

import pytest

from blrgen.core import Family
from blrgen.errors import UserError
from blrgen.read.declaration import Source
from blrgen.read.family import family_of

pytestmark = pytest.mark.core

LINE, HALF, COUNTS = "(-oo, oo)", "(0, oo)", "integers >= 0"


def family(statistics: list[str], support: str, domains: list[str], fixed: str = "") -> Family:
    rows = "\n".join(f'eta{i} = "{d}"' for i, d in enumerate(domains))
    text = (
        f'name = "f"\nvariable = "x"\nsupport = "{support}"\nstatistics = {statistics!r}\n'
        f"[fixed]\n{fixed}\n[natural]\n{rows}\n"
    )
    return family_of(Source("f.toml", text, tomllib.loads(text)))


def scalars(statistics: list[str], support: str, fixed: str = "") -> Family:
    return family(statistics, support, [LINE] * len(statistics), fixed)


@pytest.mark.parametrize(
    ("statistics", "support"),
    [
        (["x"], "{-1, 1}"),
        (["x", "x**2"], "{-1, 0, 1}"),
        (["x"], "{sqrt(2), 1}"),
        (["x", "x**2", "x**3", "x**4", "x**5"], LINE),
        (["log(x)", "log(1 - x)"], "(0, 1)"),
        (["x", "1/x", "log(x)"], HALF),
        (["abs(x)", "x"], LINE),
        (["abs(x - 3)", "x"], LINE),
        (["cos(x)", "sin(x)"], "[0, 2*pi)"),
        (["exp(x)", "exp(2*x)", "x"], LINE),
        (["x", "log(factorial(x))"], COUNTS),
        (["x", "x**2"], "integers"),
        (["loggamma(x)", "loggamma(x + 1/2)"], HALF),
        (["besseli(0, x)", "besseli(1, x)"], HALF),
    ],
)
def test_independent(statistics: list[str], support: str) -> None:
    assert len(scalars(statistics, support).statistics) == len(statistics)


@pytest.mark.parametrize(
    ("statistics", "support", "relation"),
    [
        (["x", "1 - x"], "(0, 1)", "x + (1 - x) = 1"),
        (["x", "x**2"], "{-1, 1}", "x**2 = 1"),
        (["x", "x**2"], "{-1, 1}^d", "x**2 = 1"),
        (["x", "x**2"], "{0, 1}", "x - x**2 = 0"),
        (["x", "x**2", "x**3"], "{-1, 0, 1}", "x - x**3 = 0"),
        (["x", "2*x"], LINE, "2*x - 2*x = 0"),
        (["x", "x**2", "(x + 1)**2"], "R^d", "2*x + x**2 - (x + 1)**2 = -1"),
        (["x/3", "x/2 + 1/7"], LINE, "21*x/3 - 14*(x/2 + 1/7) = -2"),
        (["log(x)", "log(2*x)"], HALF, "log(x) - log(2*x) = -0.69314718"),
        (["log(x)", "log(x**2)"], HALF, "2*log(x) - log(x**2) = 0"),
        (["abs(x)", "x"], HALF, "abs(x) - x = 0"),
        (["cos(x)**2", "sin(x)**2"], LINE, "cos(x)**2 + sin(x)**2 = 1"),
        (["exp(x)", "exp(x + 1)"], LINE, "2.7182818*exp(x) - exp(x + 1) = 0"),
        (["x", "gamma(x + 1)", "factorial(x)"], COUNTS, "gamma(x + 1) - factorial(x) = 0"),
        (["loggamma(x)", "log(x)", "loggamma(x + 1)"], HALF,
         "loggamma(x) + log(x) - loggamma(x + 1) = 0"),
    ],
)  # fmt: skip
def test_dependent(statistics: list[str], support: str, relation: str) -> None:
    with pytest.raises(UserError) as caught:
        scalars(statistics, support)
    assert caught.value.what == f"the statistics are not minimal: {relation}"


def test_fixed_constants_take_some_value() -> None:
    assert scalars(["log(x/k)"], "(k, oo)", 'k = "(0, oo)"')
    with pytest.raises(UserError, match="not minimal"):
        scalars(["log(x/k)", "log(x)"], "(k, oo)", 'k = "(0, oo)"')


@pytest.mark.parametrize(
    ("statistics", "support", "domains"),
    [
        (["x", "outer(x, x)"], "R^d", ["R^d", "-SPD"]),
        (["x", "logdet(x)"], "SPD", ["-SPD", HALF]),
        (["x", "inv(x)"], "SPD", ["-SPD", "-SPD"]),
        (["x", "transpose(x)*x"], "R^(n,p)", ["R^(n,p)", "-SPD"]),
    ],
)
def test_vectors_and_matrices_independent(
    statistics: list[str], support: str, domains: list[str]
) -> None:
    assert not family(statistics, support, domains).elementwise


@pytest.mark.parametrize(
    ("statistics", "support", "domains", "relation"),
    [
        (["x", "outer(x, x)", "dot(x, x)"], "R^d", ["R^d", "-SPD", HALF], "dot(x, x) = 0"),
        (["x", "2*x", "outer(x, x)"], "R^d", ["R^d", "R^d", "-SPD"], "2*x[1] - (2*x)[1] = 0"),
        (["x", "trace(x)"], "SPD", ["-SPD", HALF], "x[1,1] + x[2,2] + x[3,3] - trace(x) = 0"),
        (["logdet(x)", "logdet(2*x)"], "SPD", [HALF, HALF], "logdet(x) - logdet(2*x) = -2.0794415"),
        (["logdet(x)", "logdet(inv(x))"], "SPD", [HALF, HALF], "logdet(x) + logdet(inv(x)) = 0"),
    ],
)
def test_vectors_and_matrices_dependent(
    statistics: list[str], support: str, domains: list[str], relation: str
) -> None:
    with pytest.raises(UserError) as caught:
        family(statistics, support, domains)
    assert relation in caught.value.what


@pytest.mark.parametrize(
    ("statistic", "support"),
    [("log(x)", LINE), ("sqrt(x)", LINE), ("1/x", COUNTS), ("log(x - 1)", "(0, 1)"),
     ("logdet(x - 100)", "SPD")],
)  # fmt: skip
def test_statistics_that_are_not_real(statistic: str, support: str) -> None:
    with pytest.raises(UserError, match="not a real number on the support"):
        family([statistic], support, [LINE])


def test_statistics_that_explode() -> None:
    with pytest.raises(UserError, match="grow too fast"):
        scalars(["exp(exp(exp(exp(exp(x)))))"], LINE)
    with pytest.raises(UserError, match="grow too fast"):
        scalars(["2**(2**(2**(2**x)))"], COUNTS)
