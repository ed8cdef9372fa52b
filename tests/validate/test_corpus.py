"""Right functions in odd styles are all proved; wrong ones, written to be proved, never are."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import blrgen
from blrgen.core import Rule
from blrgen.decide.proof import NOT_COMPARED
from blrgen.errors import UserError
from blrgen.validate.subtle import KINDS, subtle
from blrgen.validate.verify_file import verify_source

HERE = Path(__file__).parent
REFERENCE = HERE.parent / "reference"
SEEN: dict[str, Counter[str]] = {"right": Counter(), "wrong": Counter()}


def corpus(name: str) -> list[tuple[str, str, str]]:
    """(title, recipe, source) of every function in a file."""
    text = (HERE / "corpus" / f"{name}.txt").read_text(encoding="utf-8")
    out = []
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        head, _, source = part.partition("\n")
        title, recipe = (x.strip() for x in head.split("|"))
        out.append((title, recipe, source))
    return out


RIGHT, WRONG = corpus("right"), corpus("wrong")


@cache
def rule(recipe: str) -> Rule:
    return blrgen.derive(recipe).rule


@pytest.mark.sweep(24)
@pytest.mark.parametrize(("title", "recipe", "source"), RIGHT, ids=[c[0] for c in RIGHT])
def test_right_ones_are_proved(title: str, recipe: str, source: str) -> None:
    verdict = verify_source(source, rule(recipe))
    SEEN["right"]["proved" if verdict.proved else "not compared"] += 1
    assert verdict.proved and verdict.exit_code == 0, verdict


@pytest.mark.sweep(24)
@pytest.mark.parametrize(("title", "recipe", "source"), WRONG, ids=[c[0] for c in WRONG])
def test_wrong_ones_are_never_proved(title: str, recipe: str, source: str) -> None:
    verdict = verify_source(source, rule(recipe), locate=False)
    SEEN["wrong"][verdict.level] += 1
    assert not verdict.proved, verdict
    assert verdict.exit_code == (1 if verdict.level == "refuted" else 3)


def test_there_are_enough_of_them() -> None:
    assert len(RIGHT) >= 60 and len(WRONG) >= 100
    assert len({c[0] for c in RIGHT}) == len(RIGHT) and len({c[0] for c in WRONG}) == len(WRONG)
    recipes = {
        p.stem.replace("_", "-") for p in REFERENCE.glob("*.py") if not p.stem.startswith("test_")
    }
    assert recipes <= {c[1] for c in RIGHT}


SUBTLE = {
    "momentum": ("m", "g", "rho"), "adam": ("m", "g", "beta1"),
    "vogn": ("m", "g", "rho"), "bayesbinn": ("lam", "g", "rho"),
    "natural_gradient": ("m", "g", "rho"),
}  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(SUBTLE))
def test_subtle_mistakes_are_never_proved(name: str) -> None:
    source = (REFERENCE / f"{name}.py").read_text(encoding="utf-8")
    found = subtle(source, *SUBTLE[name])
    assert {m.kind for m in found} == set(KINDS)
    for m in found:
        known = rule(name.replace("_", "-"))
        shown = m.kind == "rounding"  # exact numbers do not see it, doubles do
        try:
            verdict = verify_source(m.source, known, locate=False, run=shown)
        except UserError as error:
            raise AssertionError(m.source) from error
        assert verdict.level in ("refuted", NOT_COMPARED), (m.kind, m.after, verdict)
