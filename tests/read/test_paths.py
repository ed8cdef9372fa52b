"""Data folders are found in a checkout and in a wheel, and missed loudly."""

from __future__ import annotations

from pathlib import Path

import pytest

from blrgen import paths
from blrgen.errors import InternalError

pytestmark = pytest.mark.core


def test_in_this_checkout(root: Path) -> None:
    assert paths.data_dir("families") == root / "families"
    assert paths.data_dir("templates") == root / "templates"
    assert paths.data_dir("reference") == root / "tests" / "reference"


def test_a_wheel_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "blrgen"
    monkeypatch.setattr(paths, "package_dir", lambda: package)
    for kind in ("families", "templates", "reference"):
        (package / "_data" / kind).mkdir(parents=True)
        assert paths.data_dir(kind) == package / "_data" / kind


def test_somebody_elses_folder_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site-packages" / "blrgen"
    package.mkdir(parents=True)
    (tmp_path / "site-packages" / "templates").mkdir()
    monkeypatch.setattr(paths, "package_dir", lambda: package)
    with pytest.raises(InternalError, match="templates"):
        paths.data_dir("templates")


def test_unknown_kind() -> None:
    with pytest.raises(InternalError, match="known: families"):
        paths.data_dir("secrets")
