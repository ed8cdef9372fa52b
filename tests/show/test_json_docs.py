"""docs/json.md: its code runs, and it names every key that is printed."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest
import sympy as sp

from blrgen.geometry import geometry_of
from blrgen.read.family import read_family
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from blrgen.show import render, render_geometry
from blrgen.show.as_json import value
from blrgen.show.model_derivation import derivation_json


def test_the_code_runs(root, tmp_path):
    text = (root / "docs" / "json.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.S)
    done = subprocess.run(
        [sys.executable, "-c", block],
        env={"PYTHONPATH": str(root), "PYTHONIOENCODING": "utf-8"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stderr == ""
    assert "beta1" in done.stdout


def test_every_key_is_documented(root, derived):
    text = (root / "docs" / "json.md").read_text(encoding="utf-8")
    told = {word for span in re.findall(r"`([^`]*)`", text) for word in re.findall(r"\w+", span)}
    shown = json.loads(render(derived("ivon"), "json"))
    at = {"lam1": 0.5, "lam2": -1.0}
    geometry = json.loads(render_geometry(geometry_of(read_family("gaussian")), "json", at=at))
    keys = set(shown) | set(geometry) | set(geometry["at"]) | set(geometry["natural"][0])
    for part in ("divergence", "conjugate", "maximum_likelihood"):
        keys |= set(geometry[part])
    for kind in ("state", "inputs", "hyperparameters", "draws", "steps"):
        keys |= set(shown[kind][0])
    assert keys - told == set()


def test_every_key_of_a_model_is_documented(root):
    text = (root / "docs" / "json.md").read_text(encoding="utf-8")
    text = text.split("`blrgen.model-derivation/1`", 1)[1].split("\n## ", 1)[0]
    told = {word for span in re.findall(r"`([^`]*)`", text) for word in re.findall(r"\w+", span)}
    path = root / "models" / "logistic-regression.model"
    shown = derivation_json(derive_model(read_model(path.read_text(), path.stem), "cvi"))
    keys = set(shown)
    for part in ("plates", "nodes", "edges", "expectations", "blocks", "objective",
                 "approximations"):  # fmt: skip
        keys |= set(shown[part][0])
    assert keys - told == set()


@pytest.mark.parametrize(
    ("x", "rank", "shown"),
    [
        (sp.Integer(1), "elementwise", 1),
        (sp.Rational(1, 10), "scalar", 0.1),
        (sp.oo, "scalar", "oo"),
        (None, "scalar", None),
        (sp.Symbol("h0"), "elementwise", "h0"),
        (sp.Integer(1), "symmetric", "Identity(d)"),
        (sp.Symbol("delta"), "symmetric", "delta*Identity(d)"),
    ],
)
def test_values(x, rank, shown):
    assert value(x, rank) == shown
    json.loads(json.dumps(value(x, rank), allow_nan=False))
