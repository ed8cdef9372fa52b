"""derive, generate, identify and table, each from outside; and the same bytes every time."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from blrgen.read.what import both

ROOT = Path(__file__).parents[2]
RECIPES = list(tomllib.loads((ROOT / "blrgen" / "recipes.toml").read_text()))
KEYS = {
    "family", "loss", "approximations", "state", "inputs", "hyperparameters", "draws", "update",
    "steps", "identified", "schema",
}  # fmt: skip


@pytest.mark.sweep(6)
@pytest.mark.parametrize("recipe", RECIPES)
def test_every_recipe_as_text_and_as_json(invoke, recipe):
    text, data = invoke("derive", recipe), invoke("derive", recipe, "--format", "json")
    said = f"{recipe} is a recipe here; the family of that name is family:{recipe}\n"
    assert (text.code, text.err) == (0, said if both(recipe) else "")
    assert (data.code, data.err) == (text.code, text.err)
    assert "(1)" in text.out
    shown = json.loads(data.out)
    assert set(shown) >= KEYS
    assert shown["update"]
    assert all(step["because"] for step in shown["steps"])


@pytest.mark.parametrize("format_", ["latex", "markdown", "html"])
def test_formats(invoke, format_):
    said = invoke("derive", "gaussian-full", "--delta", "--format", format_)
    assert (said.code, said.err) == (0, "")
    mark = {"latex": "\\begin{document}", "markdown": "$$", "html": "<html"}[format_]
    assert mark in said.out


def test_approximations_follow_a_recipes_own(invoke):
    longer = invoke("derive", "sgd", "--momentum", "--format", "json")
    whole = invoke("derive", "momentum", "--format", "json")
    assert json.loads(longer.out)["update"] == json.loads(whole.out)["update"]


def test_order_matters_and_is_said(invoke):
    said = invoke("derive", "gaussian-diag", "--delta", "--stochastic", "--format", "json")
    assert [a["name"] if isinstance(a, dict) else a for a in json.loads(said.out)["approximations"]]
    refused = invoke("derive", "gaussian-diag", "--bias-correction", "--momentum", "--delta")
    assert refused.code in (0, 2)


def test_a_family_file_by_its_path(invoke, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text((ROOT / "families" / "gaussian-diag.toml").read_text())
    by_path = invoke("derive", str(file), "--delta", "--format", "json")
    by_name = invoke("derive", "gaussian-diag", "--delta", "--format", "json")
    assert by_path.code == 0
    assert json.loads(by_path.out)["update"] == json.loads(by_name.out)["update"]


@pytest.mark.parametrize(
    ("text", "what"),
    [("name = ", ":1"), ("", "name"), ('name = "x"\nname = "y"\n', ":2"), ("\xff", "")],
)
@pytest.mark.parametrize("command", ["derive", "show", "check"])
def test_a_broken_family_file(invoke, tmp_path, command, text, what):
    file = tmp_path / "broken.toml"
    file.write_bytes(text.encode("latin-1"))
    said = invoke(command, str(file))
    assert (said.code, said.out) == (2, "")
    assert "broken.toml" in said.err
    assert what in said.err


@pytest.mark.parametrize("family", ["bernoulli-sign", "gaussian-fixed", "gaussian-full"])
def test_a_family_of_ours_passes_its_check(invoke, family):
    said = invoke("check", family)
    assert said.code == 0, said.out
    # where a machine has other work, what is being looked at is said, and nothing else
    assert all(line.startswith("… ") for line in said.err.splitlines()), said.err
    assert all(line.startswith(("ok ", " ")) for line in said.out.splitlines())


def test_a_wrong_log_partition_is_refuted(invoke, tmp_path):
    file = tmp_path / "wrong.toml"
    text = (ROOT / "families" / "bernoulli-sign.toml").read_text()
    head, natural = text.split("[natural]")
    file.write_text(head + 'log_partition = "log(cosh(lam))"\n[natural]' + natural)
    said = invoke("check", str(file))
    assert (said.code, said.err) == (1, "")
    assert "NO  log-partition" in said.out
    file.write_text(head + 'log_partition = "log(2*cosh(lam))"\n[natural]' + natural)
    assert invoke("check", str(file)).code == 0


@pytest.mark.parametrize("target", ["numpy", "numba"])
@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
def test_generate_prints_a_file_that_stands_alone(invoke, target, dtype):
    said = invoke("generate", "adam", "--target", target, *(["--dtype", dtype] if dtype else []))
    assert (said.code, said.err) == (0, "")
    compile(said.out, "adam.py", "exec")
    assert "import blrgen" not in said.out
    assert "from blrgen" not in said.out


def test_generate_to_a_file_and_back(invoke, tmp_path):
    file = tmp_path / "adam.py"
    first = invoke("generate", "adam", "-o", str(file))
    assert (first.code, first.out, first.err) == (0, "", f"wrote {file}\n")
    assert file.read_text() == invoke("generate", "adam").out
    again = invoke("generate", "adam", "--output", str(file))
    assert again.code == 0
    assert "up to date" in again.err
    file.write_text("mine\n")
    refused = invoke("generate", "adam", "-o", str(file))
    assert refused.code == 2
    assert file.read_text() == "mine\n"
    assert invoke("generate", "adam", "-o", str(file), "--force").code == 0
    assert file.read_text() == invoke("generate", "adam").out


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["gaussian-fixed", "--delta"], "gradient-descent"),
        (["gaussian-full", "--delta", "--rho", "1"], "newton"),
        (["rmsprop", "--momentum", "--bias-correction"], "adam"),
    ],
)
def test_identify_names_the_algorithm(invoke, words, names):
    said = invoke("identify", *words)
    assert (said.code, said.err) == (0, "")
    assert names in said.out


def test_identify_says_what_is_missing(invoke):
    said = invoke("identify", "gaussian-diag", "--delta", "--stochastic")
    assert said.code == 0
    assert "add --hessian" in said.out


@pytest.mark.sweep(12)
@pytest.mark.parametrize(
    "words",
    [
        ["derive", "adam", "--format", "json"],
        ["derive", "gaussian-full"],
        ["generate", "ivon"],
        ["generate", "iblr", "--target", "numpy"],
        ["show", "gaussian", "--format", "json"],
        ["list"],
    ],
    ids=" ".join,
)
def test_the_same_bytes_whatever_the_hash_seed(blrgen, words):
    first, second = (blrgen(*words, PYTHONHASHSEED=seed) for seed in ("1", "4242"))
    assert first == second
    assert first.code == 0


def test_as_a_module_and_from_python():
    code = "import blrgen; d = blrgen.derive('gaussian-fixed', ['delta']); print(len(d.steps) > 3)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "True\n", done.stderr
    with pytest.raises(AttributeError):
        __import__("blrgen").nothing  # noqa: B018


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("derive", "newton"), "print text"),
        (("generate", "adam"), "    cse"),
        (("identify", "adam"), "identify"),
        (("show", "bernoulli"), "geometry"),
    ],
)
def test_the_time_of_every_pass_goes_to_standard_error(invoke, words, line, tmp_path, monkeypatch):
    monkeypatch.setenv("BLRGEN_CACHE", str(tmp_path))
    plain, said = invoke(*words), invoke(*words[:2], "--time-passes")
    assert (said.code, said.out) == (0, plain.out)
    assert plain.err == ""
    title, _, *rows = said.err.splitlines()
    assert title.split() == ["stage", "or", "pass", "ms", "before", "after"]
    assert rows[-1].split()[0] == "all"
    if words[0] == "show":
        assert rows[0] == "show: from the cache"
    else:
        assert any(row.startswith(line) for row in rows)


def test_the_table_in_every_format(invoke, monkeypatch):
    from blrgen import table
    from blrgen.show.table_pages import as_markdown

    made = table.Algorithm("sgd", "gaussian-fixed", ("delta",), 3, "identity", (), ())
    rows = (table.Row("Optimization", "Gradient descent", (made,), ""),)
    monkeypatch.setattr(table, "computed", lambda say: rows)
    assert invoke("table").out.rstrip() == table.as_text(rows).rstrip()
    assert invoke("table", "--format", "markdown").out.rstrip() == as_markdown(rows).rstrip()
    assert json.loads(invoke("table", "--format", "json").out) == table.as_data(rows)


def test_help_tells_of_the_times(invoke):
    for command in ("derive", "generate", "verify", "show", "table"):
        assert "--time-passes" in invoke(command, "--help").out
    assert invoke("list", "--time-passes").code == 2


@pytest.mark.parametrize("command", ["derive", "generate", "verify", "identify"])
@pytest.mark.parametrize("loss", ["", "  "])
def test_an_empty_loss_is_refused(invoke, command, loss):
    said = invoke(command, "gaussian", "--loss", loss)
    assert (said.code, said.out) == (2, "")
    assert "the loss is empty" in said.err
