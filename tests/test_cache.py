"""The cache gives back what was put in, never anything else, and may be damaged or deleted."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from blrgen import cache


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "kept"
    monkeypatch.setenv("BLRGEN_CACHE", str(place))
    return place


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.json"))


def test_made_once(folder: Path) -> None:
    made = []

    def make() -> list[int]:
        made.append(1)
        return [1, 2]

    assert cache.remembered("kind", ("a", b"b"), make) == [1, 2]
    assert cache.remembered("kind", ("a", b"b"), make) == [1, 2]
    assert len(made) == 1
    assert cache.remembered("other", ("a", b"b"), make) == [1, 2]
    assert cache.remembered("kind", ("ab", b""), make) == [1, 2]
    assert len(made) == 3


@pytest.mark.parametrize("name", ["off", "OFF", "0", "none"])
def test_off(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("BLRGEN_CACHE", name)
    assert cache.folder() is None
    cache.put("x" * 64, 1)
    assert cache.get("x" * 64) is None


def test_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("BLRGEN_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache.folder() == str(tmp_path / "xdg" / "blrgen")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache.folder() == str(tmp_path / ".cache" / "blrgen")


@pytest.mark.parametrize(
    "damage",
    [
        b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"name": 1}', b"[" * 100_000,
        b'{"name": "NAME", "check": "0", "value": "forged"}',
    ],
)  # fmt: skip
def test_a_damaged_entry_is_made_again(folder: Path, damage: bytes) -> None:
    assert cache.remembered("kind", ("a",), lambda: "first") == "first"
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(damage.replace(b"NAME", entry.stem.encode()))
    assert cache.remembered("kind", ("a",), lambda: "first") == "first"
    assert entry.read_bytes() == whole


def test_an_entry_under_another_name_is_not_taken(folder: Path) -> None:
    cache.remembered("kind", ("a",), lambda: "first")
    (entry,) = entries(folder)
    other = cache.entry_name("kind", ("b",))
    (folder / other[:2]).mkdir(exist_ok=True)
    shutil.copy(entry, folder / other[:2] / f"{other}.json")
    assert cache.get(other) is None


def test_it_may_be_deleted(folder: Path) -> None:
    cache.remembered("kind", ("a",), lambda: 1)
    shutil.rmtree(folder)
    assert cache.remembered("kind", ("a",), lambda: 2) == 2


def test_a_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("BLRGEN_CACHE", str(file / "below"))
    assert cache.remembered("kind", ("a",), lambda: 3) == 3


def test_the_oldest_go_first(folder: Path) -> None:
    for k in range(6):
        cache.put(cache.entry_name("kind", (str(k),)), "x" * 1000)
        newest = cache._path(cache.entry_name("kind", (str(k),)))
        os.utime(str(newest), (k + 1, k + 1))
    cache.prune(3000)
    kept = [k for k in range(6) if cache.get(cache.entry_name("kind", (str(k),)))]
    assert kept == [4, 5]


def test_what_is_too_large_is_not_kept(folder: Path) -> None:
    assert cache.remembered("kind", (), lambda: "x" * (cache.LARGEST + 1))
    assert entries(folder) == []


def _writer(number: int) -> bool:
    for k in range(40):
        name = cache.entry_name("shared", (str(k % 4),))
        cache.put(name, "y" * 2000)
        if cache.get(name) not in (None, "y" * 2000):
            return False
    return True


def test_several_processes_at_once(folder: Path) -> None:
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        assert all(pool.map(_writer, range(4)))
    assert len(entries(folder)) == 4
    assert list(folder.rglob("*.draft")) == []


def test_a_changed_engine_is_another_name(folder: Path, root: Path, tmp_path: Path) -> None:
    """A copy of the package, one word of its mathematics changed: the kept page is not shown."""
    copy = tmp_path / "tree"
    for part in ("blrgen", "families"):
        shutil.copytree(root / part, copy / part, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "pyproject.toml").write_text("")
    words = [sys.executable, "-m", "blrgen", "show", "gaussian-fixed", "--format", "json"]
    environment = {**os.environ, "PYTHONPATH": str(copy), "BLRGEN_CACHE": str(folder)}

    def shown() -> dict[str, object]:
        done = subprocess.run(words, cwd=copy, env=environment, capture_output=True, check=True)
        found: dict[str, object] = json.loads(done.stdout)
        return found

    before = shown()
    assert entries(folder)
    assert shown() == before
    source = copy / "blrgen" / "geometry" / "geometry.py"
    text = source.read_text()
    assert '"derived: ∇²A"' in text
    source.write_text(text.replace('"derived: ∇²A"', '"derived otherwise"'))
    after = shown()
    assert after != before
    assert "derived otherwise" in json.dumps(after["evidence"])


def test_a_changed_family_file_is_another_name(folder: Path, blrgen, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = 'name = "mine"\nvariable = "x"\nsupport = "{0, 1}"\nstatistics = ["x"]\n[natural]\n'
    file.write_text(text + 'eta = "(-oo, oo)"\n')
    kept = {"BLRGEN_CACHE": str(folder)}
    first = blrgen("show", str(file), **kept)
    assert blrgen("show", str(file), **kept) == first
    file.write_text(text + 'lam = "(-oo, oo)"\n')
    second = blrgen("show", str(file), **kept)
    assert "lam" in second.out or "λ" in second.out
    assert second.out != first.out
    file.write_text("broken")
    assert blrgen("show", str(file), **kept).code == 2
