"""Text → expression: exact numbers, functions, ranks, errors that point."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from blrgen.algebra.ranks import T, logdet, mat, positive, scalar, symmat, trace, vec
from blrgen.errors import UserError
from blrgen.read.expression import parse, parse_ranked
from blrgen.read.functions import COMPONENT_FUNCTIONS, FUNCTIONS, MATRIX_FUNCTIONS
from tests.sweeps import examples

pytestmark = pytest.mark.core

THETA, X = scalar("theta"), positive("x")
NAMES = {"theta": THETA, "x": X}
MATRICES = {
    "theta": vec("theta"), "y": vec("y"), "X": mat("X"), "S": symmat("S"), "delta": scalar("delta"),
}  # fmt: skip


def matrix(text: str) -> sp.Expr:
    return parse(text, MATRICES, elementwise=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.1", sp.Rational(1, 10)),
        ("1e-8", sp.Rational(1, 10**8)),
        (".5", sp.Rational(1, 2)),
        ("2.", sp.Integer(2)),
        ("1E3", sp.Integer(1000)),
        ("0.30000000000000004", sp.Rational(30000000000000004, 10**17)),
        ("pi", sp.pi),
        ("-theta**2/2", -(THETA**2) / 2),
        ("2**-1", sp.Rational(1, 2)),
        ("2**3**2", sp.Integer(512)),
        ("-2**2", sp.Integer(-4)),
        ("theta - x - 1", THETA - X - 1),
        ("theta/x/2*3", 3 * THETA / X / 2),
        ("+theta", THETA),
        ("  theta\t+ x ", THETA + X),
        ("log1p(x)", sp.log(1 + X)),
        ("expm1(x)", sp.exp(X) - 1),
        ("abs(theta)", sp.Abs(THETA)),
        ("digamma(x)", sp.polygamma(0, X)),
        ("polygamma(2, x)", sp.polygamma(2, X)),
        ("beta(x, 2 + theta)", sp.beta(X, 2 + THETA)),
        ("besseli(0, x)", sp.besseli(0, X)),
        ("zeta(x)", sp.zeta(X)),
        ("zeta(x, theta)", sp.zeta(X, THETA)),
        ("binomial(x, theta)", sp.binomial(X, THETA)),
        ("exp(log(4) - 2*log(2))", sp.Integer(1)),
    ],
)
def test_meaning(text: str, expected: sp.Expr) -> None:
    assert parse(text, NAMES) == expected


SIZED = {"multigammaln", "multipolygamma"}  # of a size: tests/geometry/test_matrix_families


@pytest.mark.parametrize(
    "name", sorted(set(FUNCTIONS) - MATRIX_FUNCTIONS - COMPONENT_FUNCTIONS - SIZED)
)
def test_every_function_is_callable_and_numbers_agree(name: str) -> None:
    """Each function at a point, against mpmath."""
    import mpmath

    call = FUNCTIONS[name]
    point = ["7/5", "13/10"] if len(call.arguments) - call.optional == 2 else ["7/5"]
    if name == "polygamma":
        point[0] = "1"
    value = parse(f"{name}({', '.join(point)})", {})
    plain = {"abs": "fabs", "digamma": "digamma"}.get(name, name)
    called = {"max": max, "min": min}.get(name) or getattr(mpmath, plain)
    expected = called(*(mpmath.mpf(sp.Rational(p).p) / sp.Rational(p).q for p in point))
    assert abs(sp.N(value, 15) - sp.Float(str(expected), 15)) < 1e-12


def test_names_shadow_functions_unless_called() -> None:
    gamma = positive("gamma")
    assert parse("gamma*gamma(x)", {"gamma": gamma, "x": X}) == gamma * sp.gamma(X)


@pytest.mark.parametrize(
    ("text", "expected", "rank"),
    [
        ("dot(y, theta)", trace(T(vec("y")) * vec("theta")), "scalar"),
        ("outer(theta, y)", vec("theta") * T(vec("y")), "matrix"),
        ("transpose(theta)*S*theta", trace(T(vec("theta")) * symmat("S") * vec("theta")), "scalar"),
        ("transpose(theta)", T(vec("theta")), "row"),
        ("inv(S)*y", symmat("S") ** -1 * vec("y"), "vector"),
        ("S**-1*y", symmat("S") ** -1 * vec("y"), "vector"),
        ("logdet(S)", logdet(symmat("S")), "scalar"),
        ("trace(X*S)", trace(mat("X") * symmat("S")), "scalar"),
        ("S + delta", symmat("S") + scalar("delta"), "matrix"),
        ("delta*y/2 - X*theta", scalar("delta") * vec("y") / 2 - mat("X") * vec("theta"), "vector"),
        ("exp(dot(y, y))", sp.exp(trace(T(vec("y")) * vec("y"))), "scalar"),
        ("trace(transpose(y)*theta)", trace(T(vec("y")) * vec("theta")), "scalar"),
    ],
)
def test_vectors_and_matrices(text: str, expected: sp.Expr, rank: str) -> None:
    value = parse_ranked(text, MATRICES, elementwise=False)
    assert value.expr == expected
    assert value.rank == rank


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("theta + S", ("vector", "matrix")),
        ("theta + delta", ("vector", "scalar")),
        ("transpose(y) + y", ("row", "vector")),
        ("theta*y", ("vector", "vector")),
        ("theta*S", ("vector", "matrix")),
        ("S*transpose(y)", ("matrix", "row")),
        ("exp(S)", ("scalar", "matrix")),
        ("exp(theta)", ("scalar", "vector")),
        ("dot(delta, y)", ("vector", "scalar")),
        ("dot(S, y)", ("vector", "matrix")),
        ("outer(S, y)", ("vector", "matrix")),
        ("trace(delta)", ("matrix", "scalar")),
        ("inv(y)", ("matrix", "vector")),
        ("logdet(delta)", ("matrix", "scalar")),
        ("transpose(delta)", ("vector", "scalar")),
        ("theta**2", ("vector", "scalar")),
        ("2**theta", ("scalar", "vector")),
        ("delta/S", ("matrix", "S is a matrix")),
        ("y/theta", ("vector", "theta is a vector")),
        ("S**0.5", ("matrix", "whole powers")),
    ],
)
def test_ranks_that_do_not_fit_are_named(text: str, ranks: tuple[str, str]) -> None:
    with pytest.raises(UserError) as caught:
        matrix(text)
    assert all(rank in str(caught.value) for rank in ranks)


@pytest.mark.parametrize("name", sorted(MATRIX_FUNCTIONS))
def test_matrix_functions_are_refused_elementwise(name: str) -> None:
    with pytest.raises(UserError, match="elementwise"):
        parse(f"{name}(theta, theta)", NAMES)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_argument_counts(name: str) -> None:
    call = FUNCTIONS[name]
    for count in (0, len(call.arguments) + 1):
        with pytest.raises(UserError, match=r"argument|cannot be read"):
            parse(f"{name}({', '.join(['x'] * count)})", NAMES, elementwise=False)


@pytest.mark.parametrize(
    ("text", "column", "word"),
    [
        ("0.5*foo(theta)", 5, "unknown function 'foo'"),
        ("1 + thet", 5, "did you mean 'theta'"),
        ("  x + thet", 7, "did you mean 'theta'"),
        ("lgamma(x)", 1, "gamma"),
        ("x + 1/(theta - theta)", 8, "division by zero"),
        ("theta $ x", 7, "'$'"),
        ("theta.real", 6, "attributes"),
        ("(x + 1", 1, "never closed"),
        ("x + 1)", 6, "never opened"),
        ("2x", 2, "write 2*x"),
        ("x^2", 2, "write **"),
        ("θ + 1", 1, "write theta"),
        ("exp + 1", 1, "function"),
        ("theta(x)", 1, "not a function"),
        ("1 + oo", 5, "infinity"),
        ("x + 007", 5, "leading zeros"),
    ],
)
def test_errors_point_at_the_column(text: str, column: int, word: str) -> None:
    with pytest.raises(UserError) as caught:
        parse(text, NAMES, where="--loss")
    message = str(caught.value)
    assert word in message
    assert f"--loss, column {column}" in message
    lines = message.splitlines()
    caret = next(i for i, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret].index("^") - 4 == column - 1
    assert lines[caret - 1] == "    " + text


@pytest.mark.parametrize(("under", "hint"), [("S", "multiply by inv(…)"), ("y", "")])
def test_division_by_what_is_no_number(under: str, hint: str) -> None:
    """Of a matrix there is an inverse to multiply by, which reads; of a vector there is none."""
    with pytest.raises(UserError, match="division by a") as caught:
        parse(f"delta/{under}", MATRICES, elementwise=False)
    assert caught.value.how == hint
    if hint:
        parse(f"delta*{hint.removeprefix('multiply by ').replace('…', under)}", MATRICES,
              elementwise=False)  # fmt: skip


def test_long_texts_are_shown_around_the_mistake() -> None:
    text = "x + " * 200 + "thet" + " + x" * 200
    with pytest.raises(UserError) as caught:
        parse(text, NAMES)
    lines = str(caught.value).splitlines()
    caret = next(i for i, line in enumerate(lines) if line.strip() == "^")
    assert lines[caret - 1][lines[caret].index("^") :].startswith("thet ")
    assert all(len(line) < 90 for line in lines[: caret + 1])


def test_long_sums_and_products_are_fine() -> None:
    assert parse("+".join(["x"] * 1500), NAMES) == 1500 * X
    assert parse("*".join(["x"] * 30), NAMES) == X**30


def test_errors_are_the_same_whatever_the_order_of_names() -> None:
    def message(names: dict[str, sp.Expr]) -> str:
        with pytest.raises(UserError) as caught:
            parse("zzz", names)
        return str(caught.value)

    assert message(NAMES) == message(dict(reversed(NAMES.items())))


# -- properties ---------------------------------------------------------------

LEAVES = st.sampled_from(["theta", "x", "1", "2", "0.5", "3/7", "pi", "1e-3"])


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    functions = sorted({"exp", "log", "sqrt", "tanh", "loggamma", "erf", "abs", "sin", "cosh"})
    return st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]}){t[1]}({t[2]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "0.5"])).map(
            lambda t: f"({t[0]})**({t[1]})"
        ),
        st.tuples(st.sampled_from(functions), inner).map(lambda t: f"{t[0]}({t[1]})"),
        inner.map(lambda t: f"-({t})"),
    )


FORMULAS = st.recursive(LEAVES, _grow, max_leaves=8)


def _value(expr: sp.Expr) -> complex:
    return complex(sp.N(expr.xreplace({THETA: sp.Rational(7, 5), X: sp.Rational(2, 3)}), 20))


@examples(150)
@given(FORMULAS)
def test_what_is_printed_reads_back(text: str) -> None:
    """Reading the printed form gives the same value: SymPy only distributes numbers over sums."""
    try:
        expr = parse(text, NAMES)
    except UserError:
        return
    printed = str(expr)
    if "E" in {str(a) for a in expr.atoms(sp.NumberSymbol)} - {"pi"}:
        return
    again = parse(printed, NAMES)
    if again != expr:
        a, b = _value(expr), _value(again)
        assert abs(a - b) <= 1e-12 * max(1.0, abs(a))


PYTHON = {
    "exp": "cmath.exp", "log": "cmath.log", "sqrt": "cmath.sqrt", "tanh": "cmath.tanh",
}  # fmt: skip
ARITHMETIC = st.recursive(
    st.sampled_from(["theta", "x", "1", "2", "0.5", "7"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", " - ", "**2*", "**-1+"]), inner).map(
            "".join
        ),
        inner.map("({})".format),
        inner.map("-{}".format),
        st.tuples(st.sampled_from(sorted(PYTHON)), inner).map(lambda t: f"{t[0]}({t[1]})"),
    ),
    max_leaves=8,
)


@examples(150)
@given(ARITHMETIC)
def test_arithmetic_means_what_it_means_in_python(text: str) -> None:
    """Precedence and associativity, against Python's own evaluation of our own text."""
    import cmath

    scope = {name: getattr(cmath, name) for name in PYTHON}
    try:
        expr = parse(text, NAMES)
        expected = eval(text, {"__builtins__": {}}, scope | {"theta": 1.4, "x": 2 / 3})
    except (UserError, ArithmeticError, ValueError):
        return
    value = _value(expr)
    if cmath.isfinite(expected) and abs(expected) < 1e100:
        assert abs(value - expected) <= 1e-8 * max(1.0, abs(expected))
