"""Newton, full covariance."""

from benchmarks.bars.dense import newton as step

__all__ = ["step"]
