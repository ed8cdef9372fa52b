"""`blrgen list` against the tree and the registries themselves."""

from __future__ import annotations

import json
import tomllib

import pytest

from blrgen.read.family import read_family
from blrgen.read.what import find_what


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
    assert headings == [
        "families",
        "models",
        "recipes",
        "approximations",
        "losses",
        "targets",
        "algorithms",
    ]


def test_every_family_in_the_list_is_a_what(invoke):
    for line in invoke("list", "families").out.splitlines():
        name = line.split()[0]
        assert find_what(name) and find_what(f"family:{name}").family == name
        assert read_family(name).name == name


SUBJECTS = ["models", "recipes", "approximations", "losses", "targets", "algorithms"]


@pytest.mark.parametrize("subject", SUBJECTS)
def test_a_list_as_json_says_what_its_lines_say(invoke, subject):
    data = json.loads(invoke("list", subject, "--json").out)
    lines = invoke("list", subject).out.splitlines()
    assert data["schema"] == "blrgen.list/1"
    assert [i["name"] for i in data["items"]] == [line.split()[0] for line in lines]
    assert invoke("list", subject, "--format", "json").out == invoke("list", subject, "--json").out


def test_everything_as_json(invoke):
    items = json.loads(invoke("list", "--json").out)["items"]
    assert {i["subject"] for i in items} >= {"families", "recipes", "algorithms"}
    assert all({"name", "title"} <= i.keys() for i in items)


def test_what_a_rule_is_as_json(invoke):
    said = json.loads(invoke("identify", "gaussian-fixed", "--delta", "--json").out)
    assert said["schema"] == "blrgen.identification/1"
    assert [m["name"] for m in said["exact"]] == ["gradient-descent"]
    assert set(said["exact"][0]) == {"name", "level", "map", "note"}
    far = json.loads(invoke("identify", "adam", "--insert", "stochastic:prior=apart", "--json").out)
    assert far["exact"] == []
    assert far["nearest"][0] == {"name": "adam", "add": [], "drop": ["--prior apart"]}
