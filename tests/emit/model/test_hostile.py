"""Emitted classes where something is unusual: no local block, awkward data, defaults of matrices.

What is wanted is found by another way: an exact step, an enumeration, a density of SciPy.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.errors import UserError
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model

MODELS = Path(__file__).parents[3] / "models"
R = np.random.default_rng(5)
X = R.normal(1.0, 2.0, 12)
COUNTS = R.poisson(4.0, 12).astype(float)


@cache
def cls(name: str, algorithm: str, source: str = ""):
    """The class of a shipped model, or of a text."""
    model = read_model(source or (MODELS / f"{name}.model").read_text(), name)
    return compile_class(text(lower(derive_model(model, algorithm)), "numpy"))


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("beta-bernoulli", {"x": (X > 1).astype(float)}),
        ("gamma-poisson", {"x": COUNTS, "e": np.linspace(0.5, 2, 12)}),
        ("normal-gamma", {"x": X}),
        ("ridge", {"X": np.stack([X, X**2], axis=1), "y": COUNTS}),
    ],
)
def test_steps_over_rows_of_a_model_without_local_blocks(name, given):
    exact = cls(name, "conjugate")(**given)
    model = cls(name, "svi")(**given, delay=0.0)
    model.step(np.arange(12))  # all rows at rate one are the exact step
    np.testing.assert_allclose(model.objective(), exact.objective(), rtol=1e-12)


def test_a_step_of_one_row_counts_it_as_often_as_there_are_rows():
    e = np.linspace(0.5, 2, 12)
    model = cls("gamma-poisson", "svi")(x=COUNTS, e=e)
    before = model.posterior("rate")
    model.step([3])
    rate = 2.0**-0.7
    wanted = {"a": 1 + 12 * COUNTS[3], "b": 1 + 12 * e[3]}
    for k, value in wanted.items():
        mixed = (1 - rate) * before[k] + rate * value
        np.testing.assert_allclose(model.posterior("rate")[k], mixed, rtol=1e-12)


def test_points_have_no_part_of_the_way_to_go():
    with pytest.raises(UserError, match="--svi does not apply to pi"):
        cls("poisson-mixture-em", "svi")
