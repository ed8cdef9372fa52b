"""Where a fit of a mixture starts: groups of weighted points, and EM over them."""

from __future__ import annotations

import numpy as np
import pytest

from blrgen.fitting.groups import covering, logs, moments

pytestmark = pytest.mark.core


def test_a_component_with_one_point_keeps_a_spread() -> None:
    points = np.array([[0.0], [0.1], [0.2], [50.0]])
    weights = np.full(4, 0.25)
    means, spreads, shares = covering(points, weights, 2, np.random.default_rng(0))
    order = np.argsort(means[:, 0])
    np.testing.assert_allclose(means[order, 0], [0.1, 50.0])
    np.testing.assert_allclose(shares[order], [0.75, 0.25])
    whole = 0.75 * 0.25 * 49.9**2 + 0.75 * 0.02 / 3
    np.testing.assert_allclose(spreads[order, 0, 0], [0.02 / 3 + 1e-4 * whole, 1e-4 * whole])
    assert np.isfinite(logs(points, (means, spreads, shares))).all()


def test_moments_of_groups() -> None:
    points = np.array([[0.0], [2.0], [7.0]])
    means, spreads, shares = moments(points, np.array([0.25, 0.25, 0.5]), np.array([0, 0, 1]), 2)
    whole = np.array([0.25, 0.25, 0.5]) @ (points[:, 0] - 4) ** 2
    np.testing.assert_allclose(means, [[1.0], [7.0]])
    np.testing.assert_allclose(spreads[:, 0, 0], [1 + 1e-3 * whole, 1e-3 * whole])
    np.testing.assert_allclose(shares, [0.5, 0.5])
