"""A step that sees sums of data alone gives the points of the step that sees every row."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.rule.model.derive import derive_model
from blrgen.rule.model.rows import expressions, without_rows
from blrgen.value.indexed import Values
from tests.rule.model.test_derive import shipped
from tests.rule.model.test_points import SIZES, maximised, start


def by_rows(d, arrays):
    """E[h], E[hhᵀ] of every row from its natural parameters, by linear algebra."""
    (block,) = (u.block for u in d.updates)
    v = Values(arrays, SIZES)
    first, second = (v.array(p.expected, p.statistic.places) for p in block.parts)
    cov = np.linalg.inv(-2 * second)
    mean = np.einsum("nij,nj->ni", cov, first)
    outer = cov + mean[:, :, None] * mean[:, None, :]
    return {p.statistic.name: e for p, e in zip(block.parts, (mean, outer), strict=True)}


@pytest.mark.parametrize("name", ["factor-analysis-em", "ppca"])
def test_the_points_are_the_same(name):
    model = shipped(name)
    d = derive_model(model, "em")
    e = without_rows(d)
    assert e is not d
    arrays = start(model, np.random.default_rng(2))
    want = maximised(d, arrays | by_rows(d, arrays))
    shared = dict(arrays)
    for equation in e.sums:
        shared[equation.target] = Values(shared, SIZES).array(equation.value, equation.places)
    found = maximised(e, shared)
    for u in d.points:
        for x in u.names:
            assert found[x] == pytest.approx(want[x], rel=1e-9)
    rows = Values(arrays | by_rows(d, arrays), SIZES).of(d.expected_joint)
    assert Values(shared, SIZES).of(e.expected_joint) == pytest.approx(rows, rel=1e-10)


def test_no_sum_over_rows_holds_anything_but_data():
    e = without_rows(derive_model(shipped("factor-analysis-em"), "em"))
    for value in (*expressions(e), *(q.value for q in e.sums)):
        for term, _ in value.terms:
            rows = {r.index for r in term.bound if r.axis == "N"}
            assert all(a.known for a, _ in term.factors if rows & set(a.letters))


def test_labels_stay_with_their_rows():
    d = derive_model(shipped("gaussian-mixture-full-em"), "em")
    assert without_rows(d) is d


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
