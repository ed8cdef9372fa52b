"""Models on the command line: `check`, `derive` and `list models`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

WRONG = """plate n in N
plate k in K
const alpha in (0, oo)^K
pi    ~ dirchlet(alpha)
mu[k] ~ gaussian(0, -1)
x[n]  ~ gaussian(mu[n], 1)   observed
"""
ERRORS = [("unknown-family", 4, 9, "pi"), ("domain", 5, 21, "mu"), ("index", 6, 21, "x")]
KEYS = ["kind", "line", "column", "node", "text", "why", "instead"]


@pytest.fixture
def wrong(tmp_path: Path) -> str:
    file = tmp_path / "wrong.model"
    file.write_text(WRONG)
    return str(file)


def test_a_right_model_is_printed_with_the_names_of_its_arguments(invoke):
    said = invoke("check", "gamma-poisson.model")
    assert (said.code, said.err) == (0, "")
    assert "rate ~ gamma(a = a, b = b)" in said.out
    assert "x[n] ~ poisson(rate = e[n]*rate) observed" in said.out


def test_a_right_model_as_json(invoke):
    for flags in (("--json",), ("--format", "json")):
        said = invoke("check", "lda.model", *flags)
        data = json.loads(said.out)
        assert (said.code, said.err) == (0, "")
        assert data == {
            "schema": "blrgen.model-check/1", "model": "lda", "passed": True, "errors": [],
            "findings": [],
        }  # fmt: skip


def test_every_mistake_with_its_place(invoke, wrong):
    said = invoke("check", wrong, "--json")
    data = json.loads(said.out)
    assert said.code == 2 and data["passed"] is False
    assert [list(e) for e in data["errors"]] == [KEYS] * 3
    assert [(e["kind"], e["line"], e["column"], e["node"]) for e in data["errors"]] == ERRORS


def test_mistakes_as_text(invoke, wrong):
    said = invoke("check", wrong)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("error: ") == said.err.count("  where: ") == 3
    assert said.err.count("  why: ") == 3
    for _, line, column, _ in ERRORS:
        assert f"  where: {wrong}:{line}:{column}\n" in said.err
    assert "Traceback" not in said.err


def test_data_are_looked_at(invoke, tmp_path):
    data = tmp_path / "d.json"
    data.write_text(json.dumps({"x": [1, -1], "e": [1, 1]}))
    said = invoke("check", "gamma-poisson.model", "--data", str(data), "--json")
    (error,) = json.loads(said.out)["errors"]
    assert said.code == 2
    assert (error["kind"], error["line"], error["node"]) == ("support", 7, "x")
    (tmp_path / "x.csv").write_text("1\n2\n")
    right = ("--data", f"x={tmp_path}/x.csv", "--set", "e=[1, 1]", "--set", "a=2")
    assert invoke("check", "gamma-poisson.model", *right).code == 0


def test_data_are_for_models(invoke):
    assert invoke("check", "gaussian", "--set", "m=0").code == 2


def test_a_model_that_is_not_there(invoke):
    said = invoke("check", "lad.model")
    assert said.code == 2 and "'lda.model'" in said.err


def test_bytes_that_are_no_text(invoke, tmp_path):
    file = tmp_path / "b.model"
    file.write_bytes(b"plate n in N\nx[n] \xff")
    said = invoke("check", str(file), "--json")
    (error,) = json.loads(said.out)["errors"]
    assert (said.code, error["kind"], error["line"], error["column"]) == (2, "syntax", 2, 6)


def test_the_graph(invoke):
    said = invoke("derive", "zero-inflated-poisson.model", "--format", "json")
    data = json.loads(said.out)
    assert (said.code, data["schema"]) == (0, "blrgen.model-derivation/1")
    assert data["plates"] == [
        {"name": "n", "index": "n", "size": "N", "ragged": False, "times": None}
    ]
    assert (data["constants"], data["data"]) == (["a0", "b0", "e"], ["x"])
    assert [(n["name"], n["kind"], n["family"], n["parents"]) for n in data["nodes"]] == [
        ("r", "latent", "beta", []), ("rate", "latent", "gamma", []),
        ("z", "latent", "bernoulli", ["r"]), ("x", "observed", "point,poisson", ["z", "rate"]),
    ]  # fmt: skip
    assert [(e["parent"], e["child"]) for e in data["edges"]] == [
        ("r", "z"), ("z", "x"), ("rate", "x"),
    ]  # fmt: skip


def test_the_graph_as_text(invoke):
    said = invoke("derive", "hmm-poisson.model")
    assert said.code == 0
    assert "z → z" in said.out and "rate[k]" in said.out


def test_a_wrong_model_has_no_graph(invoke, wrong):
    said = invoke("derive", wrong)
    assert (said.code, said.out) == (2, "")
    assert said.err.count("error: ") == 3


def test_models_are_listed(invoke, root):
    said = invoke("list", "models")
    listed = [line.split()[0] for line in said.out.splitlines()]
    assert listed == sorted(p.stem for p in (root / "models").glob("*.model"))


def test_the_same_bytes_for_any_hash_seed(root, wrong):
    def said(seed: str) -> bytes:
        words = [sys.executable, "-m", "blrgen", "check", wrong, "--json"]
        where = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(root)}
        return subprocess.run(words, env=where, capture_output=True, check=False).stdout

    assert said("1") == said("2") == said("3") != b""


def test_an_algorithm_as_text_and_as_json(invoke):
    said = invoke("derive", "beta-bernoulli.model", "--conjugate")
    assert (said.code, said.err) == (0, "")
    assert "beta" in said.out
    data = json.loads(invoke("derive", "beta-bernoulli.model", "--conjugate", "--json").out)
    assert (data["schema"], data["algorithm"]) == ("blrgen.model-derivation/1", "conjugate")
    assert all(step["equation"] for step in data["steps"])
