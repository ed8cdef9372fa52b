"""Geometry → ∇_μ E_q[ℓ] in expectation nodes.  Knows no algorithm."""

from blrgen.expect.expectation import Expectation, Probe, expectation_of

__all__ = ["Expectation", "Probe", "expectation_of"]
