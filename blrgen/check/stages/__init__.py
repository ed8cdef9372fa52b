"""The stages, in the order they run; each is a module with NAME, NEEDS and `run`.

`run(context)` returns what to say when the stage holds, as (level, text), and raises
`Wrong`, `UserError` or `InternalError` when it does not, `NotChecked` when it cannot tell.
A stage runs unless one that it NEEDS was refuted.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

STAGES = (
    "minimality",
    "log_partition",
    "charts",
    "normalised",
    "mean",
    "covariance",
    "convexity",
    "entropy",
    "entropy_gradient",
    "parametrisations",
    "inverse_mean",
    "sampling",
    "expectation",
    "rule",
    "claims",
)


def stages() -> list[ModuleType]:
    """The modules of the stages."""
    return [import_module(f"blrgen.check.stages.{name}") for name in STAGES]
