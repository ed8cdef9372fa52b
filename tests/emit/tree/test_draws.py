"""Draws in programs: a number is a function of the key and its place, in blocks and in threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from blrgen.emit.compile import load
from blrgen.emit.tree import numba, numpy
from blrgen.emit.tree.arrays import array_function
from blrgen.emit.tree.functions import functions
from blrgen.errors import InternalError
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.axes.prepared import scheduled
from blrgen.program.axes.text import program
from tests.emit.tree.running import near

STEP = program(
    "i:d", "m[d], s[d], g[d], theta[d], lr, seed key, other key",
    """
    s_next[i] = (1 - lr) * s[i] + lr * g[i]**2
    m_next[i] = m[i] - lr * g[i] / sqrt(s_next[i])
    probe[i] = m_next[i] + draw(normal, seed, i) / sqrt(s_next[i])
    sign[i] = select(m_next[i] + draw(logistic, other, i) > 0, 1, -1)
    even[i] = draw(uniform, other, i)
    total = sum(i, probe[i] * sign[i])
    """,
    "sign, even, total",
    writes="m = m_next, s = s_next, theta = probe",
)  # fmt: skip
SIZE, ALONE = 70_003, 60_001  # two chunks, and one; with a block that is not whole


@pytest.fixture(scope="module")
def compiled() -> Any:
    return load(numba.text(functions(scheduled(STEP), "step")))


def given(size: int = SIZE, dtype: Any = np.float64) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    arrays = {x: rng.random(size).astype(dtype) + dtype(0.5) for x in ("m", "s", "g", "theta")}
    return arrays | {"lr": 0.125, "seed": 11, "other": 12}


def outs(size: int = SIZE, dtype: Any = np.float64) -> dict[str, Any]:
    return {x: np.full(size if x != "total" else (), 9, dtype) for x in STEP.outs}


def stepped(f: Any, values: dict[str, Any]) -> dict[str, Any]:
    """All arrays after one call."""
    size, dtype = values["m"].size, values["m"].dtype.type
    args = values | outs(size, dtype)
    f(*(args[x] for x in ("m", "s", "g", "theta", *STEP.outs, "seed", "other", "lr")))
    return {x: args[x] for x in (*STEP.outs, "m", "s", "theta")}


@pytest.fixture(scope="module")
def noise() -> dict[str, Any]:
    """The laws of the interpreter: streams of a key, of which places are read."""
    names = {"normal": "_standard_normal", "logistic": "_logistic", "uniform": "_uniform"}
    parts = (f"x[n] = draw({law}, k, n)" for law in names)
    found = {}
    for law, row in zip(names, parts, strict=True):
        one = program("n:N", "like[N], k key", f"{row}\ny[n] = x[n] + 0 * like[n]", "y")
        found[law] = load(numba.text(functions(scheduled(one), "fill"))).fill

    def stream(law: str) -> Any:
        def at(key: Any, places: Any) -> Any:
            whole = np.zeros(int(np.max(places)) + 1)
            found[law](np.zeros_like(whole), whole, int(key))
            return whole[places]

        return at

    return {law: stream(law) for law in names}


def test_loops_compute_what_the_interpreter_says(compiled: Any, noise: dict[str, Any]) -> None:
    check(STEP)
    values = given(1003)
    found = stepped(compiled.step, {k: np.copy(v) if np.ndim(v) else v for k, v in values.items()})
    wanted = interpret(STEP, values, laws=noise)
    near({k: v for k, v in found.items() if k in wanted}, wanted)
    assert abs(np.mean(found["even"]) - 0.5) < 0.05 and set(found["sign"]) == {-1.0, 1.0}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neither_blocks_nor_threads_change_a_bit(compiled: Any, dtype: Any) -> None:
    """What one chunk of rows draws is what two draw that are done side by side."""

    whole, fewer = (stepped(compiled.step, given(n, dtype)) for n in (SIZE, ALONE))
    assert whole["even"].dtype == dtype
    assert (whole["even"][:ALONE] == fewer["even"]).all()
    assert len(set(whole["even"].tolist())) > SIZE // 2


def test_array_statements_draw_from_a_generator_of_the_key() -> None:
    module = load(numpy.text(array_function(STEP, "step")))
    values = given(1003)
    args = [values[x] for x in ("m", "s", "g", "theta", "seed", "other", "lr")]
    sign, even, total = module.step(*args)
    eps = np.random.default_rng(11).standard_normal(1003)
    np.testing.assert_allclose(values["theta"], values["m"] + eps / np.sqrt(values["s"]))
    assert total == pytest.approx(np.sum(values["theta"] * sign))
    np.testing.assert_array_equal(even, np.random.default_rng(12).random(1003))


@pytest.mark.parametrize("body", [
    "x[n,k] = draw(normal, key, n, k) + a[n,k]",
    "x[n,k] = draw(cauchy, key, n) + a[n,k]",
])  # fmt: skip
def test_what_is_no_block_of_a_known_law_is_refused(body: str) -> None:
    p = program("n:N, k:K", "a[N,K], key key", body, "x")
    with pytest.raises(InternalError, match="no block of draws"):
        functions(scheduled(p), "run")


def test_without_blocks_there_are_no_draws() -> None:
    with pytest.raises(InternalError, match="no block of draws: probe_normal from normal"):
        functions(scheduled(STEP, blocks=""), "run")
