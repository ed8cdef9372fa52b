"""The docstring of an emitted file says the rule that was derived."""

from __future__ import annotations

import pytest
import sympy as sp

from blrgen.api import derive
from blrgen.core import Derivation
from blrgen.emit.prose import MEASURE, _Said, clean, equation, module_docstring
from blrgen.program.lower import with_noise
from blrgen.program.recover import read_back, together
from blrgen.text.expression import unicode

pytestmark = pytest.mark.core


def told(d: Derivation) -> str:
    return module_docstring(d)


@pytest.mark.parametrize("recipe", ["adam", "ridge", "vogn", "bayesbinn-stale"])
def test_every_assignment_is_said(recipe: str) -> None:
    """As `derive` prints it, under what its stage is for."""
    d = derive(recipe)
    lines = [x.strip() for x in told(d).split("Update:")[1].splitlines()]
    reading = _Said(d.rule).reading
    for a in d.rule.assignments:
        if a.stage == "update" and a.expr.is_commutative:
            assert unicode(a.expr, reading=reading) in {x.partition(" = ")[2] for x in lines}


def test_matrices_are_said_as_matrices() -> None:
    text = told(derive("iblr"))
    assert "    S⁺ = (1 − ρ)S + ρH + ½ρ²(H − S)S⁻¹(H − S)\n" in text
    assert "    S⁺ = XᵀX + δI\n" in told(derive("ridge"))


def test_what_a_candidate_draws_is_said_in_standard_noise() -> None:
    text = told(derive("gaussian-full", ["stochastic"]))
    assert "The loss is probed at:\n\n    θ = m + S^(−½)·ε\n" in text, text


@pytest.mark.parametrize(("recipe", "names"), [("ivon", "m eps N h delta"), ("vogn", "")])
def test_the_noise_that_is_read_back_is_the_one_that_moved(recipe: str, names: str) -> None:
    """(θ − a)/b put back into a + ε b is θ; nothing is said where nothing is read back."""
    d = derive(recipe)
    rule = with_noise(d.rule)
    assert ("reads the noise back" in told(d)) == bool(names)
    if not names:
        return
    found = read_back(rule)["eps"].replace(together, lambda x: x)
    (probe,) = (a for a in rule.assignments if a.stage == "draw")
    theta = next(x for x in found.free_symbols if x.name == probe.name)
    positive = {x: sp.Symbol(x.name, positive=True) for x in probe.expr.free_symbols | {theta}}
    back = probe.expr.subs(rule["eps"].symbol, found).xreplace(positive)
    assert sp.expand(sp.powdenest(back, force=True)) == positive[theta]


def test_defaults_as_they_are_typed() -> None:
    text = told(derive("adam"))
    for line in ("in [0, ∞), 0.001 by default", "in [0, 1), 0.9 by default", "1e-8 by default"):
        assert line in text


def test_long_equations_break_before_their_signs() -> None:
    lines = equation("x", " + ".join(["y" * 30] * 6)).splitlines()
    assert len(lines) > 1 and max(map(len, lines)) <= MEASURE
    assert all(x.startswith(" " * len("    x =")) for x in lines[1:])
    assert all(x.lstrip()[0] in "+x" for x in lines)


def test_prose_fits_into_a_docstring() -> None:
    assert '"""' not in clean('a """ b \\ c\n d') and "\\" not in clean("\\alpha")
