"""Online EM: where a step sees every row and keeps nothing of before, it is a step of EM."""

from functools import cache

import numpy as np
import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.model.test_targets import CASES, LINE, MODELS, PLANE, N, R, as_python

MANY = {"K": 2, "T": [4, 1, 7]}
MORE = {
    ("gaussian-mixture-tied-em", "em"): {"x": PLANE, "K": 2},
    ("hmm-gaussian-many-em", "em"): {"x": LINE, **MANY},
    ("hmm-poisson-many-em", "em"): {"x": np.abs(PLANE[:, 0]).round(), **MANY},
}
WHOLE = {k: v for k, v in (CASES | MORE).items() if k[1] == "em"}
CHAINS = ("hmm-categorical-em", "hmm-gaussian-em", "state-space-em")  # one sequence, no rows
NAMES = sorted(name for name, _ in WHOLE if name not in CHAINS)


@cache
def made(name, algorithm, target):
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    program = lower(derive_model(model, algorithm))
    return as_python(text(program, target))[program.name]


def start_of(name, data):
    """The points of a fit that has taken a step, all alike for both."""
    fitted = made(name, "em", "numpy")(**data, seed=1)
    fitted.step()
    return {p: fitted.posterior(p) for p in points(name)}


def points(name):
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    return [x for n in model.nodes if n.kind == "param" for x in n.names]


@pytest.mark.sweep(10)
@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("name", NAMES)
def test_all_rows_at_rate_one_are_a_step_of_em(name, target):
    data = WHOLE[name, "em"]
    with np.errstate(all="ignore"):
        start = start_of(name, data)
        whole = made(name, "em", target)(**data, start=start)
        online = made(name, "online-em", target)(**data, start=start, forgetting=0.0)
        rows = np.arange(len(data.get("T", range(N))))
        for _ in range(3):
            np.testing.assert_allclose(online.objective(), whole.objective(), rtol=1e-9)
            online.step(R.permutation(rows))
            whole.step()
        for p in points(name):
            one, two = online.posterior(p), whole.posterior(p)
            np.testing.assert_allclose(one, two, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", ["gaussian-mixture-full-em", "gaussian-mixture-tied-em"])
def test_a_matrix_that_would_be_singular_stays(name):
    """All rows are equal: nothing is NaN, and the notes say why nothing moves."""
    x = np.ones((6, 2))
    model = made(name, "online-em", "numpy")(x=x, K=2, start={
        "mu": [[1.0, 0.9], [0.8, 1.0]], "pi": [0.5, 0.5],
        "S": np.eye(2) if "tied" in name else np.stack([np.eye(2)] * 2),
    }, forgetting=0.0)  # fmt: skip
    for _ in range(3):
        model.step(np.arange(6))
    assert np.isfinite(model.objective())
    assert np.isfinite(model.posterior("z")["p"]).all()
    assert [x["kind"] for x in model.notes] == ["singular"]
