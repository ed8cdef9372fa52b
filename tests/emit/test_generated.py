"""The committed files are what the engine emits today, and the check can fail."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from blrgen.emit import generated

FOLDER = Path(__file__).parents[2] / "generated"


@pytest.fixture(scope="module")
def wanted() -> dict[str, str]:
    return generated.sources()


def test_nothing_has_drifted(wanted: dict[str, str]) -> None:
    assert generated.check(FOLDER, wanted) == [], "run: make generated"


def test_a_corrupted_file_is_noticed(wanted: dict[str, str], tmp_path: Path) -> None:
    for file in FOLDER.glob("*.py"):
        shutil.copy(file, tmp_path)
    victim = tmp_path / "adam_numba.py"
    victim.write_text(victim.read_text(encoding="utf-8").replace("+", "-", 1), encoding="utf-8")
    assert any(p.startswith("different: adam_numba.py") for p in generated.check(tmp_path, wanted))
