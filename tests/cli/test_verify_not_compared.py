"""`blrgen verify` of files that cannot be held against the rule: it says so, and why."""

from __future__ import annotations

import pytest

EQUAL = ("equal in", "proved", "refuted:")  # what a headline may not say of what was not compared

SGD = """
class Sgd:
    def __init__(self, params, rho=0.1):
        self.params, self.rho, self.t = params, rho, 0

    def step(self, g):
        self.t += 1
        self.params -= self.rho * g
"""


@pytest.fixture
def verify(invoke, tmp_path):
    """Verify a source text, by default against gradient descent."""

    def run(source, *words, against="gradient-descent"):
        file = tmp_path / "mine.py"
        file.write_text(source)
        return invoke("verify", str(file), "--against", against, *words)

    return run


@pytest.fixture
def generated(invoke, tmp_path):
    """Verify what `generate` writes for some words against another rule."""

    def run(*words, against):
        file = tmp_path / "made.py"
        assert invoke("generate", *words, "-o", str(file)).code == 0
        return invoke("verify", str(file), "--against", *against)

    return run


def headline(said):
    """What stands below the title of a class and above the first empty line."""
    return " ".join(said.out.split("\n\n")[0].splitlines()[1:])


def test_a_class_that_draws_against_a_rule_that_does_not(generated):
    words = ["--stochastic", "--hessian", "reparam", "--square-root"]
    said = generated("gaussian-diag", *words, against=["gaussian-diag"])
    assert (said.code, said.err) == (3, "")
    assert headline(said).startswith("nothing was compared: the class draws noise of its own")
    assert not any(word in headline(said) for word in EQUAL)
    assert "step needs a draw" in said.out and "instead:" in said.out
    assert generated("gaussian-diag", *words, against=["gaussian-diag", *words]).code == 0


@pytest.mark.parametrize(
    ("source", "against", "why"),
    [
        (SGD, "momentum", "takes no gamma"),
        (SGD.replace("(self, g)", "(self, grad)").replace("* g", "* grad"), "sgd", "needs grad"),
        (SGD.replace("rho=0.1", "rho, key"), "sgd", "to be built the class needs key"),
        (SGD, "ridge", "takes no"),
        (SGD, "von-diag", "keeps no s"),
        ("import torch\n" + SGD, "sgd", "the import of torch"),
        (SGD.replace("self.t += 1", "raise KeyError(3)"), "sgd", "KeyError: 3"),
        (SGD.replace("self.t += 1", "self.step = 3"), "momentum", "takes no gamma"),
        (SGD.replace(" 0\n", " 0\n        self.step = 3\n"), "sgd", "not a callable object"),
        ("class Sgd:\n    def step(self, g):\n        pass\n", "sgd", "takes no arguments"),
    ],
)
def test_nothing_was_compared(verify, source, against, why):
    said = verify(source, against=against)
    assert (said.code, said.err) == (3, ""), (said.out, said.err)
    assert headline(said).startswith("nothing was compared: ")
    assert why in headline(said)
    assert "instead: " in said.out


def test_where_the_loss_is_probed_is_missing(generated):
    """The step is that of the rule; without a draw nothing says where its gradient is taken."""
    said = generated("ogn", "--target", "numpy", against=["vogn"])
    assert said.code == 3, said.out
    assert headline(said).startswith("not a proof: θ was not compared; the rest is proved")


def test_a_state_that_the_rule_does_not_have(generated):
    """From u = 0 a first step with momentum is one of gradient descent; the second is not."""
    said = generated("momentum", "--target", "numpy", against=["gradient-descent"])
    assert said.code == 3, said.out
    assert headline(said).startswith("not a proof: u was not compared; the rest is proved")


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ("self.rho = self.rho * 0.9", "ρ"),
        ("self._v = getattr(self, '_v', 0 * g) + g; self.params -= self._v - g", "_v"),
    ],
)
def test_what_changes_from_step_to_step(verify, more, name):
    said = verify(SGD + f"        {more}\n")
    assert said.code == 3, said.out
    assert f"not a proof: {name} was not compared" in said.out


def test_what_changes_without_an_effect_is_no_state(verify):
    said = verify(SGD + "        self.last = g\n        self.seen = self.t + 1\n")
    assert headline(said).startswith("not a proof: the class was not compared; the rest is proved")


@pytest.mark.parametrize(
    "more",
    [
        "",
        "        if str(g) != 'g' and len(str(g)) > 40: self.params += g\n",
        "        if hash(self.t) == 7: self.params += g\n",
    ],
)
def test_a_class_of_somebody_else_is_never_proved(verify, more):
    """Right or wrong: it was run, and code can tell what it is run on."""
    said = verify(SGD + more)
    assert said.code == 3, said.out
    assert "update as a function `step`" in " ".join(said.out.split())


@pytest.mark.parametrize(
    "source",
    [
        SGD.replace("class Sgd", "class _Sgd"),
        SGD + "\n\nclass Settings:\n    pass\n",
        SGD.replace("class Sgd:", "class Sgd:\n    __slots__ = ('params', 'rho', 't')"),
        SGD.replace("class Sgd", "class Base") + "\n\nclass Sgd(Base):\n    pass\n",
    ],
)
def test_the_class_with_a_step_is_found(verify, source):
    said = verify(source)
    assert said.code == 3
    assert headline(said).startswith("not a proof: the class was not compared; the rest is proved")


def test_states_without_an_argument_are_in_the_headline(verify):
    source = "def step(s, h, rho):\n    return (1 - rho)*{}(s) + rho*h\n"
    for wrapped in ("", "(lambda x: float(str(x)))"):
        said = verify(source.format(wrapped), against="von-diag")
        assert said.code == 3
    said = verify(source.format(""), against="von-diag")
    assert said.out.startswith("not a proof: m was not compared")


@pytest.mark.parametrize(
    "result", ["{'m': {'a': 1}}", "type('R', (), {'_fields': ('m',)})()", "{'m': 'abc'}", "'abc'"]
)
def test_functions_that_return_something_else(verify, result):
    said = verify(f"def step(m, g, rho):\n    return {result}\n")
    assert (said.code, said.err) == (3, ""), said
    assert "has no meaning here" in " ".join(said.out.split())
