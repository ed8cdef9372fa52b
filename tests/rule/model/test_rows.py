"""What online EM keeps of its rows, and what cannot be kept."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.rule.model.derive import derive_model
from blrgen.value.indexed import Values
from tests.rule.model.test_derive import shipped
from tests.rule.model.test_points import SIZES, maximised, start


@pytest.mark.parametrize("name", ["gaussian-mixture-full-em", "poisson-mixture-em", "ppca",
                                  "hmm-gaussian-many-em"])  # fmt: skip
def test_expected_statistics_are_all_that_online_em_keeps_of_rows(name):
    d = derive_model(shipped(name), "em")
    e = derive_model(shipped(name), "online-em")
    axis = e.batch
    assert e.rate == "rho_t" and e.sums
    for p in e.points:
        for q in p.equations:
            assert not _rows(q.value, axis)
        if p.system is not None:
            assert not any(_rows(x, axis) for x in p.system.right)
    arrays = start(shipped(name), np.random.default_rng(5))
    if "many" in name:
        return  # ragged: only the form is looked at
    rng = np.random.default_rng(6)
    from tests.rule.model.test_points import expectations

    arrays = arrays | expectations(d, arrays, rng)
    want = maximised(d, arrays)
    for q in e.sums:
        arrays = arrays | {q.target: Values(arrays, SIZES).array(q.value, q.places)}
    found = maximised(e, arrays)
    for u in d.points:
        for x in u.names:
            assert found[x] == pytest.approx(want[x], rel=1e-9)


def _rows(e, axis: str) -> bool:
    """Whether a sum over rows is left, also inside functions."""
    return any(
        any(r.axis == axis for r in t.bound)
        or any(_rows(inner, axis) for a, _ in t.factors for inner in a.arguments)
        for t, _ in e.terms
    )


def test_a_slope_that_needs_every_row_again_is_no_statistic():
    from blrgen.read.model.mistakes import ModelError
    from blrgen.read.model.reader import read_model

    text = """
plate n in N
const X[n] in R^d
param w in R^d
y[n] ~ bernoulli(eta = dot(w, X[n]))   observed
"""
    with pytest.raises(ModelError) as caught:
        derive_model(read_model(text, "m"), "online-em")
    assert caught.value.mistakes[0].node == "w"
