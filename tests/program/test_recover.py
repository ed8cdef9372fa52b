"""Noise read back from where it moved the loss to."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from blrgen.algebra.components import Component, total
from blrgen.core import Assignment, Quantity, Rule
from blrgen.program.recover import noise_at, read_back, reads, replaced, together, written_out

pytestmark = pytest.mark.core

m, eps, theta, g = sp.symbols("m eps theta g", real=True)
h, c = sp.symbols("h c", positive=True)


@pytest.mark.parametrize(
    ("at", "noise"),
    [
        (m + eps / sp.sqrt(h), together(theta - m) * sp.sqrt(h)),
        (m + c * eps, together(theta - m) / c),
        (m - c * eps, -together(theta - m) / c),
        (c * eps, theta / c),
        (c * eps / sp.sqrt(h), theta * sp.sqrt(h) / c),
    ],
)
def test_noise_that_is_a_factor_of_a_term(at: Any, noise: Any) -> None:
    found = noise_at(theta, at, eps)
    assert found == noise
    back = at.subs(eps, found.replace(together, lambda x: x))
    assert sp.simplify(back - theta) == 0


@pytest.mark.parametrize(
    "at",
    [sp.tanh(eps), m + sp.tanh(eps), m / eps, eps + eps**2, eps * (m + eps), c * eps + h * eps],
)
def test_noise_that_cannot_be_read_back(at: Any) -> None:
    assert noise_at(theta, at, eps) is None


def test_what_is_moved_stays_one_thing_in_a_sum() -> None:
    """Σ g(θ − m), whose difference is exact, is not Σ gθ − Σ gm."""
    size = sp.Symbol("d", integer=True, positive=True)
    g_k, m_k, at = (Component(x, size) for x in ("g", "m", "theta"))
    noise = Component("eps", size)
    found = noise_at(at, m_k + c * noise, noise)
    assert found is not None
    whole = replaced(total(g_k * noise, size), {"eps": found})
    assert len(whole.atoms(together)) == 1 and not whole.is_Add


def rule(at: Any, update: Any, law: str = "N(0, 1)", **more: Any) -> Rule:
    quantities = [
        Quantity("m", "state", "elementwise", m), Quantity("h", "state", "elementwise", h),
        Quantity("g", "input", "elementwise", g),
        Quantity("eps", "draw", "elementwise", eps, distribution=law),
    ]  # fmt: skip
    made = (Assignment("theta", at, "draw"), Assignment("m_next", update))
    return replace(Rule(tuple(quantities), made), **more)


def test_only_what_a_step_reads() -> None:
    at = m + c * eps
    assert read_back(rule(at, m - g * eps)) == {"eps": together(theta - m) / c}
    assert read_back(rule(at, m - g)) == {}
    assert read_back(rule(at, m - g * eps, "Bernoulli(pi)")) == {}


def test_several_draws_cannot_be_read_back() -> None:
    one = rule(m + c * eps, m - g * eps)
    more = Quantity("h", "draw", "elementwise", h, distribution="N(0, 1)")
    assert read_back(replace(one, quantities=(*one.quantities, more))) == {}


def test_values_are_written_out() -> None:
    body = (Assignment("a", m + 1), Assignment("b", 2 * sp.Symbol("a")))
    assert written_out(body) == {"a": m + 1, "b": 2 * m + 2}
    assert reads(body) == {"m"}
