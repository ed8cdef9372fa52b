"""A wheel, `pip install .`, an editable install and a source archive all find their data.

Fresh environments see the packages of the one that runs the tests (through a
.pth file, which leaves out an editable blrgen there), so nothing is downloaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

pytest.importorskip("hatchling", reason="the packaging tests build with it (test extra)")
pytestmark = pytest.mark.packaging

QUIET = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir"]
COMMANDS = [
    ["list", "families"],
    ["list", "recipes"],
    ["derive", "gaussian-diag", "--delta"],
    ["generate", "gradient-descent", "--target", "numpy"],
    ["verify", "gradient-descent"],
]


def clean_environment() -> dict[str, str]:
    """Nothing that would let a process find the checkout by itself."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER", "VIRTUAL_ENV")
    return {k: v for k, v in os.environ.items() if k not in dropped}


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Environment:
    """A fresh virtual environment."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Environment:
        run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
        packages = next(folder.glob("lib/python*/site-packages"))
        outer = dict.fromkeys(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))
        (packages / "outer.pth").write_text("\n".join(outer) + "\n")
        return cls(folder)

    def install(self, *what: str | Path) -> None:
        pip = [sys.executable, "-m", "pip", "--python", self.folder / "bin" / "python"]
        run(*pip, "install", *QUIET, "--ignore-installed", *what, cwd=self.folder)

    def blrgen(self, *words: str, cwd: Path) -> str:
        return run(self.folder / "bin" / "blrgen", *words, cwd=cwd)

    def python(self, code: str, cwd: Path) -> str:
        return run(self.folder / "bin" / "python", "-c", code, cwd=cwd)


@pytest.fixture(scope="module")
def wheel(root, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "pip", "wheel", *QUIET, "-w", folder, root, cwd=folder)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def archive(root, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("archive")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=root)
    (built,) = folder.glob("*.tar.gz")
    return built


@pytest.fixture(scope="module")
def at_home(root) -> dict[str, str]:
    """What the commands print in the checkout."""
    return {
        " ".join(words): run(sys.executable, "-m", "blrgen", *words, cwd=root) for words in COMMANDS
    }


def is_cache(file: Path) -> bool:
    return any(part == "__pycache__" or part.startswith(".") for part in file.parts)


def shipped(root: Path) -> set[str]:
    """Every data file of the checkout under its name in a wheel."""
    kinds = {
        "families": root / "families",
        "models": root / "models",
        "templates": root / "templates",
        "reference": root / "tests" / "reference",
    }
    return {
        f"blrgen/_data/{kind}/{file.relative_to(folder).as_posix()}"
        for kind, folder in kinds.items()
        for file in folder.rglob("*")
        if file.is_file()
        and not is_cache(file.relative_to(folder))
        and not file.name.startswith("test_")
    }


def test_a_wheel_holds_the_package_and_its_data_and_nothing_else(root, wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    package = {
        file.relative_to(root).as_posix()
        for file in (root / "blrgen").rglob("*")
        if file.is_file() and not is_cache(file.relative_to(root))
    }
    data = shipped(root)
    assert len(data) > 20
    assert {"blrgen/recipes.toml", "blrgen/py.typed"} <= package
    assert {n for n in names if ".dist-info/" not in n} == package | data


def test_two_builds_give_the_same_bytes(root, wheel, tmp_path):
    run(sys.executable, "-m", "pip", "wheel", *QUIET, "-w", tmp_path, root, cwd=tmp_path)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


@pytest.mark.sweep(8)
@pytest.mark.parametrize("kind", ["wheel", "folder", "editable", "archive"])
def test_installed_any_way_it_works_from_any_folder(root, request, tmp_path, at_home, kind):
    what: list[str | Path] = {"folder": [root], "editable": ["--editable", root]}.get(kind) or [
        request.getfixturevalue(kind)
    ]
    elsewhere = tmp_path / "another folder"
    elsewhere.mkdir()
    environment = Environment.made(tmp_path / "venv")
    environment.install(*what)
    home = environment.python("import blrgen; print(blrgen.__file__)", elsewhere)
    assert home.startswith(str(root if kind == "editable" else environment.folder))
    copied = list(environment.folder.glob("lib/python*/site-packages/blrgen"))
    assert bool(copied) == (kind != "editable")
    for words in COMMANDS:
        assert environment.blrgen(*words, cwd=elsewhere) == at_home[" ".join(words)], words
    assert os.listdir(elsewhere) == []
