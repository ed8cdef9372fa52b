"""Files for one small size: the numbers of the file for any size, its refusals, its proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import blrgen
from blrgen.emit.compile import load
from blrgen.validate.emitted import verify_emitted

SIZES = {"d": 4}


def definite(d: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    a = np.random.default_rng(seed + d).standard_normal((d, d))
    return (a @ a.T / d + np.eye(d)).astype(dtype)


@pytest.fixture(scope="module")
def von() -> Any:
    return blrgen.derive("von")


@pytest.fixture(scope="module")
def fixed(von: Any) -> Any:
    return von.compile(sizes=SIZES)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("recipe", "d"), [("newton", 1), ("von", 4), ("iblr", 3)])
def test_it_computes_what_the_file_for_any_size_computes(recipe: str, d: int, dtype: Any) -> None:
    rule = blrgen.derive(recipe)
    a, b = np.zeros(d, dtype), np.zeros(d, dtype)
    one, other = rule.compile(sizes={"d": d})(a), rule.compile("numpy")(b)
    for k in range(4):
        for opt in (one, other):
            opt.step(np.cos(np.arange(d) + k).astype(dtype), definite(d, dtype, seed=k))
    assert a.dtype == one.S.dtype == dtype
    near = 40 * np.finfo(dtype).eps
    np.testing.assert_allclose(a, b, rtol=near, atol=near)
    np.testing.assert_allclose(one.S, other.S, rtol=near, atol=near)
    assert (one.S == one.S.T).all() and one.t == 4
    for x, y in zip(one.posterior(), other.posterior(), strict=True):
        np.testing.assert_allclose(x, y, rtol=near, atol=near)


def test_a_rule_that_draws_and_one_of_matrices() -> None:
    rule = blrgen.derive("gaussian-full", ["hessian=reparam"])
    a, b = np.ones(2), np.ones(2)
    one, other = rule.compile(sizes={"d": 2})(a), rule.compile("numpy")(b)
    for opt in (one, other):
        theta = opt.draw(np.random.default_rng(3))
        opt.step(0.1 * theta)
    np.testing.assert_allclose(a, b, rtol=1e-13)
    np.testing.assert_allclose(one.S, other.S, rtol=1e-13)


def test_several_arrays_and_resuming(fixed: Any, von: Any) -> None:
    parts, whole = [np.zeros(1), np.zeros((1, 3))], np.zeros(4)
    g = np.arange(4.0)
    one, other = fixed(parts, rho=0.5), von.compile()(whole, rho=0.5)
    one.step([g[:1], g[1:].reshape(1, 3)], definite(4))
    other.step(g, definite(4))
    np.testing.assert_allclose(np.concatenate([x.ravel() for x in parts]), whole, rtol=1e-13)
    saved = other.state_dict()
    again = fixed(np.zeros(4))
    again.load_state_dict(saved)
    assert (other.S == again.S).all() and again.t == 1


def test_another_size_is_refused(fixed: Any) -> None:
    with pytest.raises(ValueError, match=r"params is float64\[3\]; here it must be float64\[4\]"):
        fixed(np.zeros(3))
    opt = fixed(np.zeros(4))
    with pytest.raises(ValueError, match="H is float64"):
        opt.step(np.zeros(4), np.eye(3))
    with pytest.raises(ValueError, match="g is float64"):
        opt.step(np.zeros(3), np.eye(4))
    with pytest.raises(TypeError, match="H is float32"):
        opt.step(np.zeros(4), np.eye(4, dtype=np.float32))
    with pytest.raises(ValueError, match=r"S is float64\[3, 3\]"):
        opt.S = np.eye(3)


def spoiled() -> list[Any]:
    out = []
    for i, j, value in (
        (0, 0, 0.0), (3, 3, -1.0), (0, 3, 1e6), (2, 2, np.nan), (0, 3, np.nan), (3, 3, np.inf),
        (0, 0, np.inf), (0, 3, np.inf), (1, 2, -np.inf),
    ):  # fmt: skip
        a = definite(4)
        a[i, j] = a[j, i] = value
        out.append(a)
    return out


@pytest.mark.parametrize("large", [False, True], ids=["written out", "any size"])
def test_refusals_are_the_same_and_change_nothing(von: Any, fixed: Any, large: bool) -> None:
    params = np.linspace(-1, 1, 4)
    opt = (von.compile() if large else fixed)(params, rho=1.0, check_finite=False)
    opt.step(np.sin(params), definite(4))
    before, kept = params.copy(), opt.S.copy()
    for a in spoiled():
        with pytest.raises(ValueError, match=r"^the next S is not positive definite; nothing has"):
            opt.step(np.sin(params), a)
    skew = definite(4)
    skew[0, 3] += 1
    with pytest.raises(ValueError, match="H is not symmetric"):
        opt.step(np.sin(params), skew)
    with pytest.raises(ValueError, match="not finite; nothing has been changed"):
        opt.step(np.full(4, np.nan), definite(4))
    assert (params == before).all() and (kept == opt.S).all() and opt.t == 1
    opt.step(np.sin(params), definite(4, seed=1))
    assert (definite(4, seed=1) == opt.S).all()


def test_the_caller_s_arrays_are_never_kept(fixed: Any) -> None:
    H = definite(4)
    opt = blrgen.derive("newton").compile(sizes=SIZES)(np.zeros(4))
    opt.step(np.ones(4), H)
    held = opt.S.copy()
    H[:] = 7
    assert (held == opt.S).all()


# proofs ----------------------------------------------------------------------------------
@pytest.mark.parametrize(("what", "approximations", "sizes"), [
    ("newton", [], {"d": 8}),
    ("iblr", [], {"d": 3}),
    ("gaussian-full", ["retraction", "backtracking"], {"d": 2}),
    ("gaussian-full", ["hessian=reparam"], {"d": 2}),
    ("matrix-normal", [], {"n": 2, "p": 3}),
])  # fmt: skip
def test_it_is_proved(what: str, approximations: list[str], sizes: dict[str, int]) -> None:
    d = blrgen.derive(what, approximations)
    verdict = verify_emitted(d.source(sizes=sizes), d.rule)
    assert verdict.proved, verdict


@pytest.mark.parametrize(("right", "wrong"), [
    ("one_minus_rho * S_0_0", "one_minus_rho * H_0_0"),
    ("m_next[0] = m_next_0", "m_next[0] = m_0"),
    ("S_next[1, 0] = S_next_1_0", "S_next[1, 0] = S_next_2_0"),
    ("S_next[1, 0] = S_next_1_0", "S_next[0, 1] = S_next_1_0"),
    ("H_3_2 = H[3, 2]", "H_3_2 = H[2, 2]"),
    ("self.t += 1", "self.t += 2"),
    ("S_next_factor_c_1_1 < np.inf", "S_next_0_0 < np.inf"),
])  # fmt: skip
def test_a_change_is_refuted(von: Any, right: str, wrong: str) -> None:
    source = von.source(sizes=SIZES)
    assert right in source
    assert verify_emitted(source.replace(right, wrong, 1), von.rule).level == "refuted"


def test_a_pivot_that_only_checks_is_proved_to_be_one() -> None:
    d = blrgen.derive("iblr")
    source = d.source(sizes={"d": 2})
    right = "0 < S_next_0_0 < np.inf"
    assert right in source
    wrong = source.replace(right, "0 < S_0_0 < np.inf")
    verdict = verify_emitted(wrong, d.rule)
    assert [name for name, p in verdict.proofs if p.level == "refuted"] == ["S, pivots"]


# the file --------------------------------------------------------------------------------
def test_the_file_says_its_size_and_is_the_same_every_time(von: Any) -> None:
    source = von.source(sizes=SIZES)
    assert "For d = 4 only" in source and 'SIZES = {"d": 4}' in source
    assert source == von.source(sizes=SIZES) != von.source()
    step = load(source)._step_entries.py_func
    assert "for " not in source[source.index("def _step_entries") : source.index("def _step(")]
    assert step.__name__ == "_step_entries"
