"""Random numbers as an emitted file makes them, against torch's.

The functions are found in the file by what they return, whoever uses them there.
"""

from __future__ import annotations

import inspect
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks import arrays
from benchmarks.cases import Case
from benchmarks.emitted import loaded
from benchmarks.prepare import Timed
from benchmarks.setup import OURS, Setup
from benchmarks.timing import Stepper


def normals(case: Case, timed: Timed) -> Setup:
    """Standard normal numbers."""
    out = arrays.full(case.size, case.dtype, 0.0)
    steppers = {OURS: filler(loaded(timed.path), "_standard_normal", case.threads, {"out": out})}
    if find_spec("torch") is not None:
        import torch

        dtype = getattr(torch, case.dtype)
        steppers["torch.randn"] = Stepper(lambda: torch.randn(case.size, dtype=dtype))
        buffer = torch.empty(case.size, dtype=dtype)
        steppers["torch normal_"] = Stepper(buffer.normal_)
    return Setup(steppers, case.size)


def signs(case: Case, timed: Timed) -> Setup:
    """−1 or 1 with probabilities of their own."""
    p = arrays.full(case.size, case.dtype, 0.62)
    module = loaded(timed.path)
    out = arrays.full(case.size, case.dtype, 0.0)
    given = {"out": out, "p": p, "low": -1.0, "high": 1.0}
    if hasattr(module, "_signs"):
        steppers = {OURS: filler(module, "_signs", case.threads, given)}
    else:
        optimizer: Any = getattr(module, timed.class_name)(arrays.full(case.size, case.dtype, 0.25))
        rng = np.random.default_rng(0)
        steppers = {OURS: Stepper(lambda: optimizer.sample(rng))}
    if find_spec("torch") is not None:
        import torch

        chances = torch.from_numpy(arrays.copied(p))
        steppers["torch.bernoulli"] = Stepper(lambda: torch.bernoulli(chances))
        buffer = torch.empty_like(chances)
        steppers["torch bernoulli_"] = Stepper(lambda: buffer.bernoulli_(chances))
    return Setup(steppers, case.size)


def filler(module: Any, name: str, threads: int, given: dict[str, Any]) -> Stepper:
    """A call of the emitted function, with its threads where there are several."""
    several = f"{name}_threads"
    called = several if threads > 1 and hasattr(module, several) else name
    out = given["out"]
    key, rng = np.int64(1234567), np.random.default_rng(0)
    values = {
        "key": key,
        "stream": 0,
        "first": 0,
        "rng": rng,
        "like": out,
        "stretch": module._stretch(out.size) if hasattr(module, "_stretch") else 0,
        "words": np.empty(1024, np.uint32),
    }
    values |= given
    function = getattr(module, called)
    plain = getattr(function, "py_func", None) or getattr(function, "function", function)
    arguments = [values[x] for x in inspect.signature(plain).parameters]
    # looked up at every call: Numba's takes the place of the file's own after the first
    return Stepper(lambda: getattr(module, called)(*arguments))
