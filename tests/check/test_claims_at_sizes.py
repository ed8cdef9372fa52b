"""Closed forms stated for vectors, matrices and several variables: right, and caught when wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from blrgen.check import check
from blrgen.check.finding import shown

pytestmark = pytest.mark.core

FAMILIES = Path(__file__).resolve().parents[2] / "families"
RIGHT = {
    "gaussian-full": [
        'inverse_mean = ["inv(mu2 - outer(mu1, mu1))*mu1", "-inv(mu2 - outer(mu1, mu1))/2"]',
        'mean = ["m", "inv(S) + outer(m, m)"]',
    ],
    "categorical": ['inverse_mean = ["log(mu) - log(1 - sum(mu))"]'],
    "wishart": ['mean = ["digamma(n/2) + logdet(V) + log(2)", "n*V"]'],
    "matrix-normal": ['mean = ["M", "n*inv(S) + transpose(M)*inv(U)*M"]'],
    "normal-gamma": [
        'mean = ["m*a/b", "1/kappa + m**2*a/b", "digamma(a) - log(b)", "a/b"]',
        'entropy_gradient = ["-eta1", "-eta2", "-eta3", "-eta4"]',
    ],
}
WRONG = [
    ("gaussian-full", "inverse_mean", '"-inv(mu2 - outer(mu1, mu1))/2"', '"-inv(mu2)/2"', 2),
    ("categorical", "inverse_mean", '"log(mu) - log(1 - sum(mu))"', '"log(mu)"', 1),
    ("wishart", "mean", '"n*V"', '"V"', 2),
    ("matrix-normal", "mean", "n*inv(S)", "inv(S)", 2),
    ("normal-gamma", "mean", "1/kappa", "kappa", 2),
]


def findings(folder: Path, name: str, claims: str) -> list[Any]:
    path = folder / f"{name}.toml"
    path.write_text((FAMILIES / path.name).read_text() + f"\n[check]\n{claims}\n")
    return [f for f in check(path, only=("claims",)) if f.stage.startswith("claim")]


@pytest.mark.parametrize("name", [n for n in RIGHT if n != "wishart"])
def test_right_ones_pass(name: str, tmp_path: Path) -> None:
    found = findings(tmp_path, name, "\n".join(RIGHT[name]))
    assert found
    assert all(f.passed and f.level != "not checked" for f in found), [f.text for f in found]


@pytest.mark.parametrize(("name", "key", "before", "after", "index"), WRONG)
def test_wrong_ones_have_the_value_they_should_have(
    name: str, key: str, before: str, after: str, index: int, tmp_path: Path
) -> None:
    (line,) = [c for c in RIGHT[name] if c.startswith(key)]
    assert before in line
    found = {f.stage: f for f in findings(tmp_path, name, line.replace(before, after))}
    wrong = found[f"claim {key}[{index}]"]
    assert not wrong.passed
    assert wrong.should
    assert wrong.should != wrong.given
    assert wrong.point


def test_without_a_closed_form_of_its_own(tmp_path: Path) -> None:
    """Wishart has none: what is claimed of n is still held against the λ it should give."""
    found = findings(tmp_path, "wishart", 'inverse_mean = ["mu1", "-inv(mu2)"]')
    assert [f.passed for f in found] == [False, False]
    assert "should be" in found[1].text
    found = findings(tmp_path, "wishart", RIGHT["wishart"][0])  # right for d = 1 alone
    assert "d = 2" in found[0].text
    assert found[1].passed


def test_long_places_are_shown() -> None:
    assert shown("[[1.0, 2.0], [3.0, 4.0]]") == "[[1.0, 2.0], [3.0, 4.0]]"
