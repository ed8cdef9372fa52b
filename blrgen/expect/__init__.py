"""Geometry → ∇_μ E_q[ℓ] in expectation nodes.  Knows no algorithm."""

from blrgen.expect.expectation import Expectation, expectation_of
from blrgen.expect.probes import Probe

__all__ = ["Expectation", "Probe", "expectation_of"]
