"""Emitted files of models: what a linter and strict types ask for, and the same bytes always."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from blrgen.emit.model.file import text
from blrgen.program.model.lower import lower
from blrgen.read.model.reader import read_model
from blrgen.rule.model.derive import derive_model
from tests.emit.test_support import MYPY

MODELS = Path(__file__).parents[3] / "models"
CACHE = MODELS.parent / ".mypy_cache/emitted"  # of types elsewhere: found again by what it is of
CHOSEN = (
    ("gaussian-mixture-full-em", "em"),
    ("poisson-mixture", "vmp"),
    ("lda", "svi"),
    ("hmm-gaussian-em", "em"),
    ("state-space", "conjugate"),
    ("normal-gamma", "conjugate"),
    ("gaussian-mixture-full", "gibbs"),
    ("poisson-mixture", "gibbs"),
    ("state-space", "gibbs"),
    ("linear-regression", "vmp"),
    ("gaussian-mixture-diag-em", "online-em"),
)


def source(name: str, algorithm: str, target: str) -> str:
    model = read_model((MODELS / f"{name}.model").read_text(), name)
    return text(lower(derive_model(model, algorithm)), target)


@pytest.mark.sweep(6)  # by the dozen: a linter and types start once for each
@pytest.mark.parametrize("first", [0, 1, 2])
def test_files_are_what_a_linter_and_strict_types_ask_for(first, tmp_path):
    for name, algorithm in CHOSEN[first::3]:
        for target in ("numpy", "numba"):
            stem = f"{name}_{algorithm}_{target}".replace("-", "_")
            (tmp_path / f"{stem}.py").write_text(source(name, algorithm, target))
    files = sorted(map(str, tmp_path.glob("*.py")))
    config = tmp_path / "mypy.ini"
    config.write_text(MYPY)
    lint = ["ruff", "check", "--isolated", "--line-length", "100", "--target-version", "py311",
            "--select", "E,F,I,UP,B,SIM", *files]  # fmt: skip
    types = ["mypy", "--config-file", str(config), "--cache-dir", str(CACHE), *files]
    for command in (lint, types):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_file_is_read_from_the_top():
    for target in ("numpy", "numba"):
        made = source("gaussian-mixture-full-em", "em", target)
        parts = ('"""The model', "__all__ = ", "def _sweep", "class GaussianMixtureFullEm",
                 "# --- Support functions", "def _numbers")  # fmt: skip
        places = [made.index(x) for x in parts]
        assert places == sorted(places)
        assert "blrgen" not in made


@pytest.mark.rest  # of whole texts tests/cli asks it, in every run
def test_the_same_bytes_for_any_hash_seed():
    code = (
        "from tests.emit.model.test_files import source; import hashlib;"
        "print(hashlib.sha256(source('poisson-mixture', 'vmp', 'numba').encode()).hexdigest())"
    )
    found = set()
    for seed in ("1", "2"):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                              env=os.environ | {"PYTHONHASHSEED": seed}, check=True)  # fmt: skip
        found.add(done.stdout)
    assert len(found) == 1
