"""Whatever is written on a command line, it ends in a result or in a short message."""

from __future__ import annotations

import io
import tracemalloc
from contextlib import redirect_stderr, redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blrgen.approximate import registry
from blrgen.cli import main
from tests.effort import calls_at_most
from tests.sweeps import examples

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


@examples(60)
@given(loss=st.text(max_size=60))
def test_any_text_as_a_loss(loss):
    check(*ended("derive", "gaussian-fixed", "--delta", f"--loss={loss}"))


@examples(60)
@given(
    loss=st.text(alphabet="theta xy0123456789.+-*/()**,eE", max_size=40),
    candidate=st.sampled_from(CANDIDATES),
)
def test_almost_formulas_as_a_loss(candidate, loss):
    check(*ended("derive", candidate, f"--loss={loss}"))


@examples(80)
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


@examples(120)
@given(
    candidate=st.sampled_from(CANDIDATES), words=flags(), format_=st.sampled_from(["text", "json"])
)
def test_any_approximations_in_any_order(candidate, words, format_):
    check(*ended("derive", candidate, *words, "--format", format_))


HEAD = 'name = "h"\nvariable = "x"\n'
FAMILIES = {
    "a support of a billion numbers": ("R^(10**9)", "x", "R^(10**9)", "1"),
    "a size that is a number": ("R^1000000000", "x", "R^1000000000", "1"),
    "a product of sines": ("simplex", "prod(x/sin(1e10))", "(-oo, 0)", "1"),
    "digamma of a head": ("simplex", "digamma(head(x))", "R^(K-1)", "1"),
    "no numbers": ("(0, 0)", "x", "(-oo, 0)", "1"),
    "an end before the start": ("(1, 0)", "x", "(-oo, 0)", "1"),
    "one point": ("{1}", "x", "(-oo, 0)", "1"),
    "no points": ("{}", "x", "(-oo, 0)", "1"),
    "no mass": ("(0, oo)", "x", "(-oo, 0)", "0"),
    "negative mass": ("(0, oo)", "x", "(-oo, 0)", "-1"),
    "mass of both signs": ("(0, oo)", "x", "(-oo, 0)", "sin(x)"),
    "mass without end": ("(-oo, oo)", "x", "(-oo, 0)", "1"),
    "the wrong domain": ("(0, oo)", "x", "(0, oo)", "1"),
    "an operator that is none": ("(0, oo)", "//", "(-oo, 0)", "1"),
    "half an operator": ("(0, oo)", "x//2", "(-oo, 0)", "1"),
    "factorials of factorials": ("integers >= 0", "factorial(factorial(x))", "(-oo, 0)", "1"),
    "exponentials of exponentials": ("(0, oo)", "exp(exp(exp(x)))", "(-oo, 0)", "1"),
}


@pytest.mark.parametrize("command", ["derive", "generate", "show"])
@pytest.mark.parametrize("name", FAMILIES)
def test_families_that_are_none(name, command, tmp_path):
    support, statistic, domain, base = FAMILIES[name]
    path = tmp_path / "h.toml"
    path.write_text(
        f'{HEAD}support = "{support}"\nstatistics = ["{statistic}"]\nbase_measure = "{base}"\n'
        f'[natural]\na = "{domain}"\n'
    )
    with calls_at_most(5_000_000):
        code, out, err = ended(command, str(path))
    check(code, out, err)
    assert code == 2


def test_powers_of_powers_end(tmp_path):
    """x^(x^x) is a statistic like any other, and no number on the way takes all memory."""
    path = tmp_path / "h.toml"
    path.write_text(
        f'{HEAD}support = "(0, oo)"\nstatistics = ["x**x**x"]\n[natural]\na = "(-oo, 0)"\n'
    )
    with calls_at_most(20_000_000):
        check(*ended("derive", str(path)))


FILES = {
    "empty": b"",
    "bytes that are no text": b"\xff\xfe\x00bad",
    "a NUL": b"name = '\0'\ndef step(m):\n    return m\0\n",
    "ten megabytes on a line": b"a" * 10_000_000,
    "brackets": b"x = " + b"[" * 100_000,
    "only a name": b"name",
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "words", [("derive",), ("show",), ("check",), ("generate",), ("verify", "--against", "adam")]
)
def test_files_that_are_none(words, name, tmp_path):
    path = tmp_path / ("given.py" if words[0] == "verify" else "given.toml")
    path.write_bytes(FILES[name])
    code, _, err = ended(words[0], str(path), *words[1:])
    assert code in (2, 3), err
    assert "Traceback" not in err
    assert len(err) < 6_000


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "/", "/nonexistent/x.toml"])
@pytest.mark.parametrize(
    "words", [("derive",), ("show",), ("check",), ("generate",), ("verify", "--against", "adam")]
)
def test_places_that_are_no_files(words, place):
    tracemalloc.start()
    code, out, err = ended(words[0], place, *words[1:])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert code == 2, err
    assert not out
    assert err.startswith("error: ")
    assert peak < 2**28


LARGE = {
    "nested logarithms": "log(1+" * 15 + "theta**2" + ")" * 15,
    "nested exponentials": "exp(" * 30 + "theta" + ")" * 30,
    "many sines": "+".join(f"sin({k}*theta)" for k in range(1, 150)),
    "many factors": "*".join(f"(1+exp({k}*theta))" for k in range(30)),
    "a long power": "(theta+y)**32",
    "a power of a wave": "cos(theta)**32",
    "a quotient of sums": "1/(1+exp(theta)+exp(2*theta))**30",
    "a power of powers": "theta**10**9",
    "a huge number": "2**10**9*theta",
}


@pytest.mark.sweep(12)
@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("candidate", ["gaussian-diag", "gaussian-full"])
def test_formulas_that_would_not_end(candidate, name):
    loss = LARGE[name]
    if candidate == "gaussian-full":
        loss = loss.replace("theta", "dot(x,theta)").replace(
            "(1+dot(x,theta)**2", "(1+dot(x,theta)"
        )
    with calls_at_most(60_000_000):
        check(*ended("derive", candidate, "--loss", loss))


@pytest.mark.parametrize(
    "words",
    [("derive", "adam"), ("generate", "adam"), ("show", "gamma"), ("list", "families"),
     ("derive", "adam", "--format", "json"), ("derive", "--help"), ("--help",)],
)  # fmt: skip
def test_a_closed_standard_output_is_a_mistake(words, monkeypatch):
    import sys

    err = io.StringIO()
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", err)
    code = main(list(words))
    monkeypatch.undo()
    assert code == 2, err.getvalue()
    assert "standard output is closed" in err.getvalue()
