"""Mistakes that published libraries made, each caught when it is put into a family file.

Every case is a right file with one wrong line; the right one passes, the wrong one is refuted
on the stage named here, with the value it should have.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import pytest

from blrgen.check import Finding, check

pytestmark = pytest.mark.core

GAMMA = """
name = "gamma-here"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "1/x"
log_partition = "loggamma(eta1) - eta1*log(-eta2)"
[natural]
eta1 = "(0, oo)"
eta2 = "(-oo, 0)"
[working]
a = { domain = "(0, oo)", natural = "eta1" }
b = { domain = "(0, oo)", natural = "-eta2" }
[check]
mean = ["digamma(a) - log(b)", "a/b"]
"""

NORMAL = """
name = "normal-here"
variable = "x"
support = "(-oo, oo)"
statistics = ["x", "x**2"]
[natural]
eta1 = { domain = "(-oo, oo)", working = "mu/v" }
eta2 = { domain = "(-oo, 0)", working = "-1/(2*v)" }
[working]
mu = { domain = "(-oo, oo)", natural = "-eta1/(2*eta2)" }
v = { domain = "(0, oo)", natural = "-1/(2*eta2)" }
[check]
mean = ["mu", "mu**2 + v"]
entropy = "log(2*pi*v)/2 + 1/2"
"""

LOG_NORMAL = """
name = "log-normal-here"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "log(x)**2"]
base_measure = "1/x"
log_partition = "-eta1**2/(4*eta2) - log(-2*eta2)/2 + log(2*pi)/2"
[natural]
eta1 = { domain = "(-oo, oo)", working = "mu/v" }
eta2 = { domain = "(-oo, 0)", working = "-1/(2*v)" }
[working]
mu = "(-oo, oo)"
v = "(0, oo)"
[check]
entropy = "mu + log(2*pi*v)/2 + 1/2"
"""

CATEGORICAL = """
name = "categorical-here"
variable = "x"
support = "{0, 1, 2}"
statistics = ["x*(2-x)", "x*(x-1)/2"]
[natural]
eta1 = "(-oo, oo)"
eta2 = "(-oo, oo)"
[check]
mean = ["1/(1 + exp(-eta1) + exp(eta2 - eta1))", "1/(1 + exp(-eta2) + exp(eta1 - eta2))"]
"""

POISSON = """
name = "poisson-here"
variable = "x"
support = "integers >= 0"
statistics = ["x"]
base_measure = "1/factorial(x)"
log_partition = "exp(eta)"
[natural]
eta = "(-oo, oo)"
[check]
inverse_mean = ["log(mu)"]
"""

EXPONENTIAL = """
name = "exponential-here"
variable = "x"
support = "(0, oo)"
statistics = ["x"]
log_partition = "-log(-eta)"
[natural]
eta = "(-oo, 0)"
[working]
r = { domain = "(0, oo)", natural = "-eta" }
[check]
mean = ["1/r"]
"""

PACKED = """
name = "packed-here"
variable = ["x", "y"]
support = ["(-oo, oo)", "(-oo, oo)"]
statistics = ["x**2", "y**2", "x*y"]
log_partition = "log(2*pi) - log(4*eta1*eta2 - eta3**2)/2"
[natural]
eta1 = "(-oo, 0)"
eta2 = "(-oo, 0)"
eta3 = "(-2*sqrt(eta1*eta2), 2*sqrt(eta1*eta2))"
[check]
mean = [
  "-2*eta2/(4*eta1*eta2 - eta3**2)",
  "-2*eta1/(4*eta1*eta2 - eta3**2)",
  "eta3/(4*eta1*eta2 - eta3**2)",
]
"""


@dataclass(frozen=True)
class Mistake:
    """What was published, as one change of a right file, and the stage that refutes it."""

    right: str
    old: str
    new: str
    stage: str
    should: str = ""


MISTAKES = {
    "gamma gradient with the sign flipped": Mistake(
        GAMMA, '"a/b"', '"-a/b"', "claim mean[2]", r"should be 0\.4444"
    ),
    "one over the variance for one over twice the variance": Mistake(
        NORMAL, 'working = "-1/(2*v)"', 'working = "-1/v"', "charts"
    ),
    "one over the variance, in the second moment": Mistake(
        NORMAL, '"mu**2 + v"', '"mu**2 + 2*v"', "claim mean[2]", "should be"
    ),
    "absolute value of the mean of a log-normal": Mistake(
        LOG_NORMAL, '"mu + log', '"abs(mu) + log', "claim entropy", "should be"
    ),
    "absolute value in the log-partition of a log-normal": Mistake(
        LOG_NORMAL, '"-eta1**2/(4*eta2) -', '"abs(eta1)/2 - eta1**2/(4*eta2) -', "log-partition",
        "normalises with",
    ),
    "categorical gradient that is no number at 800": Mistake(
        CATEGORICAL,
        '"1/(1 + exp(-eta1) + exp(eta2 - eta1))"',
        '"exp(eta1)/(1 + exp(eta1) + exp(eta2))"',
        "claim mean[1]",
        r"double precision should be 1\.0 at eta1 = 800.*not nan",
    ),
    "log-partition that is zero": Mistake(
        EXPONENTIAL, '"-log(-eta)"', '"0"', "log-partition", "normalises with"
    ),
    "categorical with one indicator for every category": Mistake(
        CATEGORICAL.partition("[check]")[0],
        '"x*(2-x)", "x*(x-1)/2"]\n[natural]\n',
        '"x*(2-x)", "x*(x-1)/2", "(1-x)*(2-x)/2"]\n[natural]\neta0 = "(-oo, oo)"\n',
        "minimality",
        r"= 1",
    ),
    "its Fisher matrix is singular": Mistake(
        CATEGORICAL.partition("[check]")[0],
        '"x*(2-x)", "x*(x-1)/2"]\n[natural]\n',
        '"x*(2-x)", "x*(x-1)/2", "(1-x)*(2-x)/2"]\n[natural]\neta0 = "(-oo, oo)"\n',
        "convexity",
        "not positive definite",
    ),
    "redundant statistics on a support of two points": Mistake(
        CATEGORICAL.partition("[check]")[0].replace('"x*(2-x)", "x*(x-1)/2"', '"x", "x**2"'),
        "{0, 1, 2}", "{0, 1}", "minimality", r"= 0",
    ),
    "off-diagonal of a packed symmetric matrix counted twice, in the log-partition": Mistake(
        PACKED, "- log(4*eta1*eta2 - eta3**2)/2", "- log(4*eta1*eta2 - 4*eta3**2)/2",
        "log-partition", "normalises with",
    ),
    "off-diagonal of a packed symmetric matrix counted twice, in the mean": Mistake(
        PACKED, '"eta3/(4', '"2*eta3/(4', "claim mean[3]", "should be"
    ),
    "inversion that fails silently": Mistake(
        POISSON, '"log(mu)"', '"log(mu - 1/2) + 1/(2*mu)"', "claim inverse_mean[1]", "should be"
    ),
    "entropy without the base measure's term": Mistake(
        LOG_NORMAL, '"mu + log', '"log', "claim entropy", "should be"
    ),
    "support that begins one later": Mistake(
        POISSON, "integers >= 0", "integers >= 1", "log-partition", "normalises with"
    ),
    "support on the whole line": Mistake(
        EXPONENTIAL, 'support = "(0, oo)"', 'support = "(-oo, oo)"', "log-partition"
    ),
    "rate and scale exchanged": Mistake(
        EXPONENTIAL, 'natural = "-eta"', 'natural = "-1/eta"', "claim mean[1]", "should be"
    ),
    "base measure with a factor of x too many": Mistake(
        GAMMA, 'base_measure = "1/x"', 'base_measure = "1"', "log-partition", "normalises with"
    ),
    "log-normal without its Jacobian": Mistake(
        LOG_NORMAL, 'base_measure = "1/x"', 'base_measure = "1"', "log-partition", "normalises with"
    ),
    "domain on which the density is not integrable": Mistake(
        GAMMA, 'eta1 = "(0, oo)"', 'eta1 = "(-1/10, oo)"', "normalised", "cannot be normalised"
    ),
}  # fmt: skip


def found(folder: Path, text: str, only: Collection[str] = ()) -> list[Finding]:
    path = folder / "family.toml"
    path.write_text(text)
    return check(path, only=only)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistake_is_caught(tmp_path: Path, name: str) -> None:
    mistake = MISTAKES[name]
    assert mistake.right.count(mistake.old) == 1
    stages = ("claims" if mistake.stage.startswith("claim ") else mistake.stage,)
    wrong = {
        f.stage: f.text
        for f in found(tmp_path, mistake.right.replace(mistake.old, mistake.new), stages)
        if not f.passed
    }
    assert mistake.stage in wrong, wrong
    assert re.search(mistake.should, wrong[mistake.stage], re.S)


@pytest.mark.sweep(6)
@pytest.mark.long
@pytest.mark.parametrize(
    "right", [GAMMA, NORMAL, LOG_NORMAL, CATEGORICAL, POISSON, EXPONENTIAL],
    ids=["gamma", "normal", "log-normal", "categorical", "poisson", "exponential"],
)  # fmt: skip
def test_the_right_file_passes(tmp_path: Path, right: str) -> None:
    assert [f for f in found(tmp_path, right) if not f.passed] == []


def test_the_right_packed_file_passes(tmp_path: Path) -> None:
    stages = ("minimality", "log-partition", "normalised", "mean", "covariance", "claims")
    lines = found(tmp_path, PACKED, stages)
    assert [f for f in lines if f.status != "ok"] == []
    assert len(lines) == 9


@pytest.mark.parametrize("at", ["eta1=-1,eta2=-1", "eta1=1,eta2=1", "eta1=0,eta2=-1"])
def test_parameters_outside_the_domain_have_no_answer(invoke, tmp_path: Path, at: str) -> None:
    """Not the nonsense that a formula gives there: which one is outside, and of what."""
    path = tmp_path / "family.toml"
    path.write_text(GAMMA)
    said = invoke("show", str(path), "--at", at)
    assert (said.code, said.out) == (2, "")
    assert "outside" in said.err
