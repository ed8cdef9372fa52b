"""What each command loads, and above all what it does not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"sympy", "numpy", "numba", "scipy", "jinja2", "mpmath", "torch", "jax", "lark"}
PROBE = """
import io, json, sys
from contextlib import redirect_stdout
from blrgen.cli import main
with redirect_stdout(io.StringIO()):
    code = main(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]))
"""


def loaded(root, *words: str) -> set[str]:
    """The modules in a fresh process after this command line."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *words], cwd=root, capture_output=True, text=True, check=True
    )
    code, modules = json.loads(done.stdout)
    assert code == 0
    return set(modules)


def test_help_loads_next_to_nothing(root):
    seen = loaded(root, "--help")
    assert not seen & HEAVY
    assert not seen & {"dataclasses", "inspect", "shutil", "tomllib", "difflib"}


@pytest.mark.parametrize("name", ["derive", "generate", "verify", "identify", "table"])
def test_help_of_a_command_loads_no_mathematics(root, name):
    assert not loaded(root, name, "--help") & HEAVY


# `list recipes` derives: what a rule takes, sums or means, is found and not read
SUBJECTS = ["families", "models", "approximations", "losses", "targets"]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_list_loads_no_mathematics(root, subject):
    assert not loaded(root, "list", subject) & HEAVY


@pytest.mark.sweep(6)
@pytest.mark.parametrize("format_", ["text", "latex", "markdown", "html", "json"])
def test_derive_does_not_load_numba(root, format_):
    seen = loaded(root, "derive", "gaussian-diag", "--delta", "--format", format_)
    assert "sympy" in seen
    assert not seen & (HEAVY - {"sympy", "mpmath"})


def test_importing_the_package_is_cheap(root):
    code = "import sys, blrgen; print(sorted(set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True)
    assert not any(f"'{name}'" in done.stdout for name in HEAVY | {"typing"})
