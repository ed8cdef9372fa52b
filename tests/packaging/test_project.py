"""The project file, the make targets and the tree agree with one another."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.mutate_engine import core

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())


def names(requirements):
    return {re.split(r"[^\w-]", r)[0] for r in requirements}


def test_little_is_needed_at_run_time(project):
    needed = {"sympy", "numpy", "numba", "jinja2", "lark"}
    assert names(project["project"]["dependencies"]) == needed


def test_version_is_written_once_more_and_agrees(project):
    import blrgen

    assert project["project"]["version"] == blrgen.__version__


def test_every_import_outside_the_standard_library_is_declared(root, project):
    import sys

    declared = names(project["project"]["dependencies"]) | {"mpmath"}  # mpmath: SymPy's own
    extras = project["project"]["optional-dependencies"]
    optional = names(extras["peers"])
    in_a_checkout = {"blrgen/table.py": {"tests"}}  # the recorded trajectories, where there are any
    pattern = re.compile(r"^\s*(?:import|from)\s+(\w+)", re.MULTILINE)
    for file in sorted((root / "blrgen").rglob("*.py")):
        found = set(pattern.findall(re.sub(r'"""[\s\S]*?"""', "", file.read_text())))
        unknown = found - set(sys.stdlib_module_names) - declared - optional - {"blrgen"}
        name = file.relative_to(root).as_posix()
        assert unknown == in_a_checkout.get(name, set()), (name, unknown)


@pytest.mark.long
def test_the_engine_knows_nothing_of_the_benchmarks(root):
    for file in sorted((root / "blrgen").rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any(n.split(".")[0] == "benchmarks" for n in names), (file, node.lineno)


def test_torch_is_pinned_wherever_it_is_named(root, project):
    extras = project["project"]["optional-dependencies"]
    named = [*extras["peers"], *extras["bench"]]
    for file in ("tests/peers/requirements.txt", "benchmarks/requirements.txt"):
        named += (root / file).read_text().splitlines()
    torch = [line for line in named if line.startswith("torch")]
    assert torch
    assert set(torch) == {"torch==2.13.0"}
    assert "install $(PIP_FLAGS) torch==2.13.0" in (root / "Makefile").read_text()


def test_ci_runs_only_what_a_newcomer_can(root):
    script = root / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = [w for w in script.read_text().splitlines() if w.startswith("make ")]
    assert lines == ["make test", "make peers"]


def test_quick_runs_tests_of_every_room(root):
    """Of every room that has tests; a file is found by its mark, wherever it stands."""
    rooms = {p.parent.name for p in (root / "blrgen").glob("*/__init__.py")}
    tested = {p.parts[1] for p in map(Path, core(root)) if len(p.parts) > 2}
    mirrored = {room for room in rooms if (root / "tests" / room).is_dir()}
    assert len(mirrored) >= len(rooms) - 2
    assert mirrored <= tested, mirrored - tested


@pytest.mark.parametrize(
    "target",
    ["demo", "test", "quick", "lint", "peers", "bench", "bench-tool", "bench-growth", "generated"],
)
def test_make_targets_name_files_that_exist(root, target):
    outside_make = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", target],
        cwd=root,
        env=outside_make,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    for file in re.findall(r"\b(?:tests|examples|benchmarks)/[\w/]+\.\w+", done.stdout):
        assert (root / file).exists(), file
    for module in re.findall(r"-m ((?:blrgen|benchmarks)[\w.]*)", done.stdout):
        path = root / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
