"""Online Newton, full covariance."""

from blrgen.bench.bars.dense import online_newton as step

__all__ = ["step"]
