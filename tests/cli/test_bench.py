"""`blrgen bench`: who is compared, and what cannot be."""

from __future__ import annotations

import pytest

from blrgen.bench import PEERS, measured


def test_one_recipe_at_one_size(invoke):
    said = invoke("bench", "sgd", "--size", "1000", "--rounds", "1")
    assert said.code == 0, said.err
    rows = [line.split() for line in said.out.splitlines()[2:]]
    assert all(row[:2] == ["sgd", "1000"] for row in rows)
    assert any("NumPy" in row for row in rows)
    assert all(float(row[2]) > 0 and float(row[-1]) > 0 for row in rows)


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
        (["newton", "--size", "10"], "element by element"),
        (["smd", "--size", "10"], "'sgd'"),
    ],
)
def test_mistakes(invoke, words, what):
    said = invoke("bench", *words)
    assert (said.code, said.out) == (2, "")
    assert what in said.err


def test_the_best_round_counts():
    import time

    quick = measured({"a": lambda: None, "b": lambda: time.sleep(0.002)}, rounds=2)
    assert quick["a"] < 1e-4
    assert quick["b"] >= 0.002
