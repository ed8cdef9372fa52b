"""Laplace, one iteration, full covariance."""

from blrgen.bench.bars.dense import newton as step

__all__ = ["step"]
