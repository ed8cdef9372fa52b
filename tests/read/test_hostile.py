"""Hostile and unlucky text: a clean `UserError`, with little work, and nothing is executed."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blrgen.algebra.ranks import mat, positive, scalar, symmat, vec
from blrgen.errors import UserError
from blrgen.read.domain import read_domain, read_support
from blrgen.read.expression import parse
from blrgen.read.family import read_family
from blrgen.read.functions import FUNCTIONS, MATRIX_FUNCTIONS
from blrgen.read.loss import read_loss
from tests.effort import calls_at_most
from tests.sweeps import examples

pytestmark = pytest.mark.core

NAMES = {"theta": scalar("theta"), "x": positive("x"), "y": scalar("y")}
MATRICES = {"theta": vec("theta"), "X": mat("X"), "y": vec("y"), "S": symmat("S"), "a": scalar("a")}
CALLS = 1_000_000  # a fraction of a second; refusing takes up to 130 000

HOSTILE = [
    "__import__('os').system('x')",
    "().__class__.__bases__",
    "theta.__class__",
    "theta.free_symbols",
    "lambda: theta",
    "[theta for theta in x]",
    "{theta}",
    "theta[0]",
    "'theta'",
    '"theta"',
    "f'{theta}'",
    "b'x'",
    "(y := theta)",
    "theta == x",
    "theta < x",
    "theta if x else y",
    "theta and x",
    "not theta",
    "theta, x",
    "()",
    "exp(x=1)",
    "exp(*x)",
    "exp(**x)",
    "exp(x)(x)",
    "exp()",
    "await x",
    "yield x",
    "...",
    "None",
    "True",
    "theta; x",
    "theta # x",
    "theta\\\nx",
    "theta\nimport os",
    "theta\x00x",
    "theta\u2028x",
    "theta\u202ex",
    "eval(theta)",
    "exec(theta)",
    "open(theta)",
    "theta % x",
    "theta // x",
    "theta @ x",
    "theta & x",
    "~theta",
    "1j",
    "0x10",
    "1_000",
    "ехp(x)",  # Cyrillic е and х
    "thеta",
    "ｘ",
    "x²",
    "__x__",
    "_x",
    "x__y",
    "a" * 100,
    "9**9**9",
    "2**10**9",
    "10**-10**9",
    "theta**100000",
    "theta**-100000",
    "((theta**30)**30)**30",
    "(theta + x + y + 1)**30",
    "*".join(["(theta + x)"] * 60),
    "1e400",
    "1e-400",
    "1e999999999999",
    "9" * 1000,
    "1/3**7000",
    "exp(10**9*log(9))",
    "exp(100000*log(theta))",
    "2**(10**9 + theta)",
    "exp(exp(exp(exp(10)))) - 1",
    "abs(exp(exp(exp(exp(10)))) - 1)",
    "12**(99999999/100000007)",
    "(10**300 - 200)**(1/199)",
    "factorial(10**9)",
    "factorial(factorial(20))",
    "binomial(10**9, 5*10**8)",
    "digamma(10**7)",
    "polygamma(10**6, 3)",
    "polygamma(0.5, pi)",
    "zeta(-1.5, 1/3)",
    "zeta(-200, x)**(99*theta)",
    "zeta(200, 200)",
    "binomial(digamma(7.25), 99)",
    "(1e300 - 200)**(-1/200)",
    "besseli(1/7, -99)",
    "gamma(10**6)",
    "sinh(cosh((3/((pi + theta)*digamma(y)))**32))",
    "1/0",
    "0**-1",
    "1/(x - x)",
    "log(0)",
    "gamma(0)",
    "zeta(1)",
    "log(-1)",
    "sqrt(-2)*theta",
    "(-8)**(1/3)",
    "oo",
    "oo - oo",
    "theta + oo",
    "(" * 100_000 + "x" + ")" * 100_000,
    "(" * 1_900 + "x" + ")" * 1_900,
    "exp(" * 700 + "x" + ")" * 700,
    "-" * 3_900 + "x",
    "- " * 1_900 + "x",
    "x**" * 1_000 + "x",
    "x**-" * 900 + "x",
    "x+" * 10_000 + "x",
    "",
    "   ",
    "+",
    "x +",
    "x x",
    "x,",
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: repr(t[:24]))
@pytest.mark.parametrize("elementwise", [True, False])
def test_refused_cleanly_and_quickly(text: str, elementwise: bool) -> None:
    with calls_at_most(CALLS), pytest.raises(UserError) as caught:
        parse(text, NAMES, where="--loss", elementwise=elementwise)
    message = str(caught.value)
    assert len(message) < 2_000
    assert all(c.isprintable() or c == "\n" for c in message)


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("(" * 40 + "x" + ")" * 40, "(" * 41 + "x" + ")" * 41),
        ("1" * 60, "1" * 61),
        ("1e300", "1e309"),
        ("exp(600)", "exp(800)"),
        ("exp(-600)", "exp(-800)"),
        ("zeta(50, x)", "zeta(51, x)"),
        ("factorial(200)", "factorial(201)"),
        ("theta**32", "theta**33"),
        ("digamma(x)**8", "digamma(x)**9"),
        ("x" * 40, "x" * 41),
        ("x_y", "x__y"),
        ("--------x", "---------x"),
        ("x" + " " * 19_999, "x" + " " * 20_000),
    ],
)
def test_where_the_limits_are(inside: str, outside: str) -> None:
    names = NAMES | {name: positive("x") for name in ("x" * 40, "x" * 41, "x_y", "x__y")}
    parse(inside, names)
    with pytest.raises(UserError):
        parse(outside, names)


@pytest.mark.parametrize("given_value", [None, 3, ["theta"], b"theta"])
def test_what_is_not_text(given_value: object) -> None:
    for read in (lambda v: parse(v, NAMES), lambda v: read_domain(v, {}), read_support):
        with pytest.raises(UserError):
            read(given_value)


def test_nothing_is_looked_up_outside_the_names() -> None:
    for name in (
        "sympy",
        "Symbol",
        "print",
        "S",
        "I",
        "E",
        "E1",
        "zoo",
        "nan",
        "Integer",
        "factorint",
    ):
        with pytest.raises(UserError, match="unknown name"):
            parse(name, NAMES)


def test_hostile_losses_are_refused() -> None:
    family = read_family("gaussian-diag")
    for text in HOSTILE:
        if text.strip():
            with pytest.raises(UserError):
                read_loss(text, family)


TEXTS = st.one_of(
    st.text(max_size=60),
    st.text(alphabet=string.printable, max_size=80),
    st.text(alphabet="thetax0123456789+-*/()., e", max_size=60),
    st.lists(
        st.sampled_from(
            [*"xy()+-*/,12", *("theta", "**", "10", "1e9", "0.5", "oo"), *sorted(FUNCTIONS)]
        ),
        max_size=25,
    ).map(" ".join),
)  # fmt: skip


@examples(400)
@given(TEXTS, st.booleans())
def test_any_text_is_an_expression_or_a_user_error(text: str, elementwise: bool) -> None:
    try:
        with calls_at_most(CALLS):
            expr = parse(text, NAMES if elementwise else MATRICES, elementwise=elementwise)
    except UserError as error:
        assert str(error)
    else:
        allowed = set(NAMES.values()) | set(MATRICES.values())
        assert {s for s in expr.free_symbols if str(s) != "d"} <= allowed


LEAVES = st.sampled_from(
    [
        "theta",
        "x",
        "y",
        "0",
        "1",
        "2",
        "0.5",
        "1/3",
        "-1",
        "100",
        "-200",
        "pi",
        "10**9",
        "9**9",
        "1e-8",
    ],
)
SCALAR_CALLS = sorted(set(FUNCTIONS) - MATRIX_FUNCTIONS)


def _call(parts: tuple[str, list[str]]) -> str:
    name, args = parts
    return f"{name}({', '.join(args[: len(FUNCTIONS[name].arguments)])})"


SHAPED = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**"]), inner).map(
            lambda t: f"({t[0]}){t[1]}({t[2]})"
        ),
        st.tuples(st.sampled_from(SCALAR_CALLS), st.lists(inner, min_size=2, max_size=2)).map(
            _call
        ),
    ),
    max_leaves=10,
)


@examples(250)
@given(SHAPED)
def test_well_formed_formulas_end_after_bounded_work(text: str) -> None:
    try:
        with calls_at_most(CALLS):
            parse(text, NAMES)
    except UserError as error:
        assert str(error)


@examples(200)
@given(st.one_of(TEXTS, st.text(alphabet="()[]{}^,Rdnp-SPDo 0123456789integrs>=", max_size=30)))
def test_any_text_is_a_domain_or_a_user_error(text: str) -> None:
    for read in (read_domain, read_support):
        try:
            with calls_at_most(CALLS):
                read(text, NAMES)
        except UserError as error:
            assert str(error)
