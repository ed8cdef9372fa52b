"""Numbers and inverses as people write them: 1.000001 and S⁻¹, in every format."""

from __future__ import annotations

import pytest

from blrgen import derive
from blrgen.read.recipe import read_recipes
from blrgen.show.derivation import FORMATS, render
from blrgen.text.layout import Number

PEOPLE = tuple(f for f in FORMATS if f != "json")


@pytest.mark.parametrize(
    ("p", "q", "text"),
    [
        (1000001, 1000000, "1.000001"), (999, 1000, "0.999"), (1, 1000, "0.001"),
        (1, 2, ""), (3, 250, ""), (1, 1024, ""), (1, 3000, ""), (2000, 1, ""),
        (123456789012, 1000, ""), (1, 10**12, ""),
    ],
)  # fmt: skip
def test_a_long_quotient_that_is_a_short_decimal(p: int, q: int, text: str) -> None:
    assert Number(p, q).decimal == text
    assert not text or float(text) == p / q


@pytest.mark.parametrize("format", PEOPLE)
def test_no_long_quotients(format: str) -> None:
    by_loss = render(derive("gaussian-diag", ["delta"], loss="1.000001*theta**2/2"), format)
    assert "1.000001" in by_loss and "1000001" not in by_loss
    d = derive("gaussian-diag", ["delta", "rho=0.333333"])
    shown = render(d, format)
    assert "0.333333" in shown and "1000000" not in shown
    for target in ("numpy", "numba"):
        docstring = d.source(target).split('"""')[1]
        assert "0.333333g" in docstring and "1000000" not in docstring


def test_json_stays_exact() -> None:
    d = derive("gaussian-diag", ["rho=0.001"])
    assert '"999*s/1000 + h/1000"' in render(d, "json")


@pytest.mark.parametrize("format", PEOPLE)
@pytest.mark.parametrize("flags", [[], ["stochastic"], ["stochastic", "ess", "prior=total"]])
def test_inverses_of_matrices(format: str, flags: list[str]) -> None:
    shown = render(derive("gaussian-full", flags), format)
    for text in ("**(-1)", r"\*\*", "(S)"):
        assert text not in shown
    if flags:
        assert {"text": "S⁻¹)", "latex": "S^{-1}$)", "markdown": "S^{-1}$)", "html": "−</mo>"}[
            format
        ] in shown


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", sorted(read_recipes()))
def test_nothing_of_a_program_is_printed(name: str) -> None:
    """What only a program writes is in no format for people, nor in an emitted docstring."""
    d = derive(f"recipe:{name}")
    texts = [render(d, "text"), d.source("numpy").split('"""')[1]]
    for text in texts:
        for sign in ("**", "_next", "sqrt(", "Max(", "Min(", "_hat", "(S)", "None"):
            assert sign not in text, sign
