"""What a step reads and writes, and the pass over memory that has the same shape."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.emitted import Emitted, loaded
from benchmarks.prepare import Shape, Timed, prepared, written
from benchmarks.roofline import passes, source


@pytest.mark.parametrize(
    ("recipe", "step", "whole"),
    [
        ("sgd", 12, 12),
        ("momentum", 20, 20),
        ("rmsprop", 20, 20),
        ("adam", 28, 28),
        ("ogn", 24, 24),
        ("vogn", 24, 28),
        ("ivon", 32, 36),
        ("bayesbinn", 16, 20),
    ],
)
def test_bytes_are_counted_from_the_program(recipe, step, whole):
    timed = prepared(recipe)
    assert (timed.step.bytes(4), timed.whole.bytes(4)) == (step, whole)
    assert timed.step.bytes(8) == 2 * step
    assert Timed.from_dict(timed.as_dict()) == timed


@pytest.mark.parametrize("shape", [Shape(2, 1), Shape(4, 3), Shape(4, 2, 1), Shape(3, 0, 2)])
def test_a_pass_touches_what_it_says(shape):
    text = source(shape)
    loop = text[text.index("for i in range") :].split("@njit")[0]
    inside = loop.splitlines()[1:]
    read = {x for line in inside for x in _indexed(line.split(" = ", 1)[-1])}
    stored = [_indexed(line.split(" = ")[0])[0] for line in inside[1:] if line.strip()]
    assert len(read) == shape.reads
    assert len(stored) == len(set(stored)) == shape.updates + shape.outputs
    assert len(set(stored) & read) == shape.updates


def _indexed(text):
    return [x.split("[")[0].split()[-1].strip("(*+") for x in text.split("[i]")[:-1]]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("recipe", ["adam", "ivon", "vogn"])
def test_a_pass_over_the_arrays_of_a_step_leaves_them_as_they_are(recipe):
    timed = prepared(recipe)
    emitted = Emitted(timed, 100, "float32")
    emitted.whole().once()
    held = emitted.arrays(timed.whole)
    assert len(held) == timed.whole.arrays == len({x.ctypes.data for x in held})
    own = getattr(emitted.optimizer, timed.whole.names[0])
    assert any(np.shares_memory(held[0], x) for x in own)
    before = [x.copy() for x in held]
    passes(timed.whole, 100, "float32", 1, held)["serial"]()
    kept = timed.whole.reads  # what is only written is written
    assert all(map(np.array_equal, held[:kept], before[:kept]))


def test_a_pass_stays_at_ordinary_numbers():
    shape = Shape(4, 3, 1)
    module = loaded(str(written(source(shape))))
    held = [np.full(8, 1.0, np.float32) for _ in range(shape.arrays)]
    for _ in range(3000):
        module.serial.py_func(0, 8, *held, 0.5, 0.25 / shape.reads)
    values = np.abs(np.concatenate(held))
    assert np.all(values > 1e-3) and np.all(values < 10)
