"""What was saved of a model is taken whole, or refused in words with nothing changed."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_filters import KALMAN
from tests.emit.model.test_targets import MODELS, as_python


def points(r: np.random.Generator, n: int) -> dict[str, Any]:
    return {"X": r.normal(size=(n, 2)), "y": (r.random(n) < 0.5) * 1.0}


def full(r: np.random.Generator) -> dict[str, Any]:
    return {"x": r.normal(size=(30, 2)), "K": 2}


def counts(r: np.random.Generator) -> dict[str, Any]:
    return {"x": r.poisson(3.0, size=30) * 1.0, "K": 2}


ONCE: dict[str, Any] = {}
CASES: dict[tuple[str, str], tuple[Callable[[np.random.Generator], Any], dict[str, Any]]] = {
    ("gaussian-mixture-full-em", "em"): (full, ONCE),
    ("gaussian-mixture-full", "gibbs"): (full, ONCE),
    ("poisson-mixture", "svi"): (counts, {"rows": np.arange(4)}),
    ("linear-regression", "vmp"): (lambda r: points(r, 20), ONCE),
    ("logistic-regression", "ncvmp"): (lambda r: points(r, 20), ONCE),
    ("logistic-regression", "cvi"): (lambda r: points(r, 20), ONCE),
    ("beta-bernoulli", "vmp"): (lambda r: {"x": (r.random(20) < 0.3) * 1.0}, ONCE),
    ("state-space", "filter"): (lambda r: KALMAN, {"y": np.array([0.3]), "u": np.ones(1)}),
}


@cache
def module(name: str, flag: str) -> tuple[dict[str, Any], str]:
    model = read_model((MODELS / f"{name}.model").read_text(encoding="utf-8"), name)
    program = lower(derive_model(model, flag))
    return as_python(text(program, "numpy")), program.name


def begun(name: str, flag: str) -> tuple[Any, dict[str, Any]]:
    """A model after a step, and the names of its file."""
    data, step = CASES[name, flag]
    space, called = module(name, flag)
    made = space[called](**data(np.random.default_rng(1)))
    made.step(**step)
    return made, space


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
        for bad in (np.nan, np.inf) if value.dtype.kind == "f" else ():
            other = value.copy()
            other.flat[-1] = bad
            yield other


def outside(space: dict[str, Any], made: Any) -> Iterator[tuple[str, Any]]:
    """Of each array of the state values that are not in its domain."""
    for parts in space["NODES"].values():
        for name, _, domain in parts.values():
            x = made.state[name] if name in made.state else np.zeros(())
            if domain == "SPD":
                yield from ((name, -x), (name, x + np.triu(np.ones(x.shape), 1)), (name, 0 * x))
            elif domain == "simplex":
                yield from ((name, 2 * x), (name, x - [2.0, *[0.0] * (x.shape[-1] - 1)]))
            elif domain.startswith("labels "):
                yield from ((name, x - 5), (name, x + 50))
            elif domain != "R":
                yield from ((name, -1 - abs(x)), (name, np.where(np.arange(x.size).reshape(
                    x.shape) == x.size - 1, -0.5, x)))  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("name", "flag"), CASES)
def test_a_saved_state_is_taken_whole_or_not_at_all(name: str, flag: str) -> None:
    made, space = begun(name, flag)
    assert repr(made).startswith(f"{type(made).__name__}(") and repr(made).endswith("float64, t=1)")
    saved = made.state_dict()
    cases = [put(saved, p, v) for p in places(saved) for v in wrong_at(saved, p)]
    cases += [{k: x for k, x in saved.items() if k != less} for less in saved]
    beyond = list(outside(space, made))
    assert beyond or not space["NODES"]  # where nothing is kept of a node
    cases += [put(saved, ("state", x), v) for x, v in beyond]
    if flag == "gibbs":
        cases += [put(saved, ("draws", x), v[None]) for x, v in beyond]
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


@pytest.mark.parametrize(("name", "flag"), CASES)
def test_what_is_not_there_cannot_be_set(name: str, flag: str) -> None:
    made, _ = begun(name, flag)
    before = pickle.dumps(made.state_dict())
    for wrong_name, near in (("stat", "state"), ("sixes", "sizes"), ("note", "notes")):
        with pytest.raises(AttributeError, match=f"{wrong_name} cannot be set; {near} can"):
            setattr(made, wrong_name, 1)
    with pytest.raises(AttributeError, match=r"foobar cannot be set; .+ can"):
        made.foobar = 1
    assert not hasattr(made, "foobar") and pickle.dumps(made.state_dict()) == before


@pytest.mark.parametrize(("name", "flag"), [x for x in CASES if x[1] in ("svi", "cvi")])
def test_rates_are_looked_at(name: str, flag: str) -> None:
    space, called = module(name, flag)
    data = CASES[name, flag][0](np.random.default_rng(1))
    made, _ = begun(name, flag)
    assert ("rho" in space["HYPERPARAMETERS"]) == (flag == "cvi")
    for rate, domain in space["HYPERPARAMETERS"].items():
        held = getattr(made, rate)
        for bad in (-1.0, np.nan, np.inf, *([0.0] if domain[0] == "(" else [])):
            with pytest.raises(ValueError, match=f"{rate} = .* is outside"):
                setattr(made, rate, bad)
            with pytest.raises(ValueError, match=f"{rate} = .* is outside"):
                space[called](**data, **{rate: bad})
        for bad in ("1", None, True):
            with pytest.raises(TypeError, match=f"{rate} = .* is no number"):
                setattr(made, rate, bad)
        assert getattr(made, rate) == held
        setattr(made, rate, 2)
        assert getattr(made, rate) == 2.0 and isinstance(getattr(made, rate), float)


@pytest.mark.parametrize(("name", "flag"), [x for x in CASES if x[1] != "filter"])
def test_what_a_run_is_given_is_looked_at(name: str, flag: str) -> None:
    made, _ = begun(name, flag)
    before = pickle.dumps(made.state_dict())
    wrongs: list[dict[str, Any]] = [{"steps": x} for x in (-1, 1.5, "3", True, np.inf)]
    if flag != "gibbs":
        wrongs += [{"tol": x} for x in (-1e-9, np.nan, "1", None)]
    if flag == "svi":
        wrongs += [{"steps": 2, "batch": x} for x in (0, -1, 1.5, None)]
    for words in wrongs:
        with pytest.raises((ValueError, TypeError), match=f"{list(words)[-1]} = "):
            made.run(**words)
        assert pickle.dumps(made.state_dict()) == before
