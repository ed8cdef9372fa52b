"""Classes of mixtures: trajectories against what is written by hand, domains, resuming."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from reference.mixtures import gaussian_diag, gaussian_full

from blrgen.api import derive
from blrgen.errors import UserError
from tests.emit.targets import TARGETS, class_of

ROADS = [("delta",), ("delta", "retraction"), ("delta", "fixed-weights")]


@cache
def made(family: str, flags: tuple[str, ...], target: str) -> Any:
    return class_of(derive(f"mixture:{family}", flags).source, target)


def loss(theta: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """½ Σ (θ² − 1)² + ½ Σ θ²: two wells a coordinate, and the derivatives."""
    t = theta**2 - 1
    return (
        float((t**2 + theta**2).sum() / 2),
        2 * theta * t + theta,
        np.diag(2 * t + 4 * theta**2 + 1),
    )


def asked(m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    values = [loss(x) for x in m]
    return tuple(np.array([v[i] for v in values]) for i in (1, 2, 0))


STARTS = {
    "apart": (5, 3, 2.0),
    "far apart": (4, 2, 30.0),
    "on one another": (4, 2, 1e-9),
    "one": (1, 3, 1.0),
    "in one dimension": (6, 1, 1.5),
}


@pytest.mark.sweep(16)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("flags", ROADS)
def test_trajectories_are_those_of_the_formulas(
    flags: tuple[str, ...], start: str, target: str
) -> None:
    K, d, spread = STARTS[start]
    rng = np.random.default_rng(K)
    m, S, pi = (
        1 + spread * rng.standard_normal((K, d)),
        np.tile(np.eye(d), (K, 1, 1)),
        np.full(K, 1 / K),
    )
    rho = 0.05 if start != "far apart" else 1e-4
    opt = made("gaussian-full", flags, target)(m, rho=rho)
    by_hand = gaussian_full.delta_retraction if "retraction" in flags else gaussian_full.delta
    for _ in range(30):
        g, H, values = asked(m)
        given = (g, H) if "fixed-weights" in flags else (g, H, values)
        m, S, pi = by_hand(m, S, pi, g, H, None if "fixed-weights" in flags else values, rho)
        opt.step(*given)
        for ours, theirs in ((opt.m, m), (opt.S, S), (opt.pi, pi)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * np.abs(theirs).max())


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("flags", ROADS)
def test_diagonal_trajectories_are_those_of_the_formulas(
    flags: tuple[str, ...], target: str
) -> None:
    rng = np.random.default_rng(2)
    m, s, pi = rng.standard_normal((4, 5)), np.ones((4, 5)), np.full(4, 0.25)
    opt = made("gaussian-diag", flags, target)(m, rho=0.05)
    by_hand = gaussian_diag.delta_retraction if "retraction" in flags else gaussian_diag.delta
    for _ in range(30):
        g, H, values = asked(m)
        h = np.array([np.diag(x) for x in H])
        given = (g, h) if "fixed-weights" in flags else (g, h, values)
        m, s, pi = by_hand(m, s, pi, g, h, None if "fixed-weights" in flags else values, 0.05)
        opt.step(*given)
        for ours, theirs in ((opt.m, m), (opt.s, s), (opt.pi, pi)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("target", TARGETS)
def test_no_component_leaves_the_cone_with_the_retraction(target: str) -> None:
    """Whatever the curvature is; the step in natural coordinates leaves it at once."""
    rng = np.random.default_rng(0)
    kind = made("gaussian-full", ("delta", "retraction", "fixed-weights"), target)
    plain = made("gaussian-full", ("delta", "fixed-weights"), target)
    left = 0
    tries = {"numpy": 3_000, "numba": 1_000}.get(target, 100)
    for _ in range(tries):
        m, g = rng.standard_normal((2, 3, 2)) * 3
        H = rng.standard_normal((3, 2, 2)) * 50
        H = H + np.swapaxes(H, 1, 2)
        opt = kind(m, rho=rng.uniform(0.1, 1))
        opt.step(g, H)
        assert (np.linalg.eigvalsh(opt.S) > 0).all()
        other = plain(m, rho=opt.rho)
        try:
            other.step(g, H)
        except ValueError:
            left += 1
    assert left > tries / 2


@pytest.mark.parametrize("target", TARGETS)
def test_a_step_that_leaves_the_cone_changes_nothing(target: str) -> None:
    m = np.array([[0.0, 0.0], [1.0, 1.0]])
    opt = made("gaussian-full", ("delta",), target)(m, rho=1.0)
    before = opt.state_dict()
    with pytest.raises(ValueError, match=r"leaves the domain of .*; nothing has been changed"):
        opt.step(np.ones((2, 2)), np.tile(-5 * np.eye(2), (2, 1, 1)), np.zeros(2))
    after = opt.state_dict()
    assert after["t"] == 0
    for name in ("m", "S", "pi"):
        assert np.array_equal(before[name], after[name])


@pytest.mark.sweep(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("flags", ROADS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_states_are_arrays_of_their_own(dtype: Any, flags: tuple[str, ...], target: str) -> None:
    """What a caller keeps of before a step, or set, is not written to by a later one."""
    rng = np.random.default_rng(3)
    opt = made("gaussian-full", flags, target)(rng.standard_normal((3, 2)).astype(dtype), rho=0.1)
    handed = np.tile(2 * np.eye(2, dtype=dtype), (3, 1, 1))
    opt.S = handed
    for _ in range(3):
        kept = {name: getattr(opt, name) for name in ("m", "S", "pi")}
        copies = copy.deepcopy(kept)
        given = [x.astype(dtype) for x in asked(opt.m)][: 2 if "fixed-weights" in flags else 3]
        opt.step(*given)
        now = {name: getattr(opt, name) for name in kept}
        for name in kept:
            assert np.array_equal(kept[name], copies[name])
            assert now[name].dtype == dtype and now[name].shape == kept[name].shape
            assert now[name].flags.c_contiguous and now[name].flags.writeable
            assert not any(np.shares_memory(now[name], x) for x in given)
        assert not np.array_equal(now["m"], kept["m"])
    assert np.array_equal(handed, np.tile(2 * np.eye(2), (3, 1, 1)))


@pytest.mark.parametrize("target", TARGETS)
def test_it_resumes_bit_by_bit_or_not_at_all(target: str) -> None:
    rng = np.random.default_rng(1)
    kind = made("gaussian-full", ("delta",), target)
    one = kind(rng.standard_normal((3, 2)), rho=0.1)
    for _ in range(3):
        one.step(*asked(one.m))
    other = kind(np.zeros((3, 2)) + rng.standard_normal((3, 2)))
    other.load_state_dict(copy.deepcopy(one.state_dict()))
    for opt in (one, other):
        opt.step(*asked(opt.m))
    assert other.t == 4 and other.rho == 0.1
    for name in ("m", "S", "pi"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    wrong = one.state_dict() | {"S": -one.S}
    with pytest.raises(ValueError, match="S is not positive definite"):
        other.load_state_dict(wrong)
    assert np.array_equal(one.S, other.S)
    with pytest.raises(ValueError, match=r"lacks .*: pi"):
        other.load_state_dict({k: v for k, v in one.state_dict().items() if k != "pi"})


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_given_is_looked_at(target: str) -> None:
    kind = made("gaussian-full", ("delta",), target)
    m = np.zeros((2, 3)) + np.arange(2)[:, None]
    with pytest.raises(ValueError, match="not positive definite"):
        kind(m, S=np.zeros((2, 3, 3)))
    with pytest.raises(ValueError, match="not on the simplex"):
        kind(m, pi=np.array([0.5, 0.6]))
    with pytest.raises(ValueError, match="rho"):
        kind(m, rho=1.5)
    opt = kind(m)
    with pytest.raises(ValueError, match=r"g has shape \(3, 2\)"):
        opt.step(np.zeros((3, 2)), np.zeros((2, 3, 3)), np.zeros(2))
    with pytest.raises(ValueError, match="not finite"):
        opt.step(np.full((2, 3), np.nan), np.zeros((2, 3, 3)), np.zeros(2))
    with pytest.raises(AttributeError, match="cannot be set"):
        opt.learning_rate = 3
    assert opt.t == 0


def test_single_precision_stays_single() -> None:
    for target in ("numpy", "loops"):
        opt = made("gaussian-full", ("delta",), target)(np.eye(3, 2, dtype=np.float32))
        g, H, values = asked(opt.m.astype(float))
        opt.step(g.astype(np.float32), H.astype(np.float32), values.astype(np.float32))
        assert {opt.m.dtype, opt.S.dtype, opt.pi.dtype} == {np.dtype(np.float32)}


def test_the_step_before_starts_where_the_state_does() -> None:
    opt = made("gaussian-diag", ("delta", "momentum"), "numpy")(np.array([[0.5], [1.5]]))
    assert np.array_equal(opt.m_prev, opt.m) and np.array_equal(opt.s_prev, opt.s)
    assert opt.m_prev is not opt.m and set(opt.posterior()) == {"m", "s", "pi"}
    opt.step(np.ones((2, 1)), np.ones((2, 1)), np.zeros(2))
    assert not np.array_equal(opt.m_prev, opt.m)


def test_a_weight_of_zero_stays_zero() -> None:
    for target in ("numpy", "loops"):
        opt = made("gaussian-full", ("delta",), target)(
            np.array([[0.0], [1.0]]), pi=np.array([1.0, 0.0])
        )
        opt.step(*asked(opt.m))
        assert opt.pi.tolist() == [1.0, 0.0]


def test_what_has_no_class_says_why() -> None:
    with pytest.raises(UserError, match="expectations of log q"):
        derive("mixture:gaussian-full").source()
    with pytest.raises(UserError, match="takes g, H and l at the means"):
        derive("mixture:gaussian-full", ["delta"], loss="dot(theta, theta)").source()
    with pytest.raises(UserError, match="not for mixtures"):
        derive("mixture:gaussian-full", ["delta"]).source(sizes={"d": 2})
