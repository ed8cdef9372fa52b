"""`python -m benchmarks`: who is compared, and what cannot be."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from benchmarks.__main__ import main
from benchmarks.peers import PEERS
from blrgen.read.recipe import read_recipes


@pytest.fixture
def bench(capfd):
    """`bench(*words)`: the exit code, and what is printed on either stream."""

    def run(*words):
        capfd.readouterr()
        return main(list(words)), *capfd.readouterr()

    return run


def test_one_recipe_at_one_size(bench, tmp_path):
    words = ["sgd", "--size", "1000", "--rounds", "1", "--threads", "1"]
    code, out, err = bench(*words, "--out", str(tmp_path))
    assert code == 0, err
    rows = [line.split() for line in out.splitlines()[2:] if line]
    rows = [row for row in rows if row[0] == "sgd"]
    assert all(row[:4] == ["sgd", "1000", "float32", "1"] for row in rows)
    assert any("NumPy" in row for row in rows)
    assert any("roofline" in row for row in rows)
    assert all(float(row[4]) > 0 for row in rows)
    assert "0 missed" in out
    made = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert made["schema"] == "blrgen-bench/1"
    assert {r["what"] for r in made["results"]} == {"sgd"}


def test_every_peer_is_of_a_recipe():
    assert set(PEERS) <= set(read_recipes())


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (["sgd", "--size", "0"], "'0'"),
        (["sgd", "--size", "-3"], "'-3'"),
        (["sgd", "--size", "1e6"], "'1e6'"),
        (["sgd", "--size", "9" * 50], "whole number"),
        (["sgd", "--rounds", "٣"], "whole number"),
        (["sgd", "--dtype", "float16"], "float32"),
        (["sgd", "--threads", "0"], "whole number"),
        (["smd", "--size", "10"], "'sgd'"),
    ],
)
def test_mistakes(bench, words, what):
    code, out, err = bench(*words)
    assert (code, out) == (2, "")
    assert what in err


def test_it_is_run_from_the_checkout(root):
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"], cwd=root, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: python -m benchmarks [WHAT ...]")
