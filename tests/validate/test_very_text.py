"""Of an emitted file every definition is the text that is emitted, or it is named."""

from __future__ import annotations

import pytest

from blrgen.approximate.tools.road import derive
from blrgen.emit import emit
from blrgen.validate.very_text import definitions, untold

EDITS = {
    "class.__init__": ("alpha: float = 0.001", "alpha: float = 0.01"),
    "_step_threads": ("prange(-(-m.size // stretch))", "prange(m.size // stretch)"),
    "class.sample": ("deviation * _normals(rng, mean)", "deviation * _normals(rng, deviation)"),
    "_views": ("if len(found) != len(like):", "if False:"),
    "HYPERPARAMETERS": ('"beta1": "[0, 1)"', '"beta1": "[0, 2)"'),
    "THREADED": ("THREADED = 65536", "THREADED = 65537"),
    "class.load_state_dict": ('"s": "[0, inf)"}', '"s": "(0, inf)"}'),
    "class.posterior": ("_deviation(x) for x", "2 * _deviation(x) for x"),
}
KEPT_BY = {"class.posterior": "ogn", "class.sample": "ogn"}  # Adam keeps no posterior


@pytest.fixture(scope="module")
def adam():
    return derive("adam")


@pytest.mark.sweep(10)
@pytest.mark.parametrize("name", EDITS)
def test_what_was_edited_is_named(invoke, tmp_path, name):
    before, after = EDITS[name]
    recipe = KEPT_BY.get(name, "adam")
    rule = derive(recipe)
    source = emit(rule, "numba")
    assert source.count(before) == 1
    edited = source.replace(before, after)
    assert [n for n, _ in untold(edited, rule)] == [name]
    (tmp_path / "edited.py").write_text(edited, encoding="utf-8")
    said = invoke("verify", str(tmp_path / "edited.py"), "--against", recipe)
    assert said.code in (1, 3), said.out


def test_more_and_less_are_named(adam):
    source = emit(adam, "numpy")
    more = source + "\nnp.sqrt = np.abs\n"
    assert [n for n, _ in untold(more, adam)] == ["np.sqrt"]
    less = source.replace("    def __repr__(", "    def other(")
    assert {n for n, _ in untold(less, adam)} == {"class.other", "class.__repr__ (not there)"}
    twice = source + "\n" + source[source.index("def _listed(") :]
    assert "_listed" in {n for n, _ in untold(twice, adam)}


def test_docstrings_and_comments_are_free(adam):
    source = emit(adam, "numba").replace('"""Update every element in place."""', '"""Update."""')
    assert untold("# mine\n" + source, adam) == []


@pytest.mark.parametrize(
    ("recipe", "options"),
    [
        ("adam", {"dtype": "float32"}),
        ("adam", {"target": "numpy", "dtype": "float64"}),
        ("ivon", {"noise": "hash"}),
        ("newton", {"sizes": {"d": 3}}),
    ],
)
def test_every_form_that_is_emitted_is_known(recipe, options):
    d = derive(recipe)
    source = emit(d, **options)
    assert untold(source, d) == []


def test_what_a_class_is_called_is_free(adam):
    assert untold(emit(adam, "numba").replace("Adam", "Mine"), adam) == []


def test_no_new_name_hides_an_edit(adam):
    source = emit(adam, "numba").replace("HYPERPARAMETERS", "NUMBERS").replace("THREADED", "MANY")
    named = {n for n, _ in untold(source.replace("alpha: float = 0.001", "alpha: float = 1"), adam)}
    assert {"class.__init__", "NUMBERS", "MANY"} <= named


def test_a_class_of_somebody_else_is_no_text_of_ours(adam):
    found = untold("class Adam:\n    def step(self, g): pass\n", adam)
    assert [n for n, _ in found] == ["the class"] and not found[0][1].proved
    assert definitions('"""x."""\nimport math\nA = 1\n').keys() == {"import math", "A"}


def test_an_encoding_that_python_would_read_otherwise(adam):
    """A comment is free; one that changes what Python reads is not."""
    source = emit(adam, "numba")
    for first in ("# -*- coding: utf-7 -*-\n", "#\x0c\x0c# coding: latin-1\n"):
        assert [n for n, _ in untold(first + source, adam)] == ["the file"]
    assert untold("# -*- coding: utf-8 -*-\n" + source, adam) == []
