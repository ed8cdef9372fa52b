"""`sample(name, rng, size)`: draws of q have q's moments, within what so many draws err by."""

from functools import cache

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import CASES, MODELS, as_python

COUNT, SURE = 4000, 5.0


@cache
def fitted(name, algorithm, target="numpy"):
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    program = lower(derive_model(model, algorithm))
    with np.errstate(all="ignore"):
        made = as_python(text(program, target))[program.name](**CASES[name, algorithm], seed=3)
        made.run(3)
    return program, made


MEANS = {  # of the families that the shipped models have, by their working parameters
    "gaussian": lambda q: q["m"],
    "gaussian-full": lambda q: q["m"],
    "gamma": lambda q: q["a"] / q["b"],
    "beta": lambda q: q["a"] / (q["a"] + q["b"]),
    "dirichlet": lambda q: q["alpha"] / q["alpha"].sum(-1, keepdims=True),
    "wishart": lambda q: q["n"][..., None, None] * q["V"],
    "bernoulli": lambda q: q["p"],
}


def mean_is(draws, mean):
    spread = draws.std(axis=0) / np.sqrt(len(draws))
    assert draws.shape[1:] == np.shape(mean)
    assert (np.abs(draws.mean(axis=0) - mean) <= SURE * spread + 1e-12).all()


def share_is(draws, p):
    """Of what is 0 or 1: its deviation is known; what is rare comes some times more."""
    p = np.clip(p, 0, 1)
    spread = np.sqrt(p * (1 - p) / len(draws))
    assert draws.shape[1:] == np.shape(p)
    assert (np.abs(draws.mean(axis=0) - p) <= SURE * spread + 8 / len(draws)).all()


@pytest.mark.sweep(12)
@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_draws_have_the_mean_of_q(name, algorithm):
    program, model = fitted(name, algorithm)
    rng = np.random.default_rng(1)
    for x in program.samples:
        draws, q = model.sample(x.node, rng, COUNT), model.posterior(x.node)
        family = x.family.name
        if family == "categorical":
            share_is(np.eye(q["p"].shape[-1])[draws], q["p"])
        elif family in MEANS:
            mean_is(draws, MEANS[family](q))
        if family == "normal-wishart":
            mean_is(draws["mu"], q["m"])
            mean_is(draws["L"], q["n"][..., None, None] * q["V"])
        if family == "normal-gamma":
            mean_is(draws["mu"], q["m"])
            mean_is(draws["tau"], q["a"] / q["b"])


def test_a_path_has_the_joint_of_neighbours():
    _, model = fitted("hmm-gaussian-em", "em")
    draws = model.sample("z", np.random.default_rng(2), COUNT)
    one = np.eye(2)[draws]
    share_is(np.einsum("stj,stk->stjk", one[:, :-1], one[:, 1:]), model.pairs("z"))


def test_a_gaussian_chain_has_its_covariances():
    _, model = fitted("state-space", "conjugate")
    draws = model.sample("x", np.random.default_rng(2), COUNT)
    off = draws - model.posterior("x")["m"]
    mean_is(np.einsum("sti,stj->stij", off[:, :-1], off[:, 1:]), model.pairs("x"))
    precision = model.posterior("x")["S"]
    mean_is(np.einsum("sti,stj->stij", off, off), np.linalg.inv(precision))


def test_the_same_seed_gives_the_same_draws_in_both_targets():
    for name, algorithm in (("gaussian-mixture-full", "vmp"), ("hmm-gaussian-many", "vmp"),
                            ("state-space", "conjugate")):  # fmt: skip
        program, one = fitted(name, algorithm)
        _, two = fitted(name, algorithm, "numba")
        for x in program.samples:
            a, b = (m.sample(x.node, np.random.default_rng(5), (2, 2)) for m in (one, two))
            pairs = zip(a.values(), b.values(), strict=True) if isinstance(a, dict) else [(a, b)]
            for v, w in pairs:
                np.testing.assert_allclose(v, w, rtol=1e-6, atol=1e-9)


def test_what_has_no_draws_is_refused():
    _, model = fitted("gaussian-mixture-full-em", "em")
    for name in ("mu", "nu"):
        with pytest.raises(ValueError, match="no sample"):
            model.sample(name, np.random.default_rng(0))
