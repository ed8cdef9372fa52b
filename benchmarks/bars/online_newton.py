"""Online Newton, full covariance."""

from benchmarks.bars.dense import online_newton as step

__all__ = ["step"]
