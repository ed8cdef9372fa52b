"""Losses: names that are data, their ranks, and what is refused."""

from __future__ import annotations

import pytest

from blrgen.algebra.ranks import Mat, T, Vec, mat, scalar, trace, vec
from blrgen.core import Loss
from blrgen.errors import UserError
from blrgen.read.family import read_family
from blrgen.read.loss import read_loss

pytestmark = pytest.mark.core

DIAG, FULL = read_family("gaussian-diag"), read_family("gaussian-full")
RANKS = {Vec: "vector", Mat: "matrix"}


def test_no_text_is_an_abstract_loss() -> None:
    assert read_loss("", DIAG) == read_loss("  ", FULL) == Loss()


def test_elementwise_data_are_numbers() -> None:
    loss = read_loss(" log(1 + exp(-y*theta*x)) ", DIAG)
    assert loss.text == "log(1 + exp(-y*theta*x))"
    assert loss.data == (scalar("x"), scalar("y"))
    assert DIAG.variable in loss.expr.free_symbols


def test_ridge() -> None:
    loss = read_loss("0.5*dot(y - X*theta, y - X*theta) + 0.5*delta*dot(theta, theta)", FULL)
    y, x, theta, delta = vec("y"), mat("X"), vec("theta"), scalar("delta")
    r = y - x * theta
    assert loss.data == (x, delta, y)
    assert (loss.expr - trace(T(r) * r) / 2 - delta * trace(T(theta) * theta) / 2).expand() == 0


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("log(1 + exp(-y*dot(x, theta)))", {"x": "vector", "y": "scalar"}),
        ("transpose(y)*theta", {"y": "vector"}),
        ("transpose(theta - p)*A*(theta - p)", {"A": "matrix", "p": "vector"}),
        ("dot(X*b, theta)", {"X": "matrix", "b": "vector"}),
        ("dot(a*X*b, theta)", {"X": "matrix", "a": "scalar", "b": "vector"}),
        ("dot(2*y/k, theta)", {"k": "scalar", "y": "vector"}),
        ("dot(y - z, y - z) + dot(theta - y, theta)", {"y": "vector", "z": "vector"}),
        ("dot(w, y)*dot(theta, theta)", {"w": "vector", "y": "vector"}),
        ("trace(A*outer(theta, theta))/k", {"A": "matrix", "k": "scalar"}),
        ("dot(a*y, theta) + dot(y, theta)", {"a": "scalar", "y": "vector"}),
        ("dot(-(y + z), theta)", {"y": "vector", "z": "vector"}),
        ("logdet(A + outer(theta, theta)) + k", {"A": "matrix", "k": "scalar"}),
        ("(transpose(y)*theta)**2*q", {"q": "scalar", "y": "vector"}),
    ],
)
def test_ranks_of_data_follow_from_their_use(text: str, ranks: dict[str, str]) -> None:
    loss = read_loss(text, FULL)
    assert {str(s): RANKS.get(type(s), "scalar") for s in loss.data} == ranks
    assert list(map(str, loss.data)) == sorted(ranks)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("theta", "theta is a vector"),
        ("X*theta + y", "a vector"),
        ("outer(theta, theta)", "a matrix"),
        ("dot(a*y, theta)", "not clear which"),
        ("dot(y - 1, theta)", "a vector and a scalar"),
        ("dot(exp(y), theta)", "scalar"),
        ("theta**2", "cannot be raised"),
        ("exp(theta)", "a vector"),
        ("dot(y, y)", "does not depend on theta"),
    ],
)
def test_vector_losses_refused(text: str, word: str) -> None:
    with pytest.raises(UserError) as caught:
        read_loss(text, FULL)
    assert word in str(caught.value)


WORDS = [
    "m",
    "s",
    "S",
    "u",
    "g",
    "h",
    "H",
    "eps",
    "t",
    "rho",
    "lam",
    "lam1",
    "alpha",
    "beta1",
    "beta2",
    "N",
    "tau",
    "c",
    "np",
    "y_next",
    "h_hat",
]


@pytest.mark.parametrize("name", WORDS)
def test_words_of_rules_are_not_data(name: str) -> None:
    with pytest.raises(UserError, match="cannot be called") as caught:
        read_loss(f"theta*{name}", DIAG)
    assert name in str(caught.value) and "rename it" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("y", "does not depend on theta"),
        ("theta - theta", "does not depend on theta"),
        ("dot(theta, theta)", "elementwise"),
        ("foo(theta)", "unknown function 'foo'"),
        ("theta\nimport os", "control character"),
        ("theta*'x'", "strings"),
        ("theta*oo", "infinity"),
        ("theta*exp", "function"),
    ],
)
def test_losses_refused(text: str, word: str) -> None:
    with pytest.raises(UserError) as caught:
        read_loss(text, DIAG)
    assert word in str(caught.value)


def test_theta_stands_for_the_variable_of_any_family(tmp_path) -> None:
    file = tmp_path / "f.toml"
    file.write_text(
        'name = "f"\nvariable = "x"\nsupport = "(0, oo)"\nstatistics = ["x"]\n'
        '[natural]\neta = "(-oo, 0)"\n'
    )
    family = read_family(file)
    assert (
        read_loss("theta**2", family).expr == read_loss("x**2", family).expr == family.variable**2
    )
