"""Support functions in emitted files: the runtime's very text, all that is used and no more."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from blrgen.emit.special import BUILDERS
from blrgen.emit.support import HEADER, MARKS, MODULES, alone, support_of, table
from blrgen.emit.uses import collecting, use
from blrgen.paths import package_dir
from blrgen.validate.unchanged import altered

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "generated").glob("*.py"))
MYPY = """[mypy]
python_version = 3.11
strict = true
disallow_untyped_decorators = false
[mypy-numba.*,scipy.*]
ignore_missing_imports = true
follow_imports = skip
"""  # Numba and SciPy have no types


def defined(tree: ast.Module) -> dict[str, ast.stmt]:
    """The names that a file defines at its top."""
    found: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_what_a_file_has_is_the_runtimes_and_is_used(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    own = defined(tree)
    known = {x for t in MODULES for x in table(t).definitions} - {*HEADER}
    assert altered(source, own.keys() & known) == []
    read = {
        (x.id, name)
        for name, node in own.items()
        for x in ast.walk(node)
        if isinstance(x, ast.Name) and x.id != name
    }
    (public,) = (x.name for x in tree.body if isinstance(x, ast.ClassDef))
    of_others = {d.name for t in MODULES for d in table(t).definitions.values() if d.of}
    unused = own.keys() - {x for x, _ in read} - of_others - {public, "__all__", "SIZES"}
    assert unused <= {*HEADER}


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_file_is_read_from_the_top(path: Path) -> None:
    """Docstring, imports, what a draw and a step are, the class; then what serves them."""
    source = path.read_text(encoding="utf-8")
    kinds = [type(x).__name__ for x in ast.parse(source).body]
    cls = kinds.index("ClassDef")
    assert kinds[0] == "Expr" and "FunctionDef" in kinds[:cls]
    line = source.index("# --- Support functions")
    assert source.index("\nclass ") < line
    first = source[: source.index("\nclass ")]
    known = {x for t in MODULES for x in table(t).definitions} - {*HEADER}
    assert not {x for x in re.findall(r"^def (\w+)", first, re.M) if x in known}


@pytest.mark.sweep(6)  # by the dozen: a linter and types start once for each
@pytest.mark.parametrize("first", [0, 1, 2])
def test_generated_files_are_what_a_linter_and_strict_types_ask_for(
    first: int, tmp_path: Path
) -> None:
    lint = ["ruff", "check", "--isolated", "--line-length", "100", "--target-version", "py311",
            "--select", "E,F,I,UP,B,SIM", str(ROOT / "generated")]  # fmt: skip
    config = tmp_path / "mypy.ini"
    config.write_text(MYPY)
    types = ["mypy", "--config-file", str(config), "--cache-dir", str(ROOT / ".mypy_cache/emitted")]
    types += map(str, FILES[first::3])
    for command in (lint, types):
        done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_definition_comes_with_all_that_it_needs() -> None:
    for target in MODULES:
        for name in table(target).definitions:
            found = support_of(target, [name])
            own = {x for text in found.texts for x in defined(ast.parse(text))}
            for text in found.texts:
                used = {x.id for x in ast.walk(ast.parse(text)) if isinstance(x, ast.Name)}
                assert used & table(target).definitions.keys() <= own | {*HEADER}, (name, text)


def test_the_order_of_names_does_not_matter() -> None:
    names = ["_digamma", "_views", "_standard_normal_threads", "_load"]
    assert alone("numba", names) == alone("numba", reversed(names))
    assert alone("numba", names, "hash") != alone("numba", names)


def test_marks_are_the_only_lines_that_differ() -> None:
    """A function that both targets have is the same text but for its decorator."""
    for name in BUILDERS:
        one, other = (table(t).definitions[name].text for t in ("numpy", "numba"))\
            if name in table("numpy").definitions else ("", "")  # fmt: skip
        for mark in ("elementwise", "contracted"):
            one = one.replace(f"{MARKS['numpy'][mark]}\n", "")
            other = other.replace(f"{MARKS['numba'][mark]}\n", "")
        assert one == other, name


def test_every_runtime_module_is_of_a_target() -> None:
    there = {p.stem for p in (package_dir() / "runtime").glob("*.py")}
    listed = {x for names in MODULES.values() for x in names} | {"hashed", "marks", "__init__"}
    assert there == listed


def test_names_are_declared_where_they_are_written() -> None:
    with collecting() as outer:
        assert use("_views") == "_views"
        with collecting() as inner:
            use("math")
    assert (outer, inner) == ({"_views"}, {"math"})
    assert use("alone") == "alone"  # nobody collects
