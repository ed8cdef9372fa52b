"""What an emitted class promises beyond its arithmetic: errors, dtypes, resuming, lists."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from blrgen.emit import emit
from blrgen.emit.compile import compile_class, load
from tests.shared_kernels import unshared

TARGETS = ("numpy", "numba")
KIND = {"bayesbinn": "finite"}


def made(hand: Any, name: str, target: str, dtype: str | None = None) -> Any:
    d = hand.derivation(hand.rules[name](), name, KIND.get(name, "vector"))
    return compile_class(emit(d, target, dtype))


def advance(opt: Any, name: str, params: Any, rng: np.random.Generator) -> None:
    """One step on a non-quadratic loss."""
    a = np.concatenate([p.ravel() for p in params]) if isinstance(params, list) else params
    kind = a.dtype
    if name == "ridge":
        opt.step(rng.standard_normal((9, a.size)).astype(kind), rng.standard_normal(9).astype(kind))
    elif name in ("von", "iblr", "laplace"):
        opt.step(
            np.sin(a), np.eye(a.size, dtype=kind) * kind.type(1.5 + abs(rng.standard_normal()))
        )
    elif name == "adam":
        opt.step(np.sin(a))
    else:
        opt.step(np.sin(opt.draw(rng)))


NAMES = ("adam", "ivon", "bayesbinn", "von", "iblr", "laplace", "ridge", "full_draws")


# compiled: a rule of each kind; of ivon the test of its kernels sees every number
COMPILED = ("adam", "bayesbinn", "iblr", "ridge")


@pytest.mark.sweep(10)
@pytest.mark.parametrize(
    ("name", "target"), [*((x, "numpy") for x in NAMES), *((x, "numba") for x in COMPILED)]
)
def test_float32_stays_float32(hand: Any, name: str, target: str) -> None:
    params = np.linspace(-1, 1, 6, dtype=np.float32)
    opt = made(hand, name, target)(params)
    rng = np.random.default_rng(0)
    for _ in range(3):
        advance(opt, name, params, rng)
    kinds = {v.dtype for v in arrays_of(opt.state_dict())} | {params.dtype}
    kinds |= {a.dtype for a in opt.posterior()} if name != "adam" else set()
    kinds |= {opt.sample(rng).dtype} if name != "adam" else set()
    assert kinds == {np.dtype(np.float32)}


@pytest.mark.sweep(12)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["adam", "ivon", "bayesbinn", "von", "iblr"])
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda opt: pickle.loads(pickle.dumps(opt))])
def test_a_copy_steps_its_own_parameters(hand: Any, name: str, target: str, copied: Any) -> None:
    """As the original would: one call over many arrays knows them by their addresses."""
    params = [np.linspace(-1, 1, 6).reshape(2, 3), *(np.full(2, 0.1 * k) for k in range(1, 6))]
    opt, rng = made(hand, name, target)(params), np.random.default_rng(0)
    for _ in range(2):
        opt.draw(rng) if hasattr(opt, "draw") else None
        stepped(opt, rng)
    opt.draw(rng) if hasattr(opt, "draw") else None
    other, before = copied(opt), copy.deepcopy(arrays_of(opt.state_dict()))
    stepped(other, np.random.default_rng(1))
    assert all(map(np.array_equal, before, arrays_of(opt.state_dict())))
    stepped(opt, np.random.default_rng(1))
    assert all(map(np.array_equal, opt.params, other.params))
    assert not any(map(np.shares_memory, opt.params, other.params))
    assert not np.array_equal(before[0], arrays_of(opt.state_dict())[0])


def stepped(opt: Any, rng: np.random.Generator) -> None:
    given = [[rng.standard_normal(p.shape) for p in opt.params]]
    if "H" in inspect.signature(opt.step).parameters:
        given.append(np.eye(sum(p.size for p in opt.params)))
    opt.step(*given)


def arrays_of(state: dict[str, Any]) -> list[Any]:
    found = []
    for v in state.values():
        if isinstance(v, np.ndarray):
            found.append(v)
        elif isinstance(v, list):
            found += [a for a in v if isinstance(a, np.ndarray)]
        elif isinstance(v, dict):
            found += arrays_of(v)
    return found


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", ["adam", "ivon", "bayesbinn"])
def test_float32_kernel_has_no_float64_arithmetic(hand: Any, name: str) -> None:
    d = hand.derivation(hand.rules[name](), name, KIND.get(name, "vector"))
    with unshared():
        module = load(f"{emit(d, 'numba')}# {uuid4()}: what was kept has no text to look at\n")
    params = np.linspace(-1, 1, 6, dtype=np.float32)
    opt = getattr(module, module.__all__[0])(params)
    rng = np.random.default_rng(0)
    if name == "ivon":
        for _ in range(2):
            opt.observe(np.sin(opt.draw(rng)))
        opt.step()
    advance(opt, name, params, rng)
    # choices between two values are settled in double where 16 bits leave a tie
    choices = {"_settle", "_signs_block", "_signs", "_signs_threads"}
    named = {name: f for name, f in vars(module).items() if name not in choices}
    kernels = [f for f in named.values() if hasattr(f, "inspect_llvm")]
    assert not any(f.stats.cache_hits for f in kernels)
    checked = 0
    for f in kernels:
        for key in f.signatures:
            parts = re.split(r"^(?=define )", f.inspect_llvm(key), flags=re.M)
            own = [p for p in parts if "cpython" not in p.partition("\n")[0]]  # no boxing
            for line in "".join(own).splitlines():
                words = line.split()
                arithmetic = any(w in ("fadd", "fsub", "fmul", "fdiv", "fpext") for w in words)
                assert not (arithmetic and "double" in line), line
                checked += arithmetic
    assert checked > 3


@pytest.mark.sweep(8)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_resume_is_exact(hand: Any, name: str, target: str) -> None:
    cls = made(hand, name, target)
    params = [np.linspace(-1, 1, 4), np.linspace(0, 1, 2).reshape(1, 2)]
    opt, rng = cls(params), np.random.default_rng(0)

    def once(o: Any, p: Any, r: Any) -> None:
        a = np.concatenate([x.ravel() for x in p])

        def split(v: Any) -> Any:
            return [v[:4].copy(), v[4:].reshape(1, 2).copy()]

        if name == "adam":
            o.step(split(np.sin(a)))
        elif name in ("ivon", "bayesbinn", "full_draws"):
            o.step([np.sin(x) for x in o.draw(r)])
        elif name == "ridge":
            o.step(r.standard_normal((9, 6)), r.standard_normal(9))
        else:
            o.step(split(np.sin(a)), np.eye(6) * (1.5 + r.random()))

    for _ in range(3):
        once(opt, params, rng)
    if name in ("ivon", "bayesbinn", "full_draws"):
        if name != "bayesbinn":
            opt.observe([np.sin(x) for x in opt.draw(rng)])
        opt.draw(rng)  # noise is pending
    hyper = next(q.name for q in hand.rules[name]().of("hyper")) if name != "laplace" else None
    if hyper:
        setattr(opt, hyper, 0.3)  # a schedule
    saved = pickle.loads(pickle.dumps(opt.state_dict()))
    kept = copy.deepcopy(saved)
    other = [np.zeros(4), np.zeros((1, 2))]
    again = cls(other)
    again.load_state_dict(saved)
    rngs = np.random.default_rng(7), np.random.default_rng(7)
    for o, p, r in zip((opt, again), (params, other), rngs, strict=True):
        if name in ("ivon", "bayesbinn", "full_draws"):
            o.step([np.cos(x) for x in p])  # uses the pending noise
        for _ in range(3):
            once(o, p, r)
    assert all(np.array_equal(a, b) for a, b in zip(params, other, strict=True))
    assert opt.t == again.t > 3
    for a, b in zip(arrays_of(kept), arrays_of(saved), strict=True):
        assert np.array_equal(a, b)  # the saved state is a copy, not a view


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["adam", "von"])
def test_what_cannot_be_used_is_refused(hand: Any, name: str, target: str) -> None:
    cls = made(hand, name, target)
    ones = np.ones(4)
    hyper = {"adam": "beta1", "von": "rho"}[name]
    H = {"adam": (), "von": (np.eye(4),)}[name]
    cases: list[tuple[type[Exception], str, Any]] = [
        (ValueError, rf"{hyper} = nan is outside", lambda: cls(ones, **{hyper: np.nan})),
        (ValueError, rf"{hyper} = -0.1 is outside", lambda: cls(ones, **{hyper: -0.1})),
        (TypeError, "unexpected keyword argument 'lr'", lambda: cls(ones, lr=1.0)),
        (TypeError, "params is int64, not float32 or float64", lambda: cls(np.arange(3))),
        (TypeError, "params is a float; pass a NumPy array", lambda: cls(1.0)),
        (TypeError, r"params\[1\] is a str", lambda: cls([ones, "x"])),
        (ValueError, "params is read-only or not contiguous", lambda: cls(np.ones((4, 4)).T[::2])),
        (TypeError, r"g is float32\[4\]; here it must be float64\[4\]",
         lambda: cls(ones).step(np.ones(4, np.float32), *H)),
        (ValueError, r"g is float64\[5\]; here it must be float64\[4\]",
         lambda: cls(ones).step(np.ones(5), *H)),
        (ValueError, "g: 2 arrays for 1 arrays", lambda: cls(ones).step([ones, ones], *H)),
        (ValueError, "the saved state lacks or has too much: .*, t",
         lambda: cls(ones).load_state_dict({})),
        (ValueError, "the saved state lacks or has too much: NoneType, ",
         lambda: cls(ones).load_state_dict(None)),
        (ValueError, r"m is float64\[4\]; here it must be float64\[3\]",
         lambda: cls(np.ones(3)).load_state_dict(cls(ones).state_dict())),
    ]  # fmt: skip
    for kind, message, provoke in cases:
        with pytest.raises(kind, match=message):
            provoke()
    frozen = np.ones(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        cls(frozen)
    opt = cls(ones)
    with pytest.raises(ValueError, match=rf"{hyper} = 2.0 is outside"):
        setattr(opt, hyper, 2.0)
    assert opt.t == 0 and np.array_equal(ones, np.ones(4))


def test_a_state_that_is_set_is_a_copy(hand: Any) -> None:
    one, other = (made(hand, "adam", "numpy")(np.ones(4)) for _ in range(2))
    one.step(np.ones(4))
    other.u = one.u
    before = one.u[0].copy()
    other.step(np.ones(4))
    assert np.array_equal(one.u[0], before) and not np.array_equal(other.u[0], before)
    with pytest.raises(ValueError, match=r"u = .* is no list of 1 arrays"):
        other.u = np.ones(4)


@pytest.mark.parametrize("target", TARGETS)
def test_matrix_inputs_are_checked(hand: Any, target: str) -> None:
    opt = made(hand, "von", target)(np.ones(3))
    with pytest.raises(ValueError, match=r"H is float64\[3\]; here it must be float64\[3, 3\]"):
        opt.step(np.ones(3), np.ones(3))
    with pytest.raises(ValueError, match="H is not symmetric"):
        opt.step(np.ones(3), np.triu(np.ones((3, 3))))
    with pytest.raises(TypeError, match=r"H is float32\[3, 3\]; .* float64\[3, 3\]"):
        opt.step(np.ones(3), np.eye(3, dtype=np.float32))
    with pytest.raises(TypeError, match="mixes dtypes"):
        made(hand, "von", target)([np.ones(2), np.ones(2, np.float32)])


@pytest.mark.sweep(6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["ivon", "bayesbinn", "full_draws"])
def test_draws_are_asked_for(hand: Any, name: str, target: str) -> None:
    opt = made(hand, name, target)(np.ones(3))
    with pytest.raises(RuntimeError, match="step needs a draw"):
        opt.step(np.ones(3))
    with pytest.raises(TypeError, match=r"rng=np.random.default_rng\(seed\), or eps="):
        opt.draw()
    with pytest.raises(TypeError, match=r"rng=np.random.default_rng\(seed\), or eps="):
        opt.draw(0)
    one, two = (opt.draw(np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(one, two) and not np.shares_memory(one, two)
    opt.step(np.ones(3))
    with pytest.raises(RuntimeError, match="step needs a draw"):
        opt.step(np.ones(3))
    if name != "bayesbinn":
        opt.draw(np.random.default_rng(3))
        with pytest.raises(RuntimeError, match="the last draw was not observed"):
            opt.step()
        opt.observe(np.ones(3))
        with pytest.raises(RuntimeError, match="observe needs a draw"):
            opt.observe(np.ones(3))
        opt.step()
    assert opt.t == (1 if name == "bayesbinn" else 2)


def test_a_declared_dtype_refuses_the_other(hand: Any) -> None:
    for target in TARGETS:
        cls = made(hand, "adam", target, "float32")
        with pytest.raises(TypeError, match=r"params is float64, not float32"):
            cls(np.ones(3))
        params = np.ones(3, np.float32)
        cls(params).step(np.ones(3, np.float32))
        assert params.dtype == np.float32 and params[0] != 1


@pytest.mark.parametrize("target", TARGETS)
def test_hyperparameters_are_attributes(hand: Any, target: str) -> None:
    params = np.zeros(3)
    opt = made(hand, "adam", target)(params)
    opt.alpha = 0.5
    opt.step(np.ones(3))
    np.testing.assert_allclose(params, -0.5, rtol=1e-7)


def test_noise_of_a_seed_is_the_generators_own_in_numpy(hand: Any) -> None:
    drawn = made(hand, "ivon", "numpy")(np.zeros(5)).draw(np.random.default_rng(11))
    wanted = np.random.default_rng(11).standard_normal(5) / np.sqrt(50 * 1.01)
    np.testing.assert_allclose(drawn, wanted, rtol=1e-14)


def test_noise_of_a_seed_depends_on_the_seed_alone(hand: Any) -> None:
    cls = made(hand, "ivon", "numba")
    drawn = cls(np.zeros(3000)).draw(np.random.default_rng(11))
    again = cls([np.zeros(1100), np.zeros(1900)]).draw(np.random.default_rng(11))
    other = cls(np.zeros(3000)).draw(np.random.default_rng(12))
    assert np.array_equal(drawn, np.concatenate(again))
    assert not np.isin(drawn, other).any()
