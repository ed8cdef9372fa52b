"""Expectations that do not exist are said not to; those that exist are left alone."""

from __future__ import annotations

import pytest

from blrgen.approximate.tools.road import derive
from blrgen.errors import UserError
from blrgen.expect.exists import NoExpectation, line_of, look
from blrgen.geometry.geometry import geometry_of
from blrgen.geometry.integrate import exponent_of
from blrgen.read.family import read_family
from blrgen.read.loss import read_loss

# family, loss, where it is infinite
INFINITE = [
    ("gamma", "1/x", "x goes to 0"),
    ("gamma", "exp(x)", "x goes to ∞"),
    ("gamma", "exp(x**2)", "any member"),
    ("gamma", "1/(x - 1/3)", "any member"),
    ("gamma", "exp(y*x) + exp(x**2)", "any member"),
    ("beta", "1/x**2", "x goes to 0"),
    ("beta", "1/(1 - x)", "x goes to 1"),
    ("family:laplace", "exp(x/2)", "x goes to ∞"),
    ("family:laplace", "exp(x**2)", "any member"),
    ("inverse-gamma", "(y - x)**2", "x goes to ∞"),
    ("pareto", "x", "x goes to ∞"),
    ("poisson", "exp(x**2)", "any member"),
    ("poisson", "factorial(x)", "x goes to ∞"),
    ("geometric", "exp(x/10)", "x goes to ∞"),
    ("log-normal", "exp(sqrt(x))", "x goes to ∞"),
    ("exponential", "1/x", "any member"),
    ("weibull", "exp(x)", "x goes to ∞"),
    ("gaussian-diag", "exp(theta**4)", "any member"),
    ("gaussian", "1/(theta - a)", "any member"),
    ("gaussian", "sqrt(abs(theta - 1/3))", "second derivative"),
    ("gaussian-full", "exp(dot(x, theta)**4)", "any member"),
    ("gaussian-isotropic", "sum(exp(theta**4))", "any member"),
]
FINITE = [
    ("gamma", "log(x)**2"), ("gamma", "x*log(x)"), ("gamma", "sqrt(x)"), ("gamma", "x**3"),
    ("beta", "-y*log(x) - (1 - y)*log(1 - x)"), ("beta", "log(x/(1 - x))**2"),
    ("poisson", "2**x"), ("poisson", "loggamma(x + 1)"), ("inverse-gamma", "1/x"),
    ("pareto", "log(x)"), ("log-normal", "x**3"), ("log-normal", "1/x**5"),
    ("weibull", "x**7"), ("rayleigh", "1/x"), ("exponential", "1/sqrt(x)"), ("laplace", "x**4"),
    ("gaussian", "exp(theta)"), ("gaussian", "log((theta - 1/3)**2)"), ("gaussian", "cos(theta)"),
    ("gaussian-diag", "log(1 + exp(-y*theta))"), ("generalized-inverse-gaussian", "1/x**3"),
]  # fmt: skip


@pytest.mark.parametrize(("family", "loss", "words"), INFINITE)
def test_an_infinite_expectation_is_refused(family, loss, words):
    with pytest.raises(NoExpectation, match="does not exist") as refused:
        derive(family, loss=loss)
    assert words in str(refused.value)


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("family", "loss"), FINITE)
def test_a_finite_expectation_is_told_from_an_infinite_one(family, loss):
    declared = read_family(family)
    geometry = geometry_of(declared)
    line = line_of(declared, exponent_of(declared, geometry.ring))
    seen = look(read_loss(loss, declared).expr, line)
    assert (seen.infinite, seen.told) == (None, True)


def test_what_is_infinite_for_some_data_only_is_said_in_the_derivation():
    said = derive("gamma", loss="exp(y*x)").steps[-1].because
    assert "is infinite for some values, such as eta1 = " in said and "y = " in said


def test_what_is_not_told_is_said():
    said = derive("gaussian", loss="exp(exp(exp(exp(exp(theta)))))").steps[-1].because
    assert "whether the expectation of the loss is finite was not found out" in said


@pytest.mark.parametrize(
    ("family", "loss", "flags"),
    [
        ("gaussian-diag", "exp(theta**4)", ("delta",)),
        ("gaussian-full", "exp(dot(x, theta)**4)", ("delta",)),
        ("gaussian-diag", "exp(theta**2)", ("delta", "square-root")),
    ],
)
def test_a_loss_at_the_mean_alone_needs_no_expectation(family, loss, flags):
    derive(family, flags, loss=loss)


def test_ways_around_are_proposed_as_far_as_they_derive():
    with pytest.raises(UserError) as with_delta:
        derive("gaussian-diag", loss="exp(theta**4)")
    assert "--delta" in with_delta.value.how and "no --loss" in with_delta.value.how
    with pytest.raises(UserError) as without:
        derive("beta", loss="1/x**2")  # E[1/x²]: the mean is no place that its rule probes
    assert "--delta" not in without.value.how and "no --loss" in without.value.how


def test_a_users_family_is_looked_at_as_well(tmp_path):
    path = tmp_path / "half.toml"
    path.write_text(
        'name = "half"\nvariable = "x"\nsupport = "(0, oo)"\nstatistics = ["x**2"]\n'
        '[natural]\neta = "(-oo, 0)"\n'
    )
    derive(str(path), loss="x**3")
    with pytest.raises(NoExpectation):
        derive(str(path), loss="1/x")
    with pytest.raises(NoExpectation):
        derive(str(path), loss="exp(x**2)")
