"""What all tests share: the tree, and the command line in a fresh process or in this one."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

# The same examples on every run; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# Hundreds of processes import the engine: what Python compiles of it is kept, as by default.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

ROOT = Path(__file__).resolve().parent.parent

# What a run of the tests sees is computed in that run: a cache of its own, empty at the start,
# and the same one for all processes of the run.
if (_WORKER := os.environ.get("PYTEST_XDIST_WORKER")) is None:
    _CACHE = tempfile.TemporaryDirectory(prefix="blrgen-tests-")
    os.environ["BLRGEN_CACHE"] = _CACHE.name
else:  # Numba names what it keeps by counting, so that two who write at once may exchange it:
    # compiled classes go to a folder of the process, what was computed of families is shared
    _SHARED = Path(os.environ["BLRGEN_CACHE"])
    (_OWN := _SHARED / _WORKER).mkdir()
    for _entries in (_SHARED / f"{k:02x}" for k in range(256)):
        _entries.mkdir(exist_ok=True)
        (_OWN / _entries.name).symlink_to(_entries)
    os.environ["BLRGEN_CACHE"] = str(_OWN)
    # every core has a process: threads of a BLAS would wait for work on a core that others need
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}

sys.path.insert(0, str(ROOT / "tests"))  # for what tests share


def pytest_configure(config: pytest.Config) -> None:
    from tests import sweeps
    from tests.shared_kernels import install

    sweeps.SAMPLE[0] = "rest" in config.option.markexpr
    install()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite tests/golden and delete stale files"
    )


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    from tests.sweeps import mark_the_rest

    mark_the_rest(items)


def pytest_collection_finish() -> None:
    """What is there now stays: the collector need not go through it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


@pytest.fixture(autouse=True)
def _begun_anew(request: pytest.FixtureRequest) -> None:
    """A module's own generator gives a test the same numbers, whatever was run before it."""
    own = vars(request.module) if request.module else {}
    for name in ("R", "RNG"):
        if isinstance(generator := own.get(name), np.random.Generator):
            bits = generator.bit_generator
            bits.state = _STATES.setdefault(bits, deepcopy(bits.state))


_STATES: dict[np.random.BitGenerator, Any] = {}  # as their modules made them


@dataclass(frozen=True)
class Outcome:
    """How a command line ended."""

    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def blrgen() -> Callable[..., Outcome]:
    """`blrgen(*words, cwd=…, NAME=value)` in a fresh process; NAME=value is environment."""

    def run(*words: str | bytes, cwd: Path | None = None, **environment: str) -> Outcome:
        inherited = {k: v for k, v in os.environ.items() if k not in ("BLRGEN_DEBUG", "COLUMNS")}
        done = subprocess.run(
            [sys.executable, "-m", "blrgen", *words],
            cwd=cwd or ROOT,
            env={**inherited, "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return run


@pytest.fixture
def invoke(capfd: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """`invoke(*words)` in this process: quicker, and without a fresh interpreter."""
    from blrgen.cli import main

    def run(*words: str) -> Outcome:
        capfd.readouterr()
        code = main(list(words))
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="session")
def meaning() -> Callable[..., Any]:
    """The value of an expression at named values."""
    from notation import value_of

    return value_of


@pytest.fixture(scope="session")
def faults() -> Callable[[str], list[str]]:
    """What a LaTeX engine would stumble over."""
    from notation import latex_faults

    return latex_faults
