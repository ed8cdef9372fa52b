"""What is wrong is refused in words and changes nothing: every recipe, both targets.

A fault is an action on an object that has made some steps.  Parameters, states, counters and
what a generator would give next are compared bit for bit before and after.
"""

from __future__ import annotations

import copy
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from blrgen.approximate.tools.road import derive
from blrgen.emit import emit
from blrgen.emit.common import defaults
from blrgen.emit.compile import compile_class
from blrgen.program.lower import lower
from blrgen.read.recipe import read_recipes

TARGETS = ("numpy", "numba")
RECIPES = sorted(read_recipes())
CASES = [(recipe, target) for recipe in RECIPES for target in TARGETS]
SIZE = 5
BAD = (np.nan, np.inf, -np.inf)


class Made:
    """A class that is emitted, and how it is built and stepped."""

    def __init__(self, recipe: str, target: str) -> None:
        derivation = derive(recipe)
        self.program = lower(derivation.rule)
        self.cls = compile_class(emit(derivation, target))
        self.inputs = self.program.of("input", "data")
        self.draws = bool(self.program.of("draw"))
        assert not defaults(self.program)[1], "a state without a first value"

    def built(self, params: Any = None, **more: Any) -> Any:
        params = np.linspace(-1, 1, SIZE) if params is None else params
        return self.cls(params, **more)

    def given(self, rng: np.random.Generator) -> dict[str, Any]:
        """Inputs of a step, small enough for every rule to stay inside its domain."""
        found: dict[str, Any] = {}
        for v in self.inputs:
            shape = tuple({"d": SIZE, "each": SIZE, "n": 7}[x] for x in v.type.shape)
            value = 0.1 * rng.standard_normal(shape)
            if v.type.is_symmetric:
                value = value + value.T + 2 * np.eye(SIZE)
            elif v.name in ("h", "hessian", "H"):
                value = 1 + np.abs(value)
            found[v.name] = value
        return found

    def stepped(self, opt: Any, rng: np.random.Generator, steps: int = 1) -> Any:
        for _ in range(steps):
            if self.draws:
                opt.draw(rng)
            opt.step(**self.given(rng))
        return opt


_MADE: dict[tuple[str, str], Made] = {}


@pytest.fixture(params=CASES, ids="-".join)
def made(request: pytest.FixtureRequest) -> Made:
    case: tuple[str, str] = request.param
    if case not in _MADE:
        _MADE[case] = Made(*case)
    return _MADE[case]


def whole(opt: Any) -> bytes:
    """All that an object is, as bytes."""
    return pickle.dumps(opt.state_dict())


def refused(opt: Any, action: Callable[[], Any], rng: np.random.Generator | None = None) -> str:
    """The words in which an action is refused; nothing has changed."""
    before, noise = whole(opt), None if rng is None else copy.deepcopy(rng.bit_generator.state)
    with pytest.raises((ValueError, TypeError, AttributeError, RuntimeError)) as caught:
        action()
    assert whole(opt) == before
    assert rng is None or rng.bit_generator.state == noise
    words = str(caught.value)
    assert len(words) > 10
    assert "cop" not in words.lower() or "copy.copy" in words  # nobody's copy is updated
    return words


def arrays_in(saved: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to all arrays and numbers of a saved state."""
    if isinstance(saved, dict | list):
        pairs = saved.items() if isinstance(saved, dict) else enumerate(saved)
        for key, value in pairs:
            yield from arrays_in(value, (*path, key))
    else:
        yield path


def at(saved: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        saved = saved[key]
    return saved


def with_value(saved: Any, path: tuple[Any, ...], value: Any) -> Any:
    """A copy of a saved state with one thing replaced."""
    other = copy.deepcopy(saved)
    at(other, path[:-1])[path[-1]] = value
    return other


def wrong_values(value: Any) -> Iterator[Any]:
    """What cannot stand in the place of a value."""
    yield from (None, "x", {}, [1.0], np.array(["a"]))
    if isinstance(value, np.ndarray):
        yield value.astype(np.float32)
        yield value.astype(value.dtype.newbyteorder())
        yield value[:-1]
        yield value.reshape(1, *value.shape)
        yield np.ma.masked_array(value)
        for bad in BAD:
            other = value.copy()
            other.flat[-1] = bad
            yield other
    else:
        yield from (np.nan, -np.inf, np.zeros(2), True)


@pytest.mark.sweep(16)
def test_a_saved_state_is_taken_whole_or_not_at_all(made: Made) -> None:
    rng = np.random.default_rng(1)
    opt = made.stepped(made.built(), rng, 2)
    other = made.stepped(made.built(), np.random.default_rng(5), 3)
    if made.draws:
        if hasattr(other, "observe"):
            other.draw(rng)
            other.observe(**made.given(rng))
        other.draw(rng)
    saved = other.state_dict()
    for path in arrays_in(saved):
        for value in wrong_values(at(saved, path)):
            refused(opt, lambda p=path, v=value: opt.load_state_dict(with_value(saved, p, v)))
    for key in saved:
        refused(opt, lambda k=key: opt.load_state_dict({x: saved[x] for x in saved if x != k}))
    for key in saved["hyperparameters"]:
        less = {x: v for x, v in saved["hyperparameters"].items() if x != key}
        refused(opt, lambda h=less: opt.load_state_dict(saved | {"hyperparameters": h}))
    more = saved["hyperparameters"] | {"alhpa": 1.0}
    for wrong in (
        saved | {"extra": 1}, saved | {"t": -1}, saved | {"t": 0.5},
        saved | {"hyperparameters": more}, None, [], "t",
    ):  # fmt: skip
        refused(opt, lambda w=wrong: opt.load_state_dict(w))
    opt.load_state_dict(saved)
    assert whole(opt) == pickle.dumps(saved)


@pytest.mark.sweep(10)
def test_what_steps_leave_can_be_resumed(made: Made) -> None:
    """Where curvature is kept apart from a prior it may be negative, down to −δ."""
    rng = np.random.default_rng(7)
    names = {v.name for v in made.program.of("hyper")}
    values = {"delta": 1.0, "h0": 0.01, "beta2": 0.5, "N": 10.0}
    opt = made.built(**{k: v for k, v in values.items() if k in names})
    for _ in range(12):
        if made.draws:
            opt.draw(rng)
        given = made.given(rng)
        opt.step(**{k: x * 5 if k == "g" else x for k, x in given.items()})
        opt.load_state_dict(opt.state_dict())


def test_a_curvature_below_zero_is_one_that_steps_leave() -> None:
    cls = compile_class(emit(derive("ivon"), "numpy"))
    opt, rng = cls(np.zeros(3), delta=1.0, h0=0.01, N=10.0, beta2=0.5), np.random.default_rng(0)
    theta = opt.draw(rng)
    opt.step(-0.3 * np.sign(theta))
    assert -0.5 < opt.h[0].min() < 0
    saved = opt.state_dict()
    opt.load_state_dict(saved)
    words = refused(opt, lambda: opt.load_state_dict(saved | {"h": [np.full(3, -1.01)]}))
    assert "outside [-1.0, inf)" in words


@pytest.mark.sweep(10)
def test_signs_of_what_was_saved_are_looked_at(made: Made) -> None:
    opt = made.stepped(made.built(), np.random.default_rng(1))
    saved, found = opt.state_dict(), 0
    for v in made.program.of("state"):
        if v.domain in ("", "(-oo, oo)"):
            continue
        found += 1
        value = saved[v.name]
        wrong = [-1 - x for x in value] if isinstance(value, list) else -value
        words = refused(opt, lambda n=v.name, w=wrong: opt.load_state_dict(saved | {n: w}))
        assert "outside" in words or "positive definite" in words
    bounded = [v for v in made.program.of("state") if v.definite or v.lower is not None]
    assert found >= len(bounded)


@pytest.mark.sweep(10)
def test_what_is_not_finite_is_refused(made: Made) -> None:
    rng = np.random.default_rng(2)
    opt = made.stepped(made.built(), rng)
    if made.draws:
        opt.draw(rng)
    good = made.given(rng)
    for name, value in good.items():
        for bad in BAD:
            wrong = value.copy()
            wrong.flat[-1] = bad
            if wrong.ndim == 2 and wrong.shape[0] == wrong.shape[1]:
                wrong[0, -1] = wrong[-1, 0] = bad
            given = good | {name: wrong}
            assert name in refused(opt, lambda g=given: opt.step(**g), rng)
            if made.draws:
                assert name in refused(opt, lambda g=given: opt.step(**g, rng=rng), rng)
            if hasattr(opt, "observe"):
                assert name in refused(opt, lambda g=given: opt.observe(**g), rng)
    for v in made.program.of("draw") if made.draws else ():
        eps = np.full(SIZE, np.nan)
        assert v.name in refused(opt, lambda n=v.name, e=eps: opt.draw(**{n: e}))
    opt.step(**good)


@pytest.mark.sweep(10)
def test_a_pass_is_saved_where_nobody_looks(made: Made) -> None:
    opt = made.built(check_finite=False)
    made.stepped(opt, np.random.default_rng(2), 2)
    same = made.stepped(made.built(), np.random.default_rng(2), 2)
    assert whole(opt) == whole(same)
    if all(v.type.shape == ("each",) for v in made.inputs):
        if made.draws:
            opt.draw(np.random.default_rng(3))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            good = made.given(np.random.default_rng(3))
            try:
                opt.step(**{k: np.full_like(x, np.nan) for k, x in good.items()})
            except ValueError as error:  # a rule that looks at where it came to
                assert "nothing has been changed" in str(error)
                return
        assert np.isnan(opt.params).any()


def test_a_rate_may_be_zero(made: Made) -> None:
    rates = [v for v in made.program.of("hyper") if v.name in ("rho", "alpha", "beta")]
    for v in rates:
        assert v.domain.startswith("[0,"), v
    opt = made.stepped(made.built(), np.random.default_rng(4))
    for v in rates:
        setattr(opt, v.name, 0.0)
    before = opt.params.copy()
    made.stepped(opt, np.random.default_rng(5), 2)
    assert np.array_equal(before, opt.params) or not rates
    for name, value in opt.state_dict().items():
        for x in value if isinstance(value, list) else ():
            assert np.isfinite(x).all(), name


def test_attributes_are_those_that_there_are(made: Made) -> None:
    opt = made.stepped(made.built(), np.random.default_rng(6))
    for v in made.program.of("hyper"):
        for bad in (np.nan, -np.inf, None, "x", [1.0], np.ones(2), True):
            if not (v.name == "lam0" and bad is True):
                assert v.name in refused(opt, lambda n=v.name, b=bad: setattr(opt, n, b))
        misspelt = v.name + "x"
        words = refused(opt, lambda m=misspelt: setattr(opt, m, 0.5))
        assert misspelt in words
    assert "params" in refused(opt, lambda: setattr(opt, "params", np.zeros(SIZE)))
    assert "lr" in refused(opt, lambda: setattr(opt, "lr", 0.1))


def test_parameters_that_cannot_be_updated_in_place_are_refused(made: Made) -> None:
    memory = np.zeros(2 * SIZE)
    frozen = np.zeros(SIZE)
    frozen.setflags(write=False)
    wrong: list[tuple[str, Any]] = [
        ("share memory", [memory[:SIZE], memory[SIZE - 1 : -1]]),
        ("share memory", [memory, memory]),
        ("share memory", [memory[SIZE:], np.zeros(SIZE), memory]),
        ("MaskedArray", np.ma.masked_array(np.zeros(SIZE))),
        ("read-only", frozen),
        ("object", np.zeros(SIZE, dtype=object)),
        (">f8", np.zeros(SIZE, dtype=">f8")),
        ("complex", np.zeros(SIZE, dtype=complex)),
        ("contiguous", np.zeros(2 * SIZE)[::2]),
        ("float", [0.0] * SIZE),
        ("NoneType", None),
    ]
    for words, params in wrong:
        with pytest.raises((TypeError, ValueError), match=words) as caught:
            made.cls(params)
        assert "copy" not in str(caught.value) and "astype" not in str(caught.value)
    made.built([memory[:SIZE], memory[SIZE:]])


def test_inputs_of_another_kind_are_refused(made: Made) -> None:
    rng = np.random.default_rng(7)
    opt = made.stepped(made.built(), rng)
    if made.draws:
        opt.draw(rng)
    good = made.given(rng)
    for name, value in good.items():
        for wrong in (
            None if not hasattr(opt, "observe") else "x", value.astype(np.float32),
            value.astype(object), value.astype(">f8"), np.ma.masked_array(value), value[:-1],
            value[None], value.tolist(),
        ):  # fmt: skip
            if name in ("X", "y") and wrong is not None and np.shape(wrong) == value[:-1].shape:
                continue  # fewer rows than the other: refused by the other's size, or both may be
            refused(opt, lambda n=name, w=wrong: opt.step(**(good | {n: w})), rng)
    opt.step(**good)


@pytest.mark.sweep(10)
def test_generators_of_another_kind_are_refused(made: Made) -> None:
    opt = made.stepped(made.built(), np.random.default_rng(8))
    for wrong in (None, 0, np.random.RandomState(0), np.random):
        if hasattr(opt, "sample"):
            assert "default_rng" in refused(opt, lambda w=wrong: opt.sample(w))
        if made.draws:
            assert "default_rng" in refused(opt, lambda w=wrong: opt.draw(w))
    if made.draws and "rng" in made.cls.step.__annotations__:
        opt.draw(np.random.default_rng(0))
        good = made.given(np.random.default_rng(0))
        assert "default_rng" in refused(opt, lambda: opt.step(**good, rng=3))


def test_it_says_what_it_is(made: Made) -> None:
    opt = made.stepped(made.built(), np.random.default_rng(9), 2)
    words = repr(opt)
    assert words.startswith(f"{made.cls.__name__}(float64[{SIZE}]") and words.endswith("t=2)")
    for v in made.program.of("hyper"):
        assert f"{v.name}={getattr(opt, v.name)!r}" in words


def in_thread(action: Callable[[], Any]) -> Any:
    """What another thread gets: a value, or what it raised."""
    found: list[Any] = []

    def run() -> None:
        try:
            found.append(action())
        except Exception as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0]


def test_one_thread_after_another(made: Made) -> None:
    opt = made.stepped(made.built(), np.random.default_rng(10))
    same = made.stepped(made.built(), np.random.default_rng(10))
    for one, call in ((opt, in_thread), (same, lambda action: action())):
        assert call(lambda o=one: made.stepped(o, np.random.default_rng(11))) is one
    assert whole(opt) == whole(same) and opt.t == 2


@pytest.mark.sweep(10)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("recipe", ["adam", "ivon", "bayesbinn", "von"])
def test_after_a_fork_steps_are_the_same(recipe: str, target: str) -> None:
    """Also of arrays for which threads were started before."""
    case = Made(recipe, target)
    size = SIZE if recipe == "von" else 200_000
    params = np.linspace(-1, 1, size)

    def advance(opt: Any, rng: np.random.Generator) -> None:
        theta = opt.draw(rng) if case.draws else params
        more = [np.eye(size)] if recipe == "von" else []
        opt.step(np.sin(theta), *more)

    opt = case.built(params)
    advance(opt, np.random.default_rng(0))
    here, there = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # other threads are those of kernels
        child = os.fork()
    if child == 0:
        try:
            advance(opt, np.random.default_rng(1))
            os.write(there, np.array([params.sum(), params[-1]]).tobytes())
        finally:
            os._exit(0)
    os.close(there)
    found = np.frombuffer(os.read(here, 16))
    os.waitpid(child, 0)
    os.close(here)
    advance(opt, np.random.default_rng(1))
    assert found.tolist() == [params.sum(), params[-1]]
