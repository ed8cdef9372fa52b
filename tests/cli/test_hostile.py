"""Whatever is written on a command line, it ends in a result or in a short message."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from blrgen.approximate import registry
from blrgen.cli import main
from tests.effort import calls_at_most

CANDIDATES = ["gaussian-diag", "gaussian-full", "gaussian-fixed", "bernoulli-sign", "gaussian"]
LOSSES = [
    "__import__('os').system('touch pwned')",
    "theta.__class__.__mro__",
    "(lambda: theta)()",
    "[theta for theta in (1, 2)]",
    "{theta: 1}",
    "f'{theta}'",
    "theta if theta else 1",
    "(theta := 2)",
    "exec('1')",
    "open('x')",
    "9**9**9",
    "theta**9**9**9",
    "2**100000000",
    "factorial(10**9)",
    "(" * 100_000 + "theta" + ")" * 100_000,
    "-" * 100_000 + "theta",
    "theta" + "+theta" * 20_000,
    'theta*"; import os"',
    "theta*a'b",
    "theta\nimport os",
    "theta # comment",
    "theta;1",
    "theta = 1",
    "import os",
    "theta!",
    "1e400*theta",
    "theta/0",
    "nan*theta",
    "θ**2 + 𝐱",
    "theta*class_",
    "theta*None",
    "theta*self",
    "theta*m",
    "sin()",
    "sin(theta, theta)",
    "unknown(theta)",
    "log",
    "\0",
    "\\",
    "",
    " ",
    "y",
    "3",
]


def ended(*words: str) -> tuple[int, str, str]:
    """Exit code, standard output, standard error: in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main(list(words))
    return code, out.getvalue(), err.getvalue()


def check(code: int, out: str, err: str) -> None:
    assert code in (0, 2), err
    assert bool(out) == (code == 0)
    assert bool(err) == (code == 2)
    assert "Traceback" not in err
    assert len(err) < 6_000
    assert all(c.isprintable() or c == "\n" for c in err)


@pytest.mark.parametrize("loss", LOSSES, ids=range(len(LOSSES)))
@pytest.mark.parametrize("candidate", ["gaussian-diag", "gaussian-full"])
def test_losses_that_mean_harm(candidate, loss, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with calls_at_most(3_000_000):  # what is derived without harm takes up to 500 000
        check(*ended("derive", candidate, "--delta", "--loss", loss))
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None)
@given(loss=st.text(max_size=60))
def test_any_text_as_a_loss(loss):
    check(*ended("derive", "gaussian-fixed", "--delta", f"--loss={loss}"))


@settings(max_examples=60, deadline=None)
@given(
    loss=st.text(alphabet="theta xy0123456789.+-*/()**,eE", max_size=40),
    candidate=st.sampled_from(CANDIDATES),
)
def test_almost_formulas_as_a_loss(candidate, loss):
    check(*ended("derive", candidate, f"--loss={loss}"))


@settings(max_examples=80, deadline=None)
@given(words=st.lists(st.text(max_size=20), max_size=4))
@pytest.mark.parametrize("command", ["derive", "show", "list"])
def test_any_words(command, words):
    code, out, err = ended(command, *words)
    if not (command == "list" and not words) and "-h" not in words:
        check(code, out, err)


def flags() -> st.SearchStrategy[list[str]]:
    """Approximations in any order and number, with values known, unknown or odd."""

    def one(info):
        if info.options is None:
            return st.just([f"--{info.flag}"])
        known = list(info.options) if isinstance(info.options, tuple) else ["1", "0", "1/2", "s:v"]
        odd = st.text(max_size=8).map(lambda t: t or "x")
        return st.one_of(st.sampled_from(known), odd).map(lambda v: [f"--{info.flag}={v}"])

    any_one = st.sampled_from(list(registry().values())).flatmap(one)
    return st.lists(any_one, max_size=6).map(lambda groups: [w for g in groups for w in g])


@settings(max_examples=120, deadline=None)
@given(
    candidate=st.sampled_from(CANDIDATES), words=flags(), format_=st.sampled_from(["text", "json"])
)
def test_any_approximations_in_any_order(candidate, words, format_):
    check(*ended("derive", candidate, *words, "--format", format_))
