"""`blrgen bench`: who is compared, and what cannot be."""

from __future__ import annotations

import json

import pytest

from blrgen.bench.peers import PEERS


def test_one_recipe_at_one_size(invoke, tmp_path):
    words = ["bench", "sgd", "--size", "1000", "--rounds", "1", "--threads", "1"]
    said = invoke(*words, "--out", str(tmp_path))
    assert said.code == 0, said.err
    rows = [line.split() for line in said.out.splitlines()[2:] if line]
    rows = [row for row in rows if row[0] == "sgd"]
    assert all(row[:4] == ["sgd", "1000", "float32", "1"] for row in rows)
    assert any("NumPy" in row for row in rows)
    assert any("roofline" in row for row in rows)
    assert all(float(row[4]) > 0 for row in rows)
    assert "0 missed" in said.out
    made = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    assert made["schema"] == "blrgen-bench/1"
    assert {r["what"] for r in made["results"]} == {"sgd"}


def test_every_peer_is_of_a_recipe(invoke):
    recipes = {line.split()[0] for line in invoke("list", "recipes").out.splitlines()}
    assert set(PEERS) <= recipes


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
def test_mistakes(invoke, words, what):
    said = invoke("bench", *words)
    assert (said.code, said.out) == (2, "")
    assert what in said.err
