"""Threads, lists of arrays and steps that draw again give what the plain path gives."""

from __future__ import annotations

from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
import pytest

import blrgen
from blrgen.emit import emit
from blrgen.emit.compile import load

THREADS = (1, 2, 3, 7)
SIZES = (0, 1, 63, 64, 65, 255, 256, 257, 2047, 2048, 2049, 100_003)
STEPS = 3


@lru_cache
def emitted(name: str) -> Any:
    return load(emit(blrgen.derive(name), target="numba"))


def made(name: str, params: Any) -> Any:
    own = emitted(name)
    return getattr(own, own.__all__[0])(params)


def stepped(name: str, params: Any, gradients: Any) -> Any:
    opt = made(name, params)
    for k in range(STEPS):
        opt.step(gradients(k))
    return opt


def numbers(size: int, seed: int, dtype: str = "float32") -> Any:
    return np.random.default_rng(seed).standard_normal(size).astype(dtype)


def serial(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """No array is large."""
    monkeypatch.setattr(emitted(name), "THREADED", 10**9)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("size", SIZES)
def test_threads_change_nothing(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        serial(patch, "adam")
        plain = stepped("adam", start := numbers(size, 0), lambda k: numbers(size, k + 1))
    for threads in THREADS:
        with monkeypatch.context() as patch:
            patch.setattr(emitted("adam"), "THREADED", 1)
            patch.setattr(emitted("adam"), "get_num_threads", lambda t=threads: t)
            patch.setattr(emitted("adam"), "config", SimpleNamespace(NUMBA_NUM_THREADS=3))
            opt = stepped("adam", params := numbers(size, 0), lambda k: numbers(size, k + 1))
        assert np.array_equal(params, start)
        assert all(np.array_equal(getattr(opt, x)[0], getattr(plain, x)[0]) for x in ("u", "s"))


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", ["adam", "sgd", "ste", "ivon"])
@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("shapes", [[(70_001,)], [(300, 7)], [(60_000,), (40, 5), (9_999,)]])
def test_few_large_arrays(
    name: str, threads: int, shapes: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One array, or few, go a way of their own where there is one thread, or several."""

    def run() -> tuple[Any, Any]:
        params = [numbers(int(np.prod(s)), k).reshape(s) for k, s in enumerate(shapes)]
        opt = made(name, params if len(params) > 1 else params[0])
        for k in range(STEPS):
            given = [numbers(x.size, 9 * k + j).reshape(x.shape) for j, x in enumerate(params)]
            if name == "ivon":
                opt.draw(eps=[x / 2 for x in given])
            elif name == "ste":
                opt.draw()
            opt.step(given if len(params) > 1 else given[0])
        return opt, params

    with monkeypatch.context() as patch:
        serial(patch, name)
        _, wanted = run()
    monkeypatch.setattr(emitted(name), "THREADED", 2_000)
    monkeypatch.setattr(emitted(name), "get_num_threads", lambda: threads)
    monkeypatch.setattr(emitted(name), "config", SimpleNamespace(NUMBA_NUM_THREADS=3))
    own, threaded = emitted(name), []

    def counted(f: Any) -> Any:
        return lambda *given: (threaded.append(f), f(*given))

    for x in [x for x in vars(own) if x.endswith("_threads") and x != "get_num_threads"]:
        monkeypatch.setattr(own, x, counted(getattr(own, x)))
    _, params = run()
    assert all(map(np.array_equal, params, wanted))
    assert bool(threaded) == (threads > 1)


@pytest.mark.parametrize("shapes", [[(3,), (0,), (2, 5), (1,), (), (700,), (1, 1)], [(5,)] * 300])
def test_a_list_is_its_arrays(shapes: Any) -> None:
    def arrays(seed: int) -> list[Any]:
        return [numbers(int(np.prod(s)), seed + k, "float64").reshape(s)
                for k, s in enumerate(shapes)]  # fmt: skip

    params = arrays(0)
    stepped("adam", params, lambda k: arrays(100 + k))
    for index, wanted in enumerate(arrays(0)):
        stepped("adam", wanted, lambda k, index=index: arrays(100 + k)[index])
        np.testing.assert_allclose(params[index], wanted, rtol=1e-14)


def test_arrays_that_change_between_steps() -> None:
    params = [np.ones(3) for _ in range(6)]
    opt, wanted = made("sgd", params), [np.ones(3) for _ in range(6)]
    kept = [np.full(3, float(k)) for k in range(6)]
    for gradients in (kept, kept, [x + 1 for x in kept], [*kept[:5], kept[5] + 3], kept):
        opt.step(gradients)
        for x, g in zip(wanted, gradients, strict=True):
            x -= opt.rho * g
    np.testing.assert_allclose(params, wanted, rtol=1e-14)


def test_states_that_are_replaced_are_seen() -> None:
    params = [np.ones(2) for _ in range(6)]
    opt, again = made("momentum", params), made("momentum", [x.copy() for x in params])
    g = [np.ones(2) for _ in range(6)]
    opt.step(g)
    again.step(g)
    opt.u[2] = opt.u[2] + 1  # another array
    again.u[2] += 1  # the same one
    opt.step(g)
    again.step(g)
    assert all(map(np.array_equal, opt.u, again.u)) and all(map(np.array_equal, opt.m, again.m))


@pytest.mark.parametrize("dtypes", [("float32", "float64"), ("float64", "float32", "float64")])
def test_dtypes_side_by_side(dtypes: tuple[str, ...]) -> None:
    params = [numbers(7, k, d) for k, d in enumerate(dtypes * 4)]
    wanted = [x.copy() for x in params]
    gradients = [numbers(7, 50 + k, d) for k, d in enumerate(dtypes * 4)]
    stepped("adam", params, lambda k: gradients)
    for x, g, result in zip(wanted, gradients, params, strict=True):
        stepped("adam", x, lambda k, g=g: g)
        assert result.dtype == x.dtype
        np.testing.assert_allclose(result, x, rtol=1e-6 if x.dtype == np.float32 else 1e-14)


@pytest.mark.parametrize("many", [[(7,)], [(3,)] * 9])
def test_inputs_that_do_not_fit_are_refused(many: Any) -> None:
    params = [np.zeros(s) for s in many]
    opt = made("adam", params)
    opt.step([np.ones(s) for s in many])
    before = [x.copy() for x in params]
    right = [np.ones(s) for s in many]
    for wrong, error in (
        (np.ones(4), ValueError), (right[0].astype(np.float32), TypeError),
        ([1.0] * 3, TypeError),
    ):  # fmt: skip
        with pytest.raises(error):
            opt.step([*right[:-1], wrong])
    assert all(map(np.array_equal, before, params)) and opt.t == 1


def test_arrays_at_odd_addresses() -> None:
    """Compiled code reads arrays that begin at any multiple of their element."""
    held = np.zeros(4 * 70_001 + 4, np.uint8)[4:].view(np.float32)
    wanted = np.zeros(held.size, np.float32)
    g = numbers(held.size + 1, 3)[1:]
    stepped("adam", held, lambda k: g)
    stepped("adam", wanted, lambda k: g.copy())
    np.testing.assert_allclose(held, wanted, rtol=1e-6)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", ["ivon", "vadam", "vogn", "bayesbinn"])
def test_a_step_that_draws_again(name: str) -> None:
    size = 2_500
    one, two = numbers(size, 0, "float64"), numbers(size, 0, "float64")
    opt, plain = made(name, one), made(name, two)
    rng, again = np.random.default_rng(5), np.random.default_rng(5)
    theta = opt.draw(rng)
    for k in range(4):
        other = plain.draw(again)
        np.testing.assert_allclose(theta, other, rtol=1e-11, atol=1e-13)
        g = [numbers(size, 9 + k, "float64") ** (2 * i or 1) for i in range(inputs(name))]
        theta = opt.step(*g, rng=rng)
        assert plain.step(*g) is None
    np.testing.assert_allclose(one, two, rtol=1e-11)


def inputs(name: str) -> int:
    return len(blrgen.derive(name).rule.of("input"))


@pytest.mark.parametrize("name", ["ivon", "bayesbinn"])
def test_noise_is_that_of_the_flat_array(name: str) -> None:
    """However the parameters are split, and however many threads there are."""
    flat = made(name, np.ones(4_001)).draw(np.random.default_rng(1))
    split = made(name, [np.ones(1), np.ones((40, 50)), np.ones(0), np.ones(2_000)])
    parts = split.draw(np.random.default_rng(1))
    assert np.array_equal(flat, np.concatenate([x.reshape(-1) for x in parts]))


@pytest.mark.parametrize("name", ["ivon", "bayesbinn"])
def test_noise_that_is_given_is_used_in_one_call_as_array_by_array(name: str) -> None:
    size, noise = 70_001, np.random.default_rng(3)
    one, many = (
        made(name, np.ones(size)),
        made(name, [np.ones(60_000), np.ones((10_000, 1)), np.ones(1)]),
    )
    (law,) = [v.name for v in blrgen.derive(name).rule.of("draw")]
    given = noise.uniform(0.1, 0.9, size)
    parts = [given[:60_000], given[60_000:70_000].reshape(-1, 1), given[70_000:]]
    whole = one.draw(**{law: given})
    split = many.draw(**{law: parts})
    assert np.array_equal(whole, np.concatenate([x.reshape(-1) for x in split]))
    small = made(name, np.ones(10)).draw(**{law: given[:10]})
    assert np.array_equal(whole[:10], small)


def filler(block: Any) -> Any:
    """What fills one block of the first stream, to be compiled."""

    def fill(out: Any, words: Any, key: int, first: int, *law: float) -> None:
        block(out, words, key, 0, first, *law)

    return fill


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("name", "law", "numbers"),
    [("ivon", "_standard_normal", ()), ("bayesbinn", "_logistic", (0.0, 0.5))],
)
def test_a_draw_is_made_of_the_numbers_of_its_law(
    name: str, law: str, numbers: tuple[float, ...], dtype: str
) -> None:
    """The numbers of a block lie in the memory of its words: none may be written over another."""
    own, params = emitted(name), np.random.default_rng(1).standard_normal(1000).astype(dtype)
    drawn = made(name, params).draw(np.random.default_rng(4))
    key = np.random.default_rng(4).integers(2**63)
    block, words = numba.njit(filler(getattr(own, f"{law}_block"))), np.empty(1024, np.uint32)
    eps = np.empty(1024, dtype)
    for first in range(0, eps.size, own.BLOCK):
        block(eps[first : first + own.BLOCK], words, np.uint64(key), first, *numbers)
    eps = eps[: params.size]
    given = made(name, params).draw(eps=eps)
    np.testing.assert_allclose(drawn, given, rtol=4 * np.finfo(dtype).eps)


def test_draws_are_places_of_their_own_to_be_read_only() -> None:
    opt, rng = made("ivon", np.ones(10)), np.random.default_rng(0)
    one = opt.draw(rng)
    held = one.copy()
    two = opt.draw(rng)
    assert np.array_equal(one, held) and not np.shares_memory(one, two)
    with pytest.raises(ValueError, match="read-only"):
        two[0] = 1
