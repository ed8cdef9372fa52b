"""Systematic mistakes: in step functions by hand, and in every emitted file there is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prove_rules import ADAM, IBLR, IVON, OGN, VON_FULL

from blrgen.core import Rule
from blrgen.errors import UserError
from blrgen.validate.emitted import verify_emitted
from blrgen.validate.mutate import Mutant, counts, judge, mutants
from blrgen.validate.symbolic.number import CannotRun
from blrgen.validate.verify_file import verify_source

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "tests" / "reference"
ENOUGH = 25
BY_HAND: dict[str, Rule] = {"adam": ADAM, "ivon": IVON, "ogn": OGN, "von": VON_FULL, "iblr": IBLR}


def _computes(function: str) -> bool:
    """The functions of an emitted file that compute the step."""
    return function.strip("_").split("_")[0] in ("step", "draw", "observe")


Told = Callable[[str, object], None]  # what the summary of the run shows


def _settled(name: str, found: list[Mutant], verify: Any, told: Told) -> None:
    """Mutants in turn until enough of them run; none may survive."""
    outcomes = []
    for m in found:
        outcomes += judge([m], verify, (CannotRun, UserError))
        if sum(o.fate != "broken" for o in outcomes) >= ENOUGH:
            break
    told(f"mutants of {name}", dict(counts(outcomes)))
    survivors = [(o.mutant.line, o.mutant.kind, o.mutant.before, o.mutant.after) for o in outcomes
                 if o.fate == "survived"]  # fmt: skip
    assert not survivors
    assert sum(o.fate != "broken" for o in outcomes) >= ENOUGH


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", sorted(BY_HAND))
def test_mistakes_in_functions_by_hand(name: str, record_property: Told) -> None:
    source = (REFERENCE / f"{name}.py").read_text(encoding="utf-8")
    found = mutants(source, lambda f: f == "step")

    def verify(text: str) -> Any:
        return verify_source(text, BY_HAND[name], locate=False, run=False)

    _settled(f"{name} by hand", found, verify, record_property)


def _emitted() -> list[Path]:
    """One committed file a recipe: the NumPy one where there is one."""
    files = sorted((ROOT / "generated").rglob("*.py"))
    chosen = [f for f in files if "numpy" in f.stem or "numpy" in f.parent.name]
    return chosen or files


@pytest.mark.sweep(20)
@pytest.mark.parametrize("path", _emitted(), ids=lambda p: p.stem)
def test_mistakes_in_emitted_files(path: Path, record_property: Told) -> None:
    import blrgen

    name = path.stem.removesuffix("_numpy").removesuffix("_numba").replace("_", "-")
    rule = blrgen.derive(name).rule
    source = path.read_text(encoding="utf-8")
    assert verify_emitted(source, rule, locate=False).proved

    def verify(text: str) -> Any:
        return verify_emitted(text, rule, locate=False, briefly=True)

    _settled(path.stem, mutants(source, _computes), verify, record_property)


def test_mutants_are_distinct_and_of_many_kinds() -> None:
    source = (REFERENCE / "adam.py").read_text(encoding="utf-8")
    found = mutants(source, lambda f: f == "step")
    kinds = {m.kind for m in found}
    assert len({m.source for m in found}) == len(found) >= 100
    assert kinds >= {
        "sign", "operator", "constant", "exponent", "stale variable", "name", "root left out",
        "bias correction left out", "constant under the root", "term left out", "results exchanged",
    }  # fmt: skip
    assert found == mutants(source, lambda f: f == "step")


def test_equivalent_changes_are_proved_not_refuted() -> None:
    """The suite can tell: a factor moved across the quotient is no mistake."""
    source = (REFERENCE / "ogn.py").read_text(encoding="utf-8")
    same = source.replace("rho * g / s_next", "g / s_next * rho")
    assert same != source
    found = [Mutant("order", 0, "", "", same)]
    outcomes = judge(found, lambda s: verify_source(s, OGN, locate=False), (UserError,))
    assert [o.fate for o in outcomes] == ["equivalent"]
