"""Noise read back from where it moved the loss to."""

from __future__ import annotations

import pytest

from blrgen.program import nodes as n
from blrgen.program.recover import paired_roots, recovered

pytestmark = pytest.mark.core

m, h, eps, theta, c = (n.Ref(x) for x in ("m", "h", "eps", "theta", "c"))
root = n.sqrt(h)
tanh = n.Call("tanh", (eps,))


@pytest.mark.parametrize(
    ("at", "noise"),
    [
        (n.add(m, n.Div(eps, root)), n.mul(n.Sub(theta, m), root)),
        (n.add(m, n.mul(c, eps)), n.Div(n.Sub(theta, m), c)),
        (n.Sub(m, n.mul(c, eps)), n.Div(n.neg(n.Sub(theta, m)), c)),
        (n.mul(eps, c), n.Div(theta, c)),
        (n.Div(n.mul(c, eps), root), n.Div(n.mul(theta, root), c)),
    ],
)
def test_noise_that_is_a_term(at: n.Node, noise: n.Node) -> None:
    assert recovered("theta", at, ["eps"]) == {"eps": noise}


@pytest.mark.parametrize(
    "at",
    [
        tanh,  # not affine
        n.add(m, tanh),
        n.Div(m, eps),
        n.add(eps, n.mul(eps, c)),  # in two terms
        n.mul(eps, n.add(m, eps)),
    ],
)
def test_noise_that_cannot_be_read_back(at: n.Node) -> None:
    assert recovered("theta", at, ["eps"]) == {}


def test_several_draws_cannot_be_read_back() -> None:
    assert recovered("theta", n.add(eps, h), ["eps", "h"]) == {}


def test_equal_roots_pair() -> None:
    assert paired_roots(n.mul(root, m, root)) == n.mul(h, m)
    assert paired_roots(n.mul(root, root, root)) == n.mul(h, root)
    assert paired_roots(n.mul(root, n.sqrt(m))) == n.mul(root, n.sqrt(m))
