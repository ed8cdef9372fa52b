"""Geometry → ∇_μ E_q[ℓ] in expectation nodes.  Knows no algorithm."""

from blrgen.expect.expectation import Expectation
from blrgen.expect.probes import Probe
from blrgen.expect.routes import expectation_of

__all__ = ["Expectation", "Probe", "expectation_of"]
