"""Published algorithms that are no recipes: what is said of them is derived here."""

from __future__ import annotations

import shlex

import pytest

from blrgen.approximate.tools.road import derive
from blrgen.errors import UserError
from blrgen.read.algorithms import read_algorithms, unknown_algorithm
from blrgen.read.family import list_families
from blrgen.read.recipe import read_recipes
from blrgen.validate.verify_file import verify_source

KNOWN = read_algorithms()

# By hand, from Jones, Chang & Murphy (2024), equations (3) and (4): one natural-gradient step
# of length one on E_q[log-likelihood] from the prior, here for a Gaussian in (mean, precision).
BY_HAND = {
    "bong": """
import numpy as np

def step(m, S, g, H):
    S_next = S + H
    m_next = m - np.linalg.solve(S_next, g)
    return m_next, S_next
""",
}


def derived(words: str):
    """What `blrgen derive WORDS` derives."""
    what, *rest = shlex.split(words)
    flags, insert = [], []
    while rest:
        flag = rest.pop(0).removeprefix("--")
        value = rest.pop(0) if rest and not rest[0].startswith("--") else None
        if flag == "insert":
            insert.append(value)
        else:
            flags.append(flag if value is None else f"{flag}={value}")
    return derive(what, flags, insert=insert)


@pytest.mark.parametrize("name", [n for n, a in KNOWN.items() if a.flags])
def test_what_flags_reach_is_proved_against_the_algorithm_by_hand(name):
    assert verify_source(BY_HAND[name], derived(KNOWN[name].flags).rule).proved


@pytest.mark.parametrize("words", sorted({a.nearest for a in KNOWN.values() if a.nearest}))
def test_what_is_called_nearest_can_be_derived(words):
    assert derived(words).steps


def test_no_name_is_that_of_something_else():
    taken = {*list_families(), *read_recipes()}
    assert not taken & set(KNOWN)
    spelled = [x for a in KNOWN.values() for x in {a.name, *a.also}]
    assert len(spelled) == len(set(spelled))


@pytest.mark.parametrize("word", ["AdamW", "adam-w", "adam_w", "ADAMW"])
def test_any_spelling_is_understood(word):
    said = unknown_algorithm(word)
    assert said is not None
    assert said.what == "AdamW is not reached by flags"
    assert "outside the preconditioner" in said.why


def test_other_words_are_left_to_the_spelling_guess():
    assert unknown_algorithm("adan") is None
    with pytest.raises(UserError, match="did you mean 'adam'"):
        derive("adan")
