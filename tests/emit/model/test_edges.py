"""Data at the edge: few rows, equal rows, constant columns, components that nobody is in.

A run survives them: every objective is finite and none is lower than the one before, every
parameter is finite, and `reason` and `notes` say what happened.  With a prior all is as ever;
without one a likelihood that grows without bound is said to, and a floor holds it.
"""

from functools import cache

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import MODELS, as_python

PRIOR = {"V0": np.eye(2), "nu0": 3.0}
FIVE = "c"  # the counts of a multinomial


def plane(r, n):
    return r.normal(size=(n, 2)) + 2 * (np.arange(n) % 2)[:, None]


def line(r, n):
    return plane(r, n)[:, 0]


def positive(r, n):
    return np.abs(line(r, n)) + 0.1


def bits(r, n):
    return (plane(r, n) > 1) * 1.0


def counts(r, n):
    return r.poisson(3, n) * 1.0


def shares(r, n):
    return r.multinomial(5, [0.2, 0.3, 0.5], n) * 1.0


def letters(r, n):
    return r.integers(0, 3, n)


MIXTURES = {
    ("bernoulli-mixture-em", "em"): (bits, {}),
    ("bernoulli-mixture", "vmp"): (bits, {}),
    ("exponential-mixture", "vmp"): (positive, {}),
    ("gamma-mixture", "em"): (positive, {}),
    ("gaussian-mixture-diag-em", "em"): (plane, {}),
    ("gaussian-mixture-diag", "vmp"): (plane, {}),
    ("gaussian-mixture-full-em", "em"): (plane, {}),
    ("gaussian-mixture-full", "vmp"): (plane, {}),
    ("gaussian-mixture-tied-em", "em"): (plane, {}),
    ("gaussian-mixture-tied", "vmp"): (plane, PRIOR),
    ("multinomial-mixture", "vmp"): (shares, {FIVE: 5.0}),
    ("poisson-mixture-em", "em"): (counts, {}),
    ("poisson-mixture", "vmp"): (counts, {}),
    ("hmm-gaussian-em", "em"): (line, {}),
    ("hmm-gaussian", "vmp"): (line, {}),
    ("hmm-poisson-em", "em"): (counts, {}),
    ("hmm-poisson", "vmp"): (counts, {}),
    ("hmm-categorical-em", "em"): (letters, {"V": 3}),
    ("hmm-categorical", "vmp"): (letters, {"V": 3}),
}
SPREAD = {"gaussian-mixture-diag-em": "v", "gaussian-mixture-full-em": "S",
          "gaussian-mixture-tied-em": "S", "hmm-gaussian-em": "v"}  # fmt: skip


@cache
def made(name, algorithm):
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    program = lower(derive_model(model, algorithm))
    return program, as_python(text(program, "numpy"))[program.name]


def scenes(make):
    """(what is strange, data, K)."""
    r = np.random.default_rng(0)
    yield "fewer rows than components", make(r, 2), 4
    yield "one row", make(r, 1), 2
    yield "one row, one component", make(r, 1), 1
    yield "all equal", np.concatenate([make(r, 1)] * 9), 2
    yield "as many components as rows", np.concatenate([make(r, 5)] * 3), 5
    x = make(r, 9)
    if x.ndim > 1 and make is not shares:
        yield "a constant column", np.c_[np.full(9, x[0, 0]), x[:, 1]], 2
        yield "two equal columns", x[:, [0, 0]], 2


def arguments(x, count, more):
    own = {k: np.full(len(x), v) if k == FIVE else v for k, v in more.items()}
    return {"x": x, "K": count, **own}


def survived(model, program, run):
    """What must hold of every run."""
    trace = np.array(run["trace"])
    assert np.isfinite(trace).all()
    assert (np.diff(trace) >= -1e-9 * (1 + np.abs(trace[1:]))).all()
    for p in program.posteriors:
        found = model.posterior(p.node)
        for x in found.values() if isinstance(found, dict) else [found]:
            assert np.isfinite(x).all()


@pytest.mark.sweep(10)
@pytest.mark.parametrize(("name", "algorithm"), MIXTURES)
def test_a_run_survives(name, algorithm):
    make, more = MIXTURES[name, algorithm]
    program, cls = made(name, algorithm)
    for what, x, count in scenes(make):
        for seed in (0, 1):
            model = cls(**arguments(x, count, more), seed=seed)
            run = model.run(25)
            survived(model, program, run)
            if algorithm == "vmp":  # a prior: nothing grows, and nothing is said
                assert run["reason"] in ("steps", "converged"), what
                assert run["notes"] == [], what
            if name in SPREAD and what in ("one row", "all equal", "a constant column"):
                assert run["reason"] == "unbounded", what


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", [x for x, algorithm in MIXTURES if algorithm == "em"])
def test_steps_alone_end_at_no_number_that_is_none(name):
    make, more = MIXTURES[name, "em"]
    program, cls = made(name, "em")
    for what, x, count in scenes(make):
        model = cls(**arguments(x, count, more), seed=0)
        said = [model.step() for _ in range(20)]
        assert np.isfinite(said).all(), what
        assert np.isfinite(model.objective()), what
        survived(model, program, {"trace": said[:1]})
        if name in SPREAD and what in ("one row", "all equal", "a constant column"):
            assert any(note["kind"] in ("unbounded", "singular") for note in model.notes), what


@pytest.mark.sweep(6)
@pytest.mark.parametrize(("T", "r"), [(1, 1), (1, 3), (2, 1), (2, 2)])
def test_a_chain_too_short_for_its_matrices_says_so_and_keeps_two_triangles_equal(T, r):
    program, cls = made("state-space-em", "em")
    rng = np.random.default_rng(1)
    given = {"y": rng.normal(size=(T, r)), "u": rng.normal(size=(T, 1)), "p": 2}
    ran, stepped = cls(**given), cls(**given)
    run = ran.run(200)
    survived(ran, program, run)
    assert run["reason"] == "unbounded"
    for _ in range(60):
        assert np.isfinite(stepped.step())
    assert np.isfinite(stepped.objective())
    for model in (ran, stepped):
        for x in (model.posterior("x")["S"], *map(model.posterior, ("Q", "R", "S1"))):
            assert np.array_equal(x, np.swapaxes(x, -1, -2))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("name", SPREAD)
def test_a_floor_holds_what_would_grow(name):
    make, more = MIXTURES[name, "em"]
    program, cls = made(name, "em")
    for what, x, count in scenes(make):
        free = cls(**arguments(x, count, more), seed=0).run(25)
        model = cls(**arguments(x, count, more), seed=0, floor={SPREAD[name]: 0.01})
        run = model.run(25)
        survived(model, program, run)
        assert run["reason"] in ("steps", "converged"), what
        found = model.posterior(SPREAD[name])
        least = np.linalg.eigvalsh(found) if found.ndim > 1 and SPREAD[name] == "S" else found
        assert (least > 0.01 - 1e-12).all()
        if free["reason"] == "unbounded":
            assert ("floor", SPREAD[name]) in {(n["kind"], n["node"]) for n in run["notes"]}


def test_a_component_that_nobody_is_in_stays_and_is_said():
    for name in ("gaussian-mixture-diag-em", "gaussian-mixture-full-em", "poisson-mixture-em"):
        make, more = MIXTURES[name, "em"]
        program, cls = made(name, "em")
        x = make(np.random.default_rng(3), 12)
        model = cls(**arguments(x, 2, more))
        start = {v.name: model.posterior(v.name) for v in program.variables}
        model = cls(**arguments(x, 2, more), start={**start, "pi": [1.0, 0.0]})
        run = model.run(5)
        survived(model, program, run)
        assert {n["kind"] for n in run["notes"]} == {"empty"}
        for v in program.variables:
            if v.name != "pi":
                np.testing.assert_array_equal(model.posterior(v.name)[1], start[v.name][1])


def test_a_probability_at_an_end_is_no_likelihood_without_bound():
    program, cls = made("bernoulli-mixture-em", "em")
    x = np.c_[np.zeros(8), np.ones(8), np.arange(8) % 2]
    model = cls(x=x, K=1)
    run = model.run(10)
    survived(model, program, run)
    assert run["reason"] == "converged"
    np.testing.assert_allclose(model.posterior("p"), [[0, 1, 0.5]], atol=1e-12)
    np.testing.assert_allclose(run["objective"], 8 * np.log(0.5), rtol=1e-12)
    assert {(n["kind"], n["node"]) for n in run["notes"]} == {("end", "p")}


@pytest.mark.parametrize("name", [*SPREAD, "factor-analysis-em", "ppca"])
def test_data_far_from_zero_are_fitted_as_near_it(name):
    """The same rows 10⁶ away: no step lowers the objective, and the fit is the same, moved."""
    r = np.random.default_rng(1)
    x = (
        line(r, 40)
        if name.startswith("hmm")
        else r.normal(size=(40, 3)) + np.arange(40)[:, None] % 2
    )
    more = {"q": 1} if name in ("factor-analysis-em", "ppca") else {"K": 2}
    program, cls = made(name, "em")
    near = cls(x=x, **more, seed=1)
    start = {v.name: near.posterior(v.name) for v in program.variables}
    moved = {**start, "mu": start["mu"] + 1e6}
    far = cls(x=x + 1e6, **more, start=moved)
    one, two = near.run(20, tol=0.0), far.run(20, tol=0.0)
    survived(far, program, two)
    np.testing.assert_allclose(two["trace"], one["trace"], rtol=1e-7)
    np.testing.assert_allclose(far.posterior("mu"), near.posterior("mu") + 1e6, rtol=1e-12)
    saved, again = far.state_dict(), cls(x=x + 1e6, **more, seed=5)
    again.load_state_dict(saved)
    assert again.objective() == far.objective()
    other = cls(x=x, **more)  # of other data: what is saved is where it was
    other.load_state_dict(saved)
    np.testing.assert_allclose(other.posterior("mu"), far.posterior("mu"), rtol=1e-12)
    if hasattr(far, "log_predictive"):
        np.testing.assert_allclose(far.log_predictive(x=x + 1e6), near.log_predictive(x=x),
                                   rtol=1e-6)  # fmt: skip


def test_floors_that_are_none_are_refused():
    _, cls = made("gaussian-mixture-diag-em", "em")
    x = plane(np.random.default_rng(0), 6)
    for wrong in ({"sigma": 1}, {"pi": 0.1}, {"v": -1.0}, {"v": np.inf}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            cls(x=x, K=2, floor=wrong)
