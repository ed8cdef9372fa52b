"""Random numbers as an emitted file makes them, against torch's.

The functions are found in the file by what they return, whoever uses them there.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from blrgen.bench import arrays
from blrgen.bench.cases import Case
from blrgen.bench.emitted import loaded
from blrgen.bench.prepare import Timed
from blrgen.bench.setup import OURS, Setup
from blrgen.bench.timing import Stepper


def normals(case: Case, timed: Timed) -> Setup:
    """Standard normal numbers."""
    module = loaded(timed.path)
    like = arrays.full(case.size, case.dtype, 0.0)
    rng = np.random.default_rng(0)
    steppers = {OURS: Stepper(lambda: module._standard_normal(rng, like))}
    if find_spec("torch") is not None:
        import torch

        dtype = getattr(torch, case.dtype)
        steppers["torch.randn"] = Stepper(lambda: torch.randn(case.size, dtype=dtype))
        buffer = torch.empty(case.size, dtype=dtype)
        steppers["torch normal_"] = Stepper(buffer.normal_)
    return Setup(steppers, case.size)


def signs(case: Case, timed: Timed) -> Setup:
    """−1 or 1 with probabilities of their own."""
    params = arrays.full(case.size, case.dtype, 0.25)
    optimizer: Any = getattr(loaded(timed.path), timed.class_name)(params)
    rng = np.random.default_rng(0)
    steppers = {OURS: Stepper(lambda: optimizer.sample(rng))}
    if find_spec("torch") is not None:
        import torch

        p = torch.full((case.size,), 0.62, dtype=getattr(torch, case.dtype))
        steppers["torch.bernoulli"] = Stepper(lambda: torch.bernoulli(p))
    return Setup(steppers, case.size)
