"""`blrgen new-family`: a starter file that is right as it stands, and never lost work."""

from __future__ import annotations

import pytest


def test_it_passes_its_own_check(invoke, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = invoke("new-family", "my-own")
    assert (said.code, said.out, said.err) == (0, "", "wrote my-own.toml\n")
    checked = invoke("check", "my-own.toml")
    assert (checked.code, checked.err) == (0, "")
    assert "NO " not in checked.out
    assert checked.out.count("ok  claim") == 5
    for command in ("show", "derive"):
        assert invoke(command, "my-own.toml").code == 0


def test_nothing_is_overwritten(invoke, tmp_path):
    file = tmp_path / "mine.toml"
    assert invoke("new-family", "mine", "-o", str(file)).code == 0
    assert invoke("new-family", "mine", "-o", str(file)).code == 0  # it holds just that
    file.write_text("my work")
    said = invoke("new-family", "mine", "-o", str(file))
    assert said.code == 2
    assert "--force" in said.err
    assert file.read_text() == "my work"
    assert invoke("new-family", "mine", "-o", str(file), "--force").code == 0
    assert 'name = "mine"' in file.read_text()


@pytest.mark.parametrize(
    "name", ["", "My", "a b", "../up", "a_b", "-a", "1a", "x" * 80, 'a"b', "a\nb", "é"]
)
def test_a_name_that_is_none(invoke, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    said = invoke("new-family", name)
    assert (said.code, said.out) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_to_standard_output(invoke):
    said = invoke("new-family", "mine", "-o", "-")
    assert said.code == 0
    assert said.out.startswith("#")
