"""Relations between functions: what they are brought to, and what is found among them."""

from __future__ import annotations

from typing import Any

import pytest
import sympy as sp

from blrgen.algebra.span import canonical, in_span

pytestmark = pytest.mark.core

x, y = sp.symbols("x y", positive=True)
G, L = sp.gamma, sp.loggamma


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (sp.factorial(x), G(x + 1)),
        (sp.binomial(x, y), G(x + 1) / (G(y + 1) * G(x - y + 1))),
        (sp.beta(x, y), G(x) * G(y) / G(x + y)),
    ],
)
def test_by_gamma_functions(f: Any, wanted: Any) -> None:
    assert canonical(f, [x, y]) == wanted


@pytest.mark.parametrize(
    ("f", "basis", "coefficients"),
    [
        (sp.log(sp.beta(x, y)), [L(x), L(y), L(x + y)], (1, 1, -1)),
        (sp.log(sp.binomial(x, y)), [L(x + 1), L(y + 1), L(x - y + 1)], (1, -1, -1)),
        (sp.log(3 * x**2 * y), [sp.log(x), sp.log(y)], (2, 1)),
        ((x + y) ** 2, [x**2, x * y, y**2], (1, 2, 1)),
        (sp.cos(x) ** 2, [sp.sin(x) ** 2], (-1,)),
    ],
)
def test_in_the_span(f: Any, basis: list[Any], coefficients: tuple[int, ...]) -> None:
    constant, found = in_span(f, basis, [x, y]) or (None, None)
    assert found == coefficients
    rest = canonical(f, [x, y]) - sum(
        c * canonical(b, [x, y]) for c, b in zip(found, basis, strict=True)
    )
    assert sp.simplify(rest - constant) == 0


def test_not_in_the_span() -> None:
    assert in_span(sp.log(x + y), [sp.log(x), sp.log(y)], [x, y]) is None
    assert in_span(sp.exp(x), [x, x**2], [x, y]) is None
