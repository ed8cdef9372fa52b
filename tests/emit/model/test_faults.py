"""What was saved of a model is taken whole, or refused in words with nothing changed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import MODELS, as_python

CASES = {
    "gaussian-mixture-full-em": ("em", lambda r: {"x": r.normal(size=(30, 2)), "K": 2}),
    "linear-regression": (
        "vmp",
        lambda r: {"X": r.normal(size=(20, 2)), "y": r.normal(size=20)},
    ),
    "beta-bernoulli": ("vmp", lambda r: {"x": (r.random(20) < 0.3) * 1.0}),
}


def places(saved: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(saved, dict) and path[:1] != ("rng",):
        for key, value in saved.items():
            yield from places(value, (*path, key))
    else:
        yield path


def put(saved: Any, path: tuple[Any, ...], value: Any) -> Any:
    other = copy.deepcopy(saved)
    inner = other
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return other


def wrong(value: Any) -> Iterator[Any]:
    yield from (None, "x", {}, 0.5, [1.0], np.array(["a"]), -1)
    if isinstance(value, np.ndarray):
        yield value.astype(np.float32)
        yield np.ma.masked_array(value)
        yield value.reshape(1, *value.shape)
        for bad in (np.nan, np.inf):
            other = value.copy()
            other.flat[-1] = bad
            yield other


@pytest.mark.parametrize("name", CASES)
def test_a_saved_state_is_taken_whole_or_not_at_all(name: str) -> None:
    flag, data = CASES[name]
    model = read_model((MODELS / f"{name}.model").read_text(encoding="utf-8"), name)
    program = lower(derive_model(model, flag))
    cls = as_python(text(program, "numpy"))[program.name]
    made = cls(**data(np.random.default_rng(1)))
    made.step()
    assert repr(made).startswith(f"{cls.__name__}(") and repr(made).endswith("float64, t=1)")
    saved = made.state_dict()
    cases = [put(saved, p, v) for p in places(saved) for v in wrong_at(saved, p)]
    cases += [{k: x for k, x in saved.items() if k != less} for less in saved]
    for case in (*cases, saved | {"extra": 1}, None, [], "t"):
        before = pickle.dumps(made.state_dict())
        with pytest.raises((ValueError, TypeError), match=r".{10}"):
            made.load_state_dict(case)
        assert pickle.dumps(made.state_dict()) == before
    made.load_state_dict(saved)
    assert pickle.dumps(made.state_dict()) == pickle.dumps(saved)


def wrong_at(saved: Any, path: tuple[Any, ...]) -> Iterator[Any]:
    value = saved
    for key in path:
        value = value[key]
    for bad in wrong(value):
        if not (path == ("notes",) and isinstance(bad, list) and bad == value):
            yield bad
