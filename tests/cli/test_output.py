"""Files are written whole or not at all, and nobody's work is lost."""

from __future__ import annotations

import os

import pytest

from blrgen.cli.output import LONGEST, plain, save
from blrgen.errors import UserError

pytestmark = pytest.mark.core


def test_a_new_file(tmp_path):
    assert save(str(tmp_path / "a.py"), "x = 1\n", force=False)
    assert (tmp_path / "a.py").read_text() == "x = 1\n"
    assert os.listdir(tmp_path) == ["a.py"]


def test_the_same_content_is_left_untouched(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("x = 1\n")
    before = file.stat()
    assert not save(str(file), "x = 1\n", force=False)
    assert file.stat() == before


def test_other_content_is_somebodys_work(tmp_path):
    file = tmp_path / "a.py"
    file.write_text("mine\n")
    with pytest.raises(UserError, match="--force"):
        save(str(file), "x = 1\n", force=False)
    assert file.read_text() == "mine\n"
    assert save(str(file), "x = 1\n", force=True)
    assert file.read_text() == "x = 1\n"


def test_mode_and_link_are_kept(tmp_path):
    file, link = tmp_path / "a.py", tmp_path / "link.py"
    file.write_text("old\n")
    file.chmod(0o640)
    link.symlink_to(file)
    save(str(link), "new\n", force=True)
    assert link.is_symlink()
    assert file.read_text() == "new\n"
    assert file.stat().st_mode & 0o777 == 0o640


def test_a_failure_half_way_leaves_the_old_file(tmp_path, monkeypatch):
    file = tmp_path / "a.py"
    file.write_text("old\n")

    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", broken)
    with pytest.raises(OSError, match="No space"):
        save(str(file), "new\n", force=True)
    assert file.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["a.py"]


@pytest.mark.parametrize("where", [".", "missing/a.py", "a.py/b.py", "sub/"])
def test_places_that_are_no_file(tmp_path, monkeypatch, where):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("")
    with pytest.raises(UserError):
        save(where, "x", force=True)


def test_plain_text():
    assert plain("a\nb\tc λ") == "a\nb\tc λ"
    assert plain("\x1b[31m\r\x00\u202e") == "\\x1b[31m\\r\\x00\\u202e"
    assert len(plain("y" * 10**6)) < LONGEST + 60
