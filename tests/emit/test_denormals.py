"""States that fade away end at 0, not among denormal numbers; all others are as they were."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import blrgen
from blrgen.emit import emit
from blrgen.emit.compile import load

FLOATS = [np.float32, np.float64]


@lru_cache
def module(name: str, target: str = "numba", plain: bool = False) -> Any:
    source = emit(blrgen.derive(name), target=target)
    if plain:
        assert "_flushed(u_next)" in source
        source = source.replace("_flushed(u_next)", "u_next")
    return load(source)


def made(name: str, params: Any, **how: Any) -> Any:
    own = module(name, **how)
    return getattr(own, own.__all__[0])(params)


def flushed(x: np.ndarray) -> np.ndarray:
    """The helper on an array: u⁺ of momentum is x where γ = 0 and the gradient is x."""
    opt = made("momentum", np.zeros_like(x))
    opt.check_finite = False
    opt.gamma = 0.0
    opt.step(x)
    return np.array(opt.u[0])


def faded(name: str, dtype: Any, steps: int, **how: Any) -> Any:
    """After one gradient of 10⁻³⁰ or 10⁻³⁰⁰ and then none."""
    size = 1000
    opt = made(name, np.zeros(size, dtype), **how)
    g = np.full(size, 1e-30 if dtype is np.float32 else 1e-300, dtype)
    for k in range(steps):
        if hasattr(opt, "draw"):
            opt.draw(np.random.default_rng(k))
        opt.step(g if k == 0 else np.zeros_like(g))
    return opt


@pytest.mark.parametrize("dtype", FLOATS)
def test_normal_numbers_infinity_and_nan_pass(dtype: Any) -> None:
    info, rng = np.finfo(dtype), np.random.default_rng(0)
    bits = np.uint32 if dtype is np.float32 else np.uint64
    x = rng.integers(0, np.iinfo(bits).max, 200_000, bits).view(dtype)
    ends = [info.tiny, np.nextafter(info.tiny, dtype(1)), info.max, np.inf, 1, 0]
    x = np.concatenate([x, np.array(ends, dtype), -np.array(ends, dtype), [dtype(np.nan)]])
    found, small = flushed(x), np.abs(x) < info.tiny
    assert small.sum() > 10
    assert np.all(found[small] == 0)
    assert np.array_equal(found[~small], x[~small], equal_nan=True)


@pytest.mark.parametrize("dtype", FLOATS)
def test_denormal_numbers_do_not(dtype: Any) -> None:
    info = np.finfo(dtype)
    x = np.array([info.smallest_subnormal, np.nextafter(info.tiny, dtype(0))], dtype)
    assert np.all(flushed(np.concatenate([x, -x])) == 0)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("momentum", np.float32), ("adam", np.float32), ("adam", np.float64), ("ivon", np.float32)],
)
def test_without_gradients_it_is_zero(name: str, dtype: Any) -> None:
    """NumPy's, which keeps denormal numbers, is never further away than the smallest normal."""
    opt = faded(name, dtype, 400)
    assert np.all(opt.u[0] == 0)
    if name == "ivon":
        return  # the noise of the two files differs
    other = faded(name, dtype, 400, target="numpy")
    assert np.all(other.u[0] != 0)
    assert np.max(np.abs(other.u[0])) < np.finfo(dtype).tiny
    np.testing.assert_allclose(opt.m[0], other.m[0], rtol=1e-5, atol=np.finfo(dtype).tiny)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["momentum", "adam"])
def test_a_run_with_gradients_is_the_same_bit_by_bit(name: str, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    start = rng.standard_normal(5000).astype(dtype)
    one, two = made(name, start.copy()), made(name, start.copy(), plain=True)
    for _ in range(20):
        g = rng.standard_normal(5000).astype(dtype) * (rng.random(5000) < 0.5)
        one.step(g)
        two.step(g)
    assert np.array_equal(one.m[0], two.m[0])
    assert np.array_equal(one.u[0], two.u[0])


def test_threads_and_steps_that_draw_again_do_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = np.finfo(np.float32).tiny
    u = (np.random.default_rng(1).standard_normal(3000) * 3 * tiny).astype(np.float32)

    def after(again: bool) -> Any:
        opt = made("ivon", np.zeros(3000, np.float32))
        opt.u[0][:] = u
        opt.draw(np.random.default_rng(5))
        opt.step(np.zeros(3000, np.float32), **({"rng": np.random.default_rng(6)} if again else {}))
        return opt.u[0]

    wanted = after(False)
    assert 0 < np.sum(wanted == 0) < 3000
    assert np.array_equal(after(True), wanted)
    for threads in (1, 3):
        with monkeypatch.context() as patch:
            patch.setattr(module("ivon"), "THREADED", 1)
            patch.setattr(module("ivon"), "get_num_threads", lambda t=threads: t)
            patch.setattr(module("ivon"), "config", SimpleNamespace(NUMBA_NUM_THREADS=3))
            assert np.array_equal(after(False), wanted)
            assert np.array_equal(after(True), wanted)


def test_a_proof_takes_it_for_the_identity_and_runs_it() -> None:
    """A helper that makes more than denormal numbers 0 is refuted."""
    derivation = blrgen.derive("momentum")
    source = emit(derivation, "numba")
    from blrgen.validate.emitted import verify_emitted

    verdict = verify_emitted(source, derivation.rule)
    assert verdict.level == "identity"
    assert any("_flushed is x" in note for note in verdict.notes)
    for factor in ("1e4", "(1 + 2.0**-20)"):
        wrong = source.replace("np.finfo(type(x)).tiny", f"np.finfo(type(x)).tiny * {factor}")
        assert wrong != source
        assert verify_emitted(wrong, derivation.rule, locate=False).level == "refuted"
