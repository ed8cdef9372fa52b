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
