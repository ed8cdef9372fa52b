"""`blrgen list` against the tree and the registries themselves."""

from __future__ import annotations

import tomllib


def test_families_are_the_files(invoke, root):
    said = invoke("list", "families")
    listed = [line.split()[0] for line in said.out.splitlines()]
    assert (said.code, said.err) == (0, "")
    assert listed == sorted(p.stem for p in (root / "families").glob("*.toml"))


def test_recipes_are_the_entries(invoke, root):
    entries = tomllib.loads((root / "blrgen" / "recipes.toml").read_text())
    listed = [line.split()[0] for line in invoke("list", "recipes").out.splitlines()]
    assert listed == list(entries)


def test_every_approximation_with_its_values(invoke):
    from blrgen.approximate import registry

    lines = invoke("list", "approximations").out.splitlines()
    assert len(lines) == len(registry())
    for info, line in zip(registry().values(), lines, strict=True):
        assert line.startswith(info.flag)
        assert info.summary in line
        if isinstance(info.options, tuple):
            assert "|".join(info.options) in line


def test_targets_are_those_that_generate_takes(invoke):
    listed = [line.split()[0] for line in invoke("list", "targets").out.splitlines()]
    assert {"numpy", "numba"} <= set(listed)
    for target in listed:
        assert invoke("generate", "gradient-descent", "--target", target).code == 0


def test_everything_under_headings(invoke):
    said = invoke("list")
    headings = [line for line in said.out.splitlines() if line and not line.startswith(" ")]
    assert headings == ["families", "recipes", "approximations", "losses", "targets"]


def test_every_family_in_the_list_is_a_what(invoke):
    for line in invoke("list", "families").out.splitlines():
        assert invoke("derive", line.split()[0]).code == 0
