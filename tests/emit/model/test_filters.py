"""Filters: after each element the evidence and last marginals of the exact step."""

import json

import numpy as np
import pytest

from blrgen.cli.main import main
from blrgen.errors import UserError
from tests.emit.model.test_chains import (
    COUPLED,
    F2,
    G2,
    LAGS,
    MANY,
    MIDDLE,
    MISSING,
    MOVES,
    MOVING,
    Q2,
    ROWS,
    SEASON,
    START,
    TREND,
    holed,
)
from tests.emit.model.test_traces import MODELS, cls

R = np.random.default_rng(7)
LABELS = {"pi": START, "P": MOVES, "mu": MIDDLE}
VECTORS = {"F": F2, "g": G2, "Q": Q2}
KALMAN = {
    "F": F2, "B": np.array([[0.3], [-0.2]]), "H": np.array([[1.0, 0.5]]), "Q": Q2,
    "R": np.array([[0.4]]), "m1": np.array([0.2, -0.1]), "S1": 1.3 * np.eye(2),
}  # fmt: skip
STATES = (MODELS / "state-space.model").read_text()
OBSERVED = TREND.replace("observed or missing", "observed")
BOTH = (
    MISSING
    + "w[1] ~ gaussian(0, 1)\nw[t] ~ gaussian(w[t-1]/2, 1)\nu[t] ~ gaussian(w[t], 2) observed\n"
)
Y = holed(7, 0, 3)
CASES = {
    "lags": (LAGS, {}, {"y": Y}),
    "trend": (TREND, {}, {"y": Y}),
    "season": (SEASON, {}, {"y": Y}),
    "coupled": (COUPLED, VECTORS, {"y": Y}),
    "state space": (STATES, KALMAN, {"y": Y[:, None], "u": R.normal(size=(7, 1))}),
    "labels": (MISSING, LABELS, {"x": Y}),
    "moving": (MOVING, {**LABELS, "P": np.stack([MOVES, MOVES[::-1]])},
               {"x": R.normal(size=7), "u": np.array([0, 1, 1, 0, 1, 0, 0])}),
    "two chains": (BOTH, LABELS, {"x": Y, "u": R.normal(size=7)}),
}  # fmt: skip


def same(full, part, evidence=1e-10):
    np.testing.assert_allclose(part.objective(), full.objective(), rtol=evidence, atol=1e-12)


@pytest.mark.sweep(16)
@pytest.mark.parametrize(
    ("case", "target"),
    [*((x, "numpy") for x in CASES), ("lags", "numba"), ("coupled", "loops"), ("moving", "loops")],
)
def test_a_filter_comes_to_the_exact_step(case, target):
    source, constants, data = CASES[case]
    part = cls("part", "filter", source, target)(**constants)
    for t in range(7):
        part.step(**{name: x[t] for name, x in data.items()})
        own = {name: x[: t + 1] for name, x in data.items()}
        if t < 2 and case in ("lags", "season"):
            continue  # the exact step has no chain shorter than its first elements
        full = cls("full", "conjugate", source)(**constants, **own)
        same(full, part)
        for name in [n for n in "lbxwsz" if f"\n{n}[1]" in source]:
            wanted = {k: v[-1] for k, v in full.posterior(name).items()}
            for k, found in part.posterior(name).items():
                np.testing.assert_allclose(found, wanted[k], rtol=1e-8, atol=1e-10)


def test_rows_of_chains_at_once():
    x = R.normal(size=(3, 5))
    x[1, 2] = np.nan
    full, part = cls("rows", "conjugate", ROWS)(x=x, **LABELS), cls("rows", "filter", ROWS)
    model = part(S=3, **LABELS)
    for row in x.T:
        model.step(x=row)
    same(full, model)
    np.testing.assert_allclose(model.posterior("z")["p"], full.posterior("z")["p"][:, -1])


def test_rows_of_different_lengths_end_as_nothing_seen():
    y, constants = holed(5, 1), {"F": F2, "h": G2, "Q": Q2}
    full = cls("many", "conjugate", MANY)(y=y, T=[3, 2], **constants)
    model = cls("many", "filter", MANY)(S=2, **constants)
    for row in ([y[0], y[3]], [y[1], y[4]], [y[2], np.nan]):
        model.step(y=np.array(row))
    same(full, model)


def test_log_p_of_what_comes_is_that_given_the_past():
    model = cls("part", "filter", MISSING)(**LABELS)
    found = [model.step(x=x) for x in Y]
    np.testing.assert_allclose([found[0], found[3]], 0.0, atol=1e-14)  # nothing seen
    np.testing.assert_allclose(sum(found), model.objective())
    before = model.posterior("z")["p"] @ MOVES
    model.step(x=np.nan)
    np.testing.assert_allclose(model.posterior("z")["p"], before)


def test_nothing_seen_is_said_of_any_observation():
    part, full = cls("part", "filter", OBSERVED)(), cls("full", "conjugate", TREND)(y=Y)
    for y in Y:
        part.step(y=y)
    same(full, part)


def test_a_filter_goes_on_to_the_same_bits():
    first, other = (cls("part", "filter", SEASON)() for _ in range(2))
    for y in Y[:4]:
        first.step(y=y)
    other.load_state_dict(first.state_dict())
    assert [first.step(y=y) for y in Y[4:]] == [other.step(y=y) for y in Y[4:]]
    assert first.objective() == other.objective()
    assert first.posterior("s") == other.posterior("s")


LEFT = """plate t in T
plate k in K
const pi in simplex(K)
const P[k] in simplex(K)
const rate[k] in (0, oo)
z[1] ~ categorical(pi)
z[t] ~ categorical(P[z[t-1]])
x[t] ~ poisson(rate[z[t]]) observed
"""


def test_a_state_that_cannot_be_is_saved_too():
    known = {"pi": np.array([1.0, 0]), "P": np.array([[1.0, 0], [0.5, 0.5]]), "rate": [1.0, 5.0]}
    first, other = (cls("left", "filter", LEFT)(**known) for _ in range(2))
    first.step(x=3)
    saved = first.state_dict()
    assert saved["state"]["z_level"][1] == -np.inf
    other.load_state_dict(saved)
    assert first.step(x=2) == other.step(x=2)
    for wrong in (np.nan, np.inf):
        saved["state"]["z_level"][0] = wrong
        with pytest.raises(ValueError, match="z_level is not finite"):
            other.load_state_dict(saved)


def test_an_element_that_cannot_be_is_not_taken():
    source = MISSING.replace("gaussian(mu[z[t]], 0.5)", "poisson(exp(mu[z[t]]))")
    model = cls("part", "filter", source)(**LABELS)
    model.step(x=2.0)
    saved = model.state_dict()
    with pytest.raises(ValueError, match="not finite"):
        model.step(x=np.inf)
    assert model.step(x=1.0) < 0 and model.t == 2
    model.load_state_dict(saved)
    assert model.t == 1
    with pytest.raises(ValueError, match="no element"):
        cls("part", "filter", source)(**LABELS).posterior("z")


AHEAD = """
plate t in T
x[1] ~ gaussian(0, 1)
x[t] ~ gaussian(x[t-1], 1)
y[1] ~ gaussian(x[1], 1) observed
y[t] ~ gaussian(x[t] + y[t-1]/2, 1) observed
"""
APART = TREND + "plate n in N\nw[n] ~ gaussian(0, 1) observed\n"


@pytest.mark.parametrize(("source", "said"), [(AHEAD, "y"), (APART, "w does not run along t")])
def test_what_no_step_can_be_given_is_refused(source, said):
    with pytest.raises(UserError, match="--filter does not apply") as found:
        cls("refused", "filter", source)
    assert said in str(found.value.render())


def test_fit_by_element(tmp_path, capsys):
    (tmp_path / "trend.model").write_text(TREND)
    (tmp_path / "y.json").write_text(json.dumps({"y": [None if np.isnan(y) else y for y in Y]}))
    words = ["--data", str(tmp_path / "y.json"), "--json"]
    assert main(["fit", str(tmp_path / "trend.model"), "--filter", *words]) == 0
    part = json.loads(capsys.readouterr().out)
    assert main(["fit", str(tmp_path / "trend.model"), "--conjugate", *words]) == 0
    full = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(part["objective"], full["objective"], rtol=1e-10)
    assert len(part["trace"]) == 8 and part["trace"][0] == 0.0
    np.testing.assert_allclose(part["posterior"]["l"]["m"], full["posterior"]["l"]["m"][-1])
