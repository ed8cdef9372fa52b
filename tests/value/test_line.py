"""Nodes on a line: their weights are those of known integrals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import pytest

from blrgen.value.line import Diverges, line_nodes

pytestmark = pytest.mark.core

INF = mpmath.inf
PI = mpmath.pi


def root_at_five(x: Any) -> Any:
    """log 1/√(5 − x)."""
    return -mpmath.log(5 - x) / 2


def integrals(log_density: Callable[[Any], Any], low: Any, high: Any, *inner: Any) -> Any:
    """∫ density and ∫ x·density."""
    with mpmath.workdps(20):
        nodes = list(line_nodes(log_density, low, high, list(inner), mpmath.mpf(1), 5))
        masses = [mpmath.exp(mass) for _, mass in nodes]
        firsts = [m * node.x for m, (node, _) in zip(masses, nodes, strict=True)]
        return mpmath.fsum(masses), mpmath.fsum(firsts)


@pytest.mark.parametrize(
    ("log_density", "limits", "mass", "first"),
    [
        (lambda x: mpmath.mpf(0), (2, 5), 3, 10.5),
        (lambda x: mpmath.mpf(0), (-7, -3, -4), 4, -20),
        (lambda x: -x, (0, INF), 1, 1),
        (lambda x: -x, (0, INF, 0.5, 3), 1, 1),
        (lambda x: x, (-INF, 2), mpmath.e**2, mpmath.e**2),
        (lambda x: -((x - 1) ** 2) / 2, (-INF, INF, 1), mpmath.sqrt(2 * PI), mpmath.sqrt(2 * PI)),
        (lambda x: -mpmath.log(x) / 2, (0, 1), 2, mpmath.mpf(2) / 3),
        (root_at_five, (4, 5), 2, 10 - mpmath.mpf(2) / 3),
    ],
)
def test_of_known_densities(
    log_density: Callable[[Any], Any], limits: tuple[Any, ...], mass: Any, first: Any
) -> None:
    low, high, *inner = map(mpmath.mpf, limits)
    found = integrals(log_density, low, high, *inner)
    assert abs(found[0] - mass) < 1e-12 * abs(mass)
    assert abs(found[1] - first) < 1e-12 * abs(first)


def test_a_mass_that_does_not_fall_off_is_seen() -> None:
    with pytest.raises(Diverges):
        integrals(lambda x: mpmath.mpf(0), mpmath.mpf(0), INF)


def test_a_node_near_an_end_is_told_from_it() -> None:
    """Of 5 − x the distance to 5 counts, which the node's digits show."""
    with mpmath.workdps(20):
        found = line_nodes(root_at_five, mpmath.mpf(4), mpmath.mpf(5), [], mpmath.mpf(1), 4)
        near = max((node for node, _ in found), key=lambda node: node.x)
        with mpmath.workdps(near.digits):
            assert 0 < 5 - near.x < mpmath.mpf(10) ** -20
