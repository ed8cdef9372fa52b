"""What a file's mistakes are answered with: the word or the order that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from blrgen.check import check
from blrgen.errors import UserError
from blrgen.read.family import read_family

pytestmark = pytest.mark.core

FILE = """name = "mine"
variable = "x"
support = "(0, oo)"
statistics = ["log(x)", "x"]
[natural]
e1 = "(-1, oo)"
e2 = "(-oo, 0)"
"""


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("old", "new", "what", "how"),
    [
        ('"log(x)"', '"ln(x)"', "unknown function 'ln'", "write log(x)"),
        ('"log(x)"', '"lgamma(x)"', "unknown function 'lgamma'", "write loggamma(x)"),
        ('"log(x)"', '"lgo(x)"', "unknown function 'lgo'", "did you mean 'log'?"),
        ('"x"]', '"y"]', "unknown name 'y'", "known: pi, x"),
        ('"x"]', '"ξ"]', "a Greek letter cannot stand here", "write xi"),
        ('"x"]', '"λ*x"]', "a Greek letter cannot stand here", "write lam"),
        ('"x"]', '"x +"]', "something is missing after '+'", ""),
        ('"(0, oo)"', '"(0, ∞)"', "an infinity sign cannot stand here", "write oo"),
        ('"(0, oo)"', '"integer >= 0"', "not a support", 'did you mean "integers >= 0"?'),
        ('"(0, oo)"', '"{0, 1, ...}"', "not a support", '"integers >= 0"'),
        ('"(-1, oo)"', '"(e2, oo)"', "the domain of e1 uses e2", "declare e2 before e1"),
    ],
)
def test_what_was_meant(old: str, new: str, what: str, how: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_family(written(tmp_path, FILE.replace(old, new, 1)))
    assert what in caught.value.what
    assert how in caught.value.how
    assert "mine.toml:" in caught.value.where


def test_a_mark_at_the_beginning_is_skipped(tmp_path: Path) -> None:
    assert read_family(written(tmp_path, "\ufeff" + FILE)).name == "mine"


def test_a_constant_that_nothing_uses_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, FILE + '[fixed]\nk = "(0, oo)"\n')
    (found,) = check(path, only=["declaration"])
    assert "no formula uses the known constant k" in found.text


def test_what_stands_on_minimal_statistics_is_not_run(tmp_path: Path) -> None:
    text = FILE.replace('"(0, oo)"', '"(-pi, pi)"', 1)
    text = text.replace('["log(x)", "x"]', '["cos(x)**2", "sin(x)**2"]')
    found = {f.stage: f for f in check(written(tmp_path, text), only=["minimality", "convexity"])}
    assert "cos(x)**2 + sin(x)**2 = 1" in found["minimality"].text
    assert "stands on minimality" in found["convexity"].text
