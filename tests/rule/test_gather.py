"""Coefficients of equal products gathered: exact, short, and with letters where they are long."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from blrgen.algebra.multigamma import multipolygamma
from blrgen.algebra.ranks import DIM, T, positive, scalar, symmat, trace, vec
from blrgen.algebra.words import normal
from blrgen.api import derive
from blrgen.rule.gather import gathered, with_squares
from blrgen.rule.rule import RHO
from blrgen.rule.shift import shifted

pytestmark = pytest.mark.core

V, R, C = symmat("V"), symmat("R"), symmat("C")
n, r, k = positive("n"), scalar("r"), positive("k")
m, w = vec("m"), vec("w")
PSI = multipolygamma(sp.S.One, n / 2, DIM)
INVERSE = V**-1


def opened(work: Any) -> list[Any]:
    """The expressions with every letter written out again."""
    known: dict[Any, Any] = {}
    for letter, value in work.named:
        known[letter] = value.xreplace(known)
    return [x.xreplace(known) for x in work.values]


def test_terms_of_one_product_have_one_coefficient() -> None:
    det = 2 * n * DIM - n**2 * PSI
    x = INVERSE - RHO * INVERSE + 2 * RHO * r * INVERSE * n / det
    x -= 2 * RHO * trace(INVERSE * R) / det * INVERSE
    x += RHO / n * INVERSE * R * INVERSE
    work = gathered([x**-1], [r, R], [RHO], set(), coefficients=True)
    (value,) = work.values
    assert value.exp == -1
    assert len(value.base.args) == 2
    assert [s.name for s, _ in work.named] == ["det", "c"]
    (again,) = opened(work)
    assert all(sp.cancel(c) == 0 for c in _coefficients(again.base - x))


def _coefficients(x: Any) -> list[Any]:
    """The coefficients of a sum of words, traces as letters."""
    from blrgen.algebra.words import collect_words

    table = {f: sp.Dummy() for f in (trace(INVERSE * R), PSI)}
    return [c.xreplace(table) for c in collect_words(x).values()]


def test_names_that_are_taken_stay_free() -> None:
    x = (1 + r / n - r**2 / (n + 1)) * V + (2 + r**3 - r / (n - k)) * R
    work = gathered([x], [r], [RHO], {"c"}, coefficients=True)
    assert [s.name for s, _ in work.named] == ["c2", "c3"]


def test_hyperparameters_keep_their_brackets() -> None:
    x = -V / 2 + RHO * V / 2
    (value,) = gathered([x], [], [RHO], set(), coefficients=True).values
    assert value == sp.Mul(-sp.S.Half, 1 - RHO, V)


def test_squares_of_differences() -> None:
    words = {(m, T(m)): n, (m, T(w)): -n, (w, T(m)): -n, (w, T(w)): n, (V,): r}
    found = with_squares(words)
    assert len(found) == 2
    total = sp.Add(*[c * sp.Mul(*word) for word, c in found.items()])
    before = sp.Add(*[c * sp.Mul(*word) for word, c in words.items()])
    assert normal(total - before) == 0
    assert with_squares({**words, (w, T(w)): 2 * n}) == {**words, (w, T(w)): 2 * n}


def test_a_letter_for_a_moved_matrix() -> None:
    x = (C + k) ** -1 * C * R * C + k * (C + k) ** -1 * R * C
    new, letter = shifted([x], {"B"})
    assert letter is not None
    assert letter[0].name == "B2"
    assert normal(new[0] - (R * letter[0] - k * R)) == 0
    assert normal(new[0].subs(letter[0], letter[1]) - R * C) == 0
    assert shifted([C * R], set()) == ((C * R,), None)


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("wishart", "V⁺  = (cV⁻¹ + (ρ/n)V⁻¹r₂V⁻¹)⁻¹"),
        ("normal-wishart", "V⁺  = (cV⁻¹ − κ⁺·(m⁺ − m)(m⁺ − m)ᵀ + (ρ/n)V⁻¹r₄V⁻¹)⁻¹"),
        ("matrix-normal", "M⁺ = M − ρr₁S·(S⁺)⁻¹"),
    ],
)
def test_pages(name: str, last: str) -> None:
    page = str(derive(name))
    assert last in page
    assert " I\n" not in page.split("Gradient of the expected loss")[1].split("no identity")[0]
    assert "starts at 0I" not in page
