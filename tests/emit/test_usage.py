"""The lines of use in the docstring of an emitted class run as they stand."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

import numpy as np
import pytest

import blrgen
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.read.recipe import read_recipes

pytestmark = pytest.mark.core

SIZE = 3
GIVEN: dict[str, Any] = {
    "rng": np.random.default_rng(0), "H": np.eye(SIZE), "X": np.eye(SIZE), "y": np.ones(SIZE),
}  # fmt: skip


def lines(made: type) -> list[str]:
    """What is indented in the docstring."""
    text = inspect.getdoc(made) or ""
    return [x.strip() for x in text.splitlines() if x.startswith("    ")]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("recipe", sorted(read_recipes()))
def test_a_class_is_used_as_it_says(recipe: str) -> None:
    made = compile_class(emit(blrgen.derive(recipe), "numpy"))
    found = lines(made)
    assert [x.partition("(")[0] for x in found if "draw" not in x] == [
        f"opt = {made.__name__}", "opt.step"
    ]  # fmt: skip
    assert any("opt.draw(" in x for x in found) == hasattr(made, "draw")
    names = {made.__name__: made, "params": np.ones(SIZE)} | GIVEN
    names |= {x: np.ones(SIZE) for x in ("g", "h", "lminus", "lplus")}
    for line in found:
        for argument in inspect.signature(made).parameters:
            names.setdefault(argument, np.ones(SIZE))
        exec(textwrap.dedent(line), names)
    assert names["opt"].t == 1


def test_what_has_no_default_is_in_it() -> None:
    made = compile_class(emit(blrgen.derive("normal-gamma"), "numpy"))
    first = lines(made)[0]
    required = [
        p.name for p in inspect.signature(made).parameters.values() if p.default is p.empty
    ]  # fmt: skip
    assert required and all(x in first for x in required)
