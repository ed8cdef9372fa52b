"""Wrong models: every mistake of a text is found at once, in order, each at its place."""

from __future__ import annotations

import pytest

from blrgen.read.model.mistakes import KINDS
from blrgen.read.model.reader import examine
from tests.read.model.wrong import WRONG, Wrong

ELSEWHERE = {"data", "support", "not-applicable"}  # need arrays, or an algorithm


@pytest.mark.parametrize("wrong", WRONG, ids=[f"{i}" for i in range(len(WRONG))])
def test_every_mistake_at_its_place(wrong: Wrong) -> None:
    model, mistakes, _ = examine(wrong.text)
    assert [(m.kind, m.line, m.column) for m in mistakes] == wrong.mistakes
    assert model is None
    assert all(m.text and m.why and m.instead for m in mistakes)


def test_every_kind_is_among_them() -> None:
    found = {kind for wrong in WRONG for kind, _, _ in wrong.mistakes}
    assert found == set(KINDS) - ELSEWHERE


HINTS = [
    ("mean ~ gaussian(0, 1)\nx ~ gaussian(maen, 1) observed", "did you mean 'mean'?"),
    ("x ~ gausian(0, 1) observed", "did you mean 'gaussian'"),
    ("w ~ gaussian(0, 1)\nx ~ bernoulli(sigmoid(w)) observed", "1/(1 + exp(-x))"),
    ("x ~ gaussian(0, 1^2) observed", "**"),
    ("x ~ gaussian(0, sd = 1) observed", "its arguments are (m, v)"),
    ("plate t in T\nx[t] ~ gaussian(x[t-1], 1) observed", "x[1] ~ …"),
    ("plate k in K\nm[k] ~ gaussian(0, 1)\nx ~ gaussian(m, 1) observed", "m[k], or m[:]"),
]


@pytest.mark.parametrize(("text", "hint"), HINTS)
def test_what_to_write_instead(text: str, hint: str) -> None:
    _, (mistake, *_), _ = examine(text)
    assert hint in mistake.instead


def test_a_hint_that_is_followed_is_right() -> None:
    wrong = "plate t in T\nx[t] ~ gaussian(x[t-1], 1)\ny[t] ~ gaussian(x[t], 1) observed"
    assert examine(wrong)[0] is None
    right = wrong.replace("x[t] ~", "x[1] ~ gaussian(0, 1)\nx[t] ~", 1)
    assert examine(right)[0] is not None


def test_a_point_shows_how_an_argument_leaves_its_domain() -> None:
    _, (mistake,), _ = examine("const v in [0, oo)\nx ~ gaussian(0, v) observed")
    assert mistake.why == "0 at v = 0"


def test_what_depends_on_sizes_is_a_finding() -> None:
    text = "plate n in N\nL ~ wishart(eye(p), 3)\nx[n] ~ gaussian-full(zeros(p), L) observed"
    model, mistakes, findings = examine(text)
    assert model is not None and mistakes == ()
    (finding,) = findings
    assert (finding.kind, finding.node) == ("domain", "L")


def test_names_of_a_broken_statement_are_not_unknown() -> None:
    _, mistakes, _ = examine("mu ~ gaussian(0, 1\nx ~ gaussian(mu, 1) observed")
    assert [m.kind for m in mistakes] == ["syntax"]


def test_an_unclosed_bracket_does_not_swallow_what_follows() -> None:
    _, mistakes, _ = examine("mu ~ gaussian(0, 1\nx ~ gaussian(mu, foo) observed")
    assert [(m.kind, m.line) for m in mistakes] == [("syntax", 1), ("unknown-name", 2)]


def test_the_family_names_stay_in_the_family() -> None:
    """A mean called v, a count called m: the family's own names do not meet the model's."""
    text = "plate n in N\nv ~ gaussian(0, 1)\nm ~ gamma(1, 1)\nx[n] ~ gaussian(v, m) observed"
    model, mistakes, _ = examine(text)
    assert mistakes == () and model is not None
