"""A working parameter on the simplex: how it is declared, found and shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import sympy as sp

from blrgen.algebra.components import Component, Last, head, last, total
from blrgen.errors import UserError
from blrgen.geometry.simplex import of_natural
from blrgen.read.family import read_family

TEXT = """
name = "mine"
variable = "x"
support = "{e_1, ..., e_K}"
statistics = ["head(x)"]
[natural]
eta = { domain = "R^(K-1)", working = "WORKING" }
[working]
p = "simplex"
"""


def family(tmp_path: Path, working: str, more: str = ""):
    file = tmp_path / "mine.toml"
    file.write_text(TEXT.replace("WORKING", working) + more)
    return read_family(str(file))


@pytest.mark.parametrize("name", ["categorical", "multinomial"])
def test_probabilities_are_found_from_the_logits(name: str) -> None:
    found = read_family(name)
    (front, by_eta), (end, rest) = of_natural(found)
    eta = found.natural[0].symbol
    assert by_eta == sp.exp(eta) / (total(sp.exp(eta), eta.size) + 1)
    assert sp.cancel(rest + total(by_eta, eta.size)) == 1
    # three classes by hand: numbers in place of the sum
    values = np.array([0.3, -1.2])
    weights = np.exp([*values, 0.0])
    whole = total(sp.exp(eta), eta.size)
    for k in range(2):
        number = by_eta.subs(whole, sum(weights[:2])).subs(eta, values[k])
        assert abs(float(number) - weights[k] / weights.sum()) < 1e-15
    assert abs(float(rest.subs(whole, sum(weights[:2]))) - 1 / weights.sum()) < 1e-15
    assert str(front) == "p" and str(end) == "last(p)"


def test_it_is_no_chart(tmp_path: Path) -> None:
    found = read_family("categorical")
    assert found.working == () and [p.name for p in found.simplex] == ["p"]
    assert all(p.chart is None for p in found.natural)
    assert family(tmp_path, "log(head(p)/last(p))").natural_of_simplex == (found.natural_of_simplex)


def test_other_charts_are_solved_too(tmp_path: Path) -> None:
    (_, by_eta), _ = of_natural(family(tmp_path, "log(head(p)) - log(last(p)) + 1"))
    eta = Component("eta", sp.Symbol("K", integer=True, positive=True) - 1)
    assert by_eta.has(sp.exp(eta - 1)) or by_eta.has(sp.E)


@pytest.mark.parametrize("working", ["log(head(p))", "exp(last(p)) + 0*head(p)"])
def test_what_says_too_little_is_refused(tmp_path: Path, working: str) -> None:
    with pytest.raises(UserError):
        of_natural(family(tmp_path, working))


def test_nothing_stands_beside_a_simplex(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="stands beside q"):
        family(tmp_path, "log(head(p)/last(p)) + q", 'q = "(0, oo)"\n')


def test_the_other_direction_is_refused(tmp_path: Path) -> None:
    text = TEXT.replace('working = "WORKING"', "").replace('"R^(K-1)", }', '"R^(K-1)" }')
    file = tmp_path / "mine.toml"
    file.write_text(text.replace('p = "simplex"', 'p = { domain = "simplex", natural = "eta" }'))
    with pytest.raises(UserError):
        read_family(str(file))


def test_last_is_a_word_of_charts(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = TEXT.replace("WORKING", "log(head(p)/last(p))")
    file.write_text(text.replace('["head(x)"]', '["head(x) - last(x)"]'))
    with pytest.raises(UserError, match=r"last\(…\) cannot be used here"):
        read_family(str(file))


def test_last_and_head_of_a_formula() -> None:
    size = sp.Symbol("K", integer=True, positive=True)
    p = Component("p", size, positive=True)
    end = last(sp.log(p) / total(p, size))
    assert isinstance(last(p), Last) and last(p) != head(p) != p
    assert end == sp.log(last(p)) / total(p, size)
    assert last(p) == last(p) and hash(last(p)) == hash(last(p))


def test_the_page_shows_it(invoke) -> None:
    page = invoke("show", "categorical").out
    assert "log(pₖ/p_K)" in page and "working  p  in simplex" in page
    data = json.loads(invoke("show", "categorical", "--json").out)
    assert data["working"] == [{"name": "p", "domain": "simplex"}]
    assert data["natural_of_working"] == {"eta": "log(head(p)/last(p))"}
    assert list(data["working_of_natural"]) == ["head(p)", "last(p)"]
