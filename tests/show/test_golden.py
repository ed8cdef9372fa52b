"""Printed derivations, committed: a change of any byte is seen.

`python -m pytest tests/show --update-golden` rewrites them and deletes stale ones.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from blrgen.read.model.reader import read_model
from blrgen.read.recipe import read_recipes
from blrgen.rule.model.derive import derive_model
from blrgen.show import render, render_geometry
from blrgen.show.model_derivation import derivation_json
from blrgen.show.model_page import derivation_text
from tests.shipped import shipped

pytestmark = pytest.mark.core

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
IN_FULL = ("adam", "iblr", "ivon", "ste")  # also as LaTeX, Markdown, HTML
GEOMETRIES = ("gaussian", "bernoulli-sign", "gaussian-full")  # one for each kind of page
MODELS = (
    ("gaussian-mixture-full-em", "em"), ("gaussian-mixture-full", "vmp"), ("lda", "svi"),
    ("normal-wishart", "conjugate"), ("hmm-gaussian-em", "em"), ("factor-analysis-em", "online-em"),
)  # fmt: skip
SUFFIX = {"text": "txt", "latex": "tex", "markdown": "md", "html": "html", "json": "json"}


def wanted(derived: Callable[[str], object]) -> dict[str, Callable[[], str]]:
    """Relative path → what makes its text."""
    found: dict[str, Callable[[], str]] = {}
    for what in sorted(read_recipes()):
        formats = tuple(SUFFIX) if what in IN_FULL else ("text", "json")
        for f in formats:
            found[f"derive/{what}.{SUFFIX[f]}"] = lambda w=what, f=f: _derivation(derived, w, f)
    for family in GEOMETRIES:
        formats = tuple(SUFFIX) if family == GEOMETRIES[0] else ("text", "json")
        for f in formats:
            found[f"geometry/{family}.{SUFFIX[f]}"] = lambda n=family, f=f: _geometry(n, f)
    for name, flag in MODELS:
        found[f"model/{name}--{flag}.txt"] = lambda n=name, f=flag: _model(n, f)
        found[f"model/{name}--{flag}.json"] = lambda n=name, f=flag: _model_json(n, f)
    return found


def _model_derived(name: str, flag: str) -> object:
    path = Path(__file__).resolve().parents[2] / "models" / f"{name}.model"
    return derive_model(read_model(path.read_text(), name), flag)


def _model(name: str, flag: str) -> str:
    return derivation_text(_model_derived(name, flag), 88)


def _model_json(name: str, flag: str) -> str:
    return (
        json.dumps(derivation_json(_model_derived(name, flag)), ensure_ascii=False, indent=2) + "\n"
    )


def _derivation(derived: Callable[[str], object], what: str, format_: str) -> str:
    return render(derived(what), format_, columns=88)


def _geometry(name: str, format_: str) -> str:
    return render_geometry(shipped(name), format_, columns=88)


def drift(folder: Path, made: dict[str, str]) -> list[str]:
    """Files that differ, are missing, or should not be there."""
    there = {str(p.relative_to(folder).as_posix()): p for p in folder.rglob("*") if p.is_file()}
    found = [f"stale: {name}" for name in sorted(set(there) - set(made))]
    for name, text in sorted(made.items()):
        if name not in there:
            found.append(f"missing: {name}")
        elif there[name].read_bytes() != text.encode():
            found.append(f"differs: {name}")
    return found


def update(folder: Path, made: dict[str, str]) -> None:
    """Write what is wanted, delete what is stale."""
    for path in [p for p in folder.rglob("*") if p.is_file()]:
        if path.relative_to(folder).as_posix() not in made:
            path.unlink()
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def test_nothing_has_drifted(request, derived):
    made = {name: make() for name, make in wanted(derived).items()}
    if request.config.getoption("--update-golden"):
        update(GOLDEN, made)
    assert drift(GOLDEN, made) == [], "if meant: python -m pytest tests/show --update-golden"


@pytest.fixture
def folder(tmp_path):
    made = {"a/x.txt": "one\n", "y.json": "{}\n"}
    update(tmp_path, made)
    assert drift(tmp_path, made) == []
    return tmp_path, made


def test_a_corrupted_file_is_seen(folder):
    path, made = folder
    (path / "a/x.txt").write_text("One\n")
    assert drift(path, made) == ["differs: a/x.txt"]


def test_a_missing_and_a_stale_file_are_seen_and_mended(folder):
    path, made = folder
    (path / "y.json").unlink()
    (path / "a/old.txt").write_text("old")
    assert drift(path, made) == ["stale: a/old.txt", "missing: y.json"]
    update(path, made)
    assert drift(path, made) == []
    assert not (path / "a/old.txt").exists()
