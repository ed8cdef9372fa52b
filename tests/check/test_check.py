"""`check` passes what is right and names what is wrong, with the value it should have."""

from __future__ import annotations

from pathlib import Path

import pytest

from blrgen.check import check
from blrgen.read.family import list_families

GAMMA = """
name = "mine"
title = "Gamma"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
base_measure = "{base}"
log_partition = "{log_partition}"
[natural]
eta1 = "(0, oo)"
eta2 = "{domain}"
[working]
a = {{ domain = "(0, oo)", natural = "eta1" }}
b = {{ domain = "(0, oo)", natural = "-eta2" }}
"""
RIGHT = {
    "base": "1/x",
    "log_partition": "loggamma(eta1) - eta1*log(-eta2)",
    "domain": "(-oo, 0)",
}


def written(folder: Path, **changes: str) -> str:
    path = folder / "mine.toml"
    path.write_text(GAMMA.format(**{**RIGHT, **changes}))
    return str(path)


@pytest.mark.parametrize("name", list_families())
def test_shipped_families_pass(name: str) -> None:
    findings = check(name)
    assert all(f.passed for f in findings), findings
    assert findings[-1].stage == "rule"


def test_a_family_from_its_file_alone(tmp_path: Path) -> None:
    findings = check(written(tmp_path))
    assert [f.stage for f in findings if not f.passed] == []
    assert {"normalised", "mean", "covariance", "entropy", "rule"} <= {f.stage for f in findings}


@pytest.mark.parametrize(
    "changes",
    [
        {"log_partition": "loggamma(eta1) + eta1*log(-eta2)"},
        {"log_partition": "loggamma(eta1) - eta1*log(-eta2) + 1/1000000"},
        {"base": "1/x**2"},
    ],
)
def test_a_wrong_line_is_named_with_its_value(tmp_path: Path, changes: dict[str, str]) -> None:
    wrong = next(f for f in check(written(tmp_path, **changes)) if not f.passed)
    assert wrong.stage == "log-partition"
    assert "normalises with" in wrong.text
    assert "eta1 = " in wrong.text


def test_a_broken_declaration_ends_the_report(tmp_path: Path) -> None:
    path = tmp_path / "broken.toml"
    path.write_text('name = "broken"\nstatistics = [')
    (only,) = check(str(path))
    assert not only.passed
    assert "broken.toml" in only.text
