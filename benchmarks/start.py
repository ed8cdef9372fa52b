"""The first step in a new process, its kernels compiled before, against importing NumPy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.cases import Case
from benchmarks.prepare import Timed
from benchmarks.setup import OURS, Setup
from benchmarks.timing import Stepper

_SCRIPT = """
import sys
sys.path.insert(0, {folder!r})
import numpy as np
from {module} import {name}
optimizer = {name}(np.zeros({size}, np.{dtype}))
optimizer.step({inputs})
"""


def first_step(case: Case, timed: Timed) -> Setup:
    """Import the emitted file, make the class, one step."""
    path = Path(timed.path)
    g = f"np.ones({case.size}, np.{case.dtype})"
    script = _SCRIPT.format(
        folder=str(path.parent),
        module=path.stem,
        name=timed.class_name,
        size=case.size,
        dtype=case.dtype,
        inputs=", ".join(g for _ in timed.inputs),
    )
    steppers = {OURS: Stepper(lambda: _run(script)), "import numpy": Stepper(_numpy)}
    return Setup(steppers, 1)


def _numpy() -> None:
    _run("import numpy")


def _run(script: str) -> None:
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)
