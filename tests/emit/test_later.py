"""A new process runs the machine code that an earlier one kept, and gets the same bits."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from blrgen import derive
from blrgen.emit import emit
from blrgen.emit.later import helper, plainly

STEP = """
import sys
import numpy as np
from adam import Adam
m = np.linspace(-1, 1, 1003).astype(sys.argv[1])
opt = Adam(m)
for _ in range(int(sys.argv[2])):
    opt.step(np.sin(m))
print(int("numba" in sys.modules), m.tobytes().hex(), opt.s[0].tobytes().hex())
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("later")
    (made / "adam.py").write_text(emit(derive("adam"), "numba"), encoding="utf-8")
    return made


def run(folder: Path, dtype: str, steps: int) -> tuple[bool, str]:
    done = subprocess.run([sys.executable, "-c", STEP, dtype, str(steps)], cwd=folder,
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stderr == ""
    needed, _, bits = done.stdout.partition(" ")
    return needed == "1", bits


def test_the_second_process_starts_without_numba(folder: Path) -> None:
    first = run(folder, "float32", 3)
    assert first[0]
    assert run(folder, "float32", 3) == (False, first[1])
    assert run(folder, "float32", 3) == (False, first[1])


def test_numba_takes_over_with_the_same_bits(folder: Path) -> None:
    """Six steps: all by Numba, then four by what was kept and two by Numba."""
    for kept in (folder / "__pycache__").glob("*.o"):
        kept.unlink()
    assert run(folder, "float64", 6) == run(folder, "float64", 6)
    assert list((folder / "__pycache__").glob("adam._step.*.o"))


def test_what_does_not_fit_is_not_run(folder: Path) -> None:
    wanted = run(folder, "float32", 1)[1]
    kept = next((folder / "__pycache__").glob("adam._step.*.o"))
    code = kept.read_bytes()
    for wrong in (bytes([code[0] ^ 1]) + code[1:], code[:32] + bytes(200)):
        for path in (folder / "__pycache__").glob("adam._step.*.o"):
            path.write_bytes(wrong)
        assert run(folder, "float32", 1) == (True, wanted)


def test_a_file_is_imported_under_any_name(tmp_path: Path) -> None:
    """What was kept under one name of the module is no use, and no hindrance, under another."""
    (tmp_path / "package").mkdir()
    source = emit(derive("ivon"), "numba")
    (tmp_path / "package" / "rule.py").write_text(source, encoding="utf-8")
    script = (
        "import sys; sys.path.insert(0, {0!r}); import numpy as np; from {1} import IVON\n"
        "opt, rng = IVON(np.ones(9)), np.random.default_rng(0)\n"
        "for _ in range(6): opt.draw(rng); opt.step(np.ones(9))\n"
        "print(opt.m[0].tobytes().hex())"
    )
    made = set()
    for path, name in ((tmp_path / "package", "rule"), (tmp_path, "package.rule")) * 2:
        done = subprocess.run([sys.executable, "-c", script.format(str(path), name)],
                              capture_output=True, text=True, check=True)  # fmt: skip
        made.add(done.stdout)
    assert len(made) == 1


def test_a_proof_takes_the_helper_for_what_it_stands_for() -> None:
    lines = "from numba import carray, get_num_threads, njit, prange, types\n"
    lines += "from numba.extending import intrinsic\n"
    more = lines.replace("intrinsic", "intrinsic, overload")
    for imports in (lines, more, "from numba import njit\n"):
        source = f"import math\n\n\n{helper(imports)}\n\n\nx = 1\n"
        plain = plainly(source)
        assert "_Later" not in plain and imports in plain
        assert plain.count("\n") == source.count("\n")
        changed = source.replace("self.calls += 1", "self.calls += 2")
        assert plainly(changed) == changed  # it has to be run, and is not what it says


def test_only_files_with_compiled_code_have_it() -> None:
    assert "_Later" not in emit(derive("adam"), "numpy")
    for name in ("adam", "laplace", "newton"):
        source = emit(derive(name), "numba")
        assert ("_Later" in source) == ("@njit" in source)
    assert plainly("x = 1\n") == "x = 1\n"
