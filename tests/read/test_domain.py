"""Domains and supports: kinds, ends open or closed, bounds in earlier names."""

from __future__ import annotations

import pytest
import sympy as sp

from blrgen.algebra.ranks import scalar
from blrgen.errors import UserError
from blrgen.read.domain import read_domain, read_support

pytestmark = pytest.mark.core

ETA = scalar("eta1")


@pytest.mark.parametrize(
    ("text", "kind", "ends", "size", "opened"),
    [
        ("(0, oo)", "interval", (0, sp.oo), (), (True, True)),
        ("[0, 1]", "interval", (0, 1), (), (False, False)),
        ("[0,1)", "interval", (0, 1), (), (False, True)),
        ("(-oo, 0)^d", "interval", (-sp.oo, 0), ("d",), (True, True)),
        ("(0, oo)^(K-1)", "interval", (0, sp.oo), ("K-1",), (True, True)),
        ("(-oo, -eta1)", "interval", (-sp.oo, -ETA), (), (True, True)),
        ("((1 + eta1)*2, oo)", "interval", (2 * (1 + ETA), sp.oo), (), (True, True)),
        ("(beta(1, 2), oo)", "interval", (sp.beta(1, 2), sp.oo), (), (True, True)),
        ("R^d", "vector", (None, None), ("d",), (True, True)),
        ("R^(K-1)", "vector", (None, None), ("K-1",), (True, True)),
        ("R^(n,p)", "matrix", (None, None), ("n", "p"), (True, True)),
        ("R^(n, p)", "matrix", (None, None), ("n", "p"), (True, True)),
        ("SPD", "spd", (None, None), ("d", "d"), (True, True)),
        ("-SPD", "-spd", (None, None), ("d", "d"), (True, True)),
    ],
)
def test_domains(text: str, kind: str, ends: tuple, size: tuple, opened: tuple) -> None:
    domain = read_domain(text, {"eta1": ETA})
    assert (domain.kind, domain.size) == (kind, size)
    assert (domain.lower, domain.upper) == ends
    if kind == "interval":
        assert (domain.lower_open, domain.upper_open) == opened
    assert domain.text == text
    assert read_domain(domain.text, {"eta1": ETA}) == domain


@pytest.mark.parametrize(
    ("text", "kind", "points", "ends", "size"),
    [
        ("(0, oo)", "interval", (), (0, sp.oo), ()),
        ("{-1, 1}", "finite", (-1, 1), (None, None), ()),
        ("{-1, 1}^d", "finite", (-1, 1), (None, None), ("d",)),
        ("{0, 1/2, sqrt(2)}", "finite", (0, sp.Rational(1, 2), sp.sqrt(2)), (None, None), ()),
        ("integers >= 0", "integers", (), (0, sp.oo), ()),
        ("integers", "integers", (), (-sp.oo, sp.oo), ()),
        ("simplex", "simplex", (), (0, 1), ("K",)),
        ("R^d", "vector", (), (-sp.oo, sp.oo), ("d",)),
        ("SPD", "spd", (), (None, None), ("d", "d")),
        ("R^(n,p)", "matrix", (), (None, None), ("n", "p")),
    ],
)
def test_supports(text: str, kind: str, points: tuple, ends: tuple, size: tuple) -> None:
    support = read_support(text)
    assert (support.kind, support.points, support.size) == (kind, points, size)
    assert (support.lower, support.upper) == ends
    assert support.text == text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("(1, 0)", "empty"),
        ("(0, 0)", "empty"),
        ("[-oo, 0)", "infinite end is open"),
        ("(0, oo]", "infinite end is open"),
        ("(0, 1, 2)", "two ends"),
        ("(0)", "two ends"),
        ("(0, x)", "unknown name 'x'"),
        ("(0, 9**9**9)", "too large"),
        ("(0, oo)^d*2", "not a domain"),
        ("(0, oo)^(__import__)", "__import__"),
        ("SPDD", "not a domain"),
        ("R^", "not a domain"),
        ("positive", "a domain is an interval"),
        ("", "not a domain"),
        ("(" * 100000, "too long"),
    ],
)
def test_domains_refused(text: str, word: str) -> None:
    with pytest.raises(UserError) as caught:
        read_domain(text, {"eta1": ETA}, where="f.toml:3")
    assert word in str(caught.value)
    assert "f.toml:3" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{1}", "two points"),
        ("{1, 1}", "twice"),
        ("{1, sqrt(-1)}", "not a real number"),
        ("integers > 0", "integers >= 0"),
        ("integers >= 1/2", "not whole"),
        ("reals", "a support is"),
        ("-SPD", "a support is"),
    ],
)
def test_supports_refused(text: str, word: str) -> None:
    with pytest.raises(UserError) as caught:
        read_support(text)
    assert word in str(caught.value)


def test_whole_numbers_for_constants() -> None:
    d = read_domain("integers >= 1", {})
    assert (d.kind, d.lower, d.upper, d.whole, d.lower_open) == ("interval", 1, sp.oo, True, False)
