"""Every shipped model and flag: what is derived has a class, what does not apply is refused."""

from functools import cache
from pathlib import Path

import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.mistakes import ModelError
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model

MODELS = {p.stem: p for p in (Path(__file__).parents[3] / "models").glob("*.model")}
FLAGS = ("conjugate", "filter", "em", "online-em", "vmp", "svi", "ncvmp", "cvi", "gibbs")


@cache
def derived(name, flag):
    try:
        return derive_model(read_model(MODELS[name].read_text(), name), flag)
    except ModelError as error:
        return error


@pytest.mark.sweep(24)
@pytest.mark.parametrize("name", sorted(MODELS))
def test_a_flag_has_a_class_or_a_reason(name):
    made = 0
    for d in (derived(name, flag) for flag in FLAGS):
        if isinstance(d, ModelError):
            assert all(m.kind == "not-applicable" and m.why for m in d.mistakes)
        else:
            program = lower(d)
            assert f"class {program.name}:" in text(program, "numba")
            made += 1
    assert made


@pytest.mark.sweep(16)
@pytest.mark.parametrize("name", sorted(MODELS))
def test_points_are_what_tells_draws_from_maxima(name):
    """A prior on everything: --gibbs; a param: --em; no model has both."""
    kinds = {x for x in ("em", "gibbs") if not isinstance(derived(name, x), ModelError)}
    assert len(kinds) <= 1, name
