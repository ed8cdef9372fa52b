"""Every pass on small trees: what goes in, what comes out."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from blrgen.algebra.ranks import symmat, vec
from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes.nodes import Is, Ix, Let, Red, ref
from blrgen.program.axes.text import shown
from blrgen.program.cleared import cleared
from blrgen.program.cse import cse
from blrgen.program.dead import dead
from blrgen.program.expand import expanded
from blrgen.program.hoist import hoist
from blrgen.program.inspect import text
from blrgen.program.laws import Law, distribution
from blrgen.program.order import ordered
from blrgen.program.part import Part
from blrgen.program.program import Program, Variable
from blrgen.program.stable import stable, stable_form
from blrgen.program.strength import multiplied, strength
from blrgen.program.types import ENTRIES, SCALAR, symmetric, vector
from tests.program.small import of_symbols, of_trees

pytestmark = pytest.mark.core

a, b, t, x, y, z = (n.Ref(name) for name in ("a", "b", "t", "x", "y", "z"))
D = ENTRIES


def call(name: str, *args: n.Node) -> n.Call:
    return n.Call(name, args)


def part(*body: tuple[str, n.Node], domain: str = "") -> Part:
    """Scalars a, b, t; elementwise states x, y, input z."""
    variables = [Variable(v, "state", D) for v in "xy"] + [Variable("z", "input", D)]
    variables += [Variable(v, "hyper", SCALAR, domain=domain) for v in "ab"] + [
        Variable("t", "counter", SCALAR)
    ]
    writes = tuple((x, f"{x}_next") for x in "xy" if f"{x}_next" in dict(body))
    return of_trees(Program(tuple(variables)), body, writes)


def lines(p: Part) -> list[str]:
    return [f"{s.name} = {text(s.expr)}" for s in p.statements]


def test_hoist_leaves_arrays_and_scalars() -> None:
    correction = n.Sub(n.ONE, call("pow", b, t))
    e = n.Sub(x, n.div(n.mul(a, y), n.mul(correction, n.add(n.sqrt(z), a))))
    assert lines(hoist(part(("x_next", e)))) == [
        "b_correction = 1 - b**t",
        "a_over_b_correction = a / b_correction",
        "x_next = x - a_over_b_correction * y / (sqrt(z) + a)",
    ]


def test_hoist_keeps_a_division_by_a_scalar() -> None:
    assert lines(hoist(part(("x_next", n.Div(x, n.add(a, b)))))) == [
        "a_plus_b = a + b", "x_next = x / a_plus_b",
    ]  # fmt: skip


def test_hoist_leaves_a_root_alone_below() -> None:
    def kept(divisor: n.Node, domain: str = "(0, oo)") -> list[str]:
        return lines(hoist(part(("x_next", n.Div(y, divisor)), domain=domain)))

    divisor = n.mul(n.sqrt(a), n.sqrt(x))
    assert kept(divisor) == [
        "one_over_sqrt_a = 1 / sqrt(a)", "x_next = one_over_sqrt_a * y / sqrt(x)",
    ]  # fmt: skip
    assert kept(n.sqrt(x)) == ["x_next = y / sqrt(x)"]
    stays = ["sqrt_a = sqrt(a)", "x_next = y / (sqrt_a * sqrt(x))"]
    assert kept(divisor, "[0, oo)") == stays  # 1/0 would be an error before the loop
    assert kept(n.mul(n.Sub(a, b), n.sqrt(x)))[0] == "a_minus_b = a - b"


def test_hoist_computes_the_same_scalar_once() -> None:
    twice = n.Sub(n.ONE, a)
    p = hoist(part(("x_next", n.mul(twice, x)), ("y_next", n.mul(twice, y))))
    assert lines(p) == [
        "one_minus_a = 1 - a", "x_next = one_minus_a * x", "y_next = one_minus_a * y",
    ]  # fmt: skip


def test_cse_takes_the_largest_repeated_tree() -> None:
    tree = n.mul(n.add(x, z), n.add(x, z))
    p = cse(part(("x_next", tree), ("y_next", n.add(y, tree))))
    assert lines(p) == [
        "x_plus_z = x + z", "x_next = x_plus_z * x_plus_z", "y_next = y + x_next",
    ]  # fmt: skip


def test_strength() -> None:
    square = n.Pow(x, 2)
    assert text(multiplied(square)) == "x * x"
    assert text(multiplied(n.Pow(x, 5))) == "x * x * (x * x) * x"
    assert text(multiplied(n.Pow(x, 9))) == "x**9"
    assert lines(cse(strength(part(("x_next", n.Pow(n.add(x, z), 2)))))) == [
        "x_plus_z = x + z", "x_next = x_plus_z * x_plus_z",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (call("log", n.add(n.ONE, x)), "log1p(x)"),
        (call("log", n.Sub(n.ONE, x)), "log1p(-x)"),
        (call("log", n.add(n.ONE, call("exp", x))), "softplus(x)"),
        (call("log", n.add(call("exp", n.neg(x)), n.ONE)), "softplus(-x)"),
        (n.Sub(call("exp", x), n.ONE), "expm1(x)"),
        (n.Sub(n.ONE, call("exp", x)), "-expm1(x)"),
        (n.Div(n.ONE, n.add(n.ONE, call("exp", n.neg(x)))), "logistic(x)"),
        (n.Div(call("exp", x), n.add(n.ONE, call("exp", x))), "logistic(x)"),
        (call("log", n.mul(n.TWO, call("cosh", x))), "logcosh2(x)"),
        (call("log", n.add(call("exp", x), call("exp", n.neg(x)))), "logcosh2(x)"),
        (call("log", n.add(n.TWO, x)), "log(2 + x)"),
        (n.Sub(n.ONE, n.Pow(call("tanh", x), 2)), "4 * logistic(2 * x) * logistic(-(2 * x))"),
        (
            n.Div(
                n.mul(y, call("exp", n.neg(n.mul(n.TWO, x)))),
                n.Pow(n.add(n.ONE, call("exp", n.neg(x))), 3),
            ),
            "y * logistic(x) * logistic(-x)**2",
        ),
        (
            n.Div(call("exp", n.neg(x)), n.mul(a, n.Pow(n.add(n.ONE, call("exp", x)), 2))),
            "exp(-x) * logistic(-x)**2 / a",
        ),
        (n.Div(y, n.mul(a, n.Sub(n.ONE, n.Pow(call("tanh", x), 2)))), "y * cosh(x)**2 / a"),
        (n.Sub(n.ONE, n.Pow(x, 2)), "(1 - x) * (1 + x)"),
        (n.Sub(call("exp", x), n.TWO), "exp(x) - 2"),
    ],
)
def test_stable_forms(before: n.Node, after: str) -> None:
    assert text(stable_form(before)) == after


def test_a_named_tanh_is_seen() -> None:
    p = part(("k", call("tanh", y)), ("x_next", n.Div(x, n.Sub(n.ONE, n.Pow(n.Ref("k"), 2)))))
    assert lines(dead(stable(p))) == ["x_next = x * cosh(y)**2"]


_FLOAT = {"exp": math.exp, "log1p": math.log1p, "abs": abs, "max": max, "min": min}


def value(node: n.Node, at: float) -> float:
    """A tree of the expanded calls, by floats."""
    if isinstance(node, n.Const):
        return float(node.value)
    if isinstance(node, n.Ref):
        return at
    args = [value(c, at) for c in node.children]
    if isinstance(node, n.Call):
        return float(_FLOAT[node.name](*args))
    if isinstance(node, n.Neg):
        return -args[0]
    if isinstance(node, n.Div):
        return args[0] / args[1]
    return sum(args) if isinstance(node, n.Add) else math.prod(args)


@pytest.mark.parametrize("at", [-700.0, -40.0, -1.5, 0.0, 1e-9, 2.0, 40.0, 700.0])
def test_expansions_are_accurate_far_out(at: float) -> None:
    import mpmath

    with mpmath.workdps(400):
        u = mpmath.mpf(at)
        wanted = {
            "softplus": mpmath.log(1 + mpmath.exp(u)),
            "logistic": 1 / (1 + mpmath.exp(-u)),
            "logcosh2": mpmath.log(mpmath.exp(u) + mpmath.exp(-u)),
        }
        for name, exact in wanted.items():
            found = value(expanded(call(name, x)), at)
            assert abs(found / exact - 1) < 1e-15, name


def test_native_calls_are_kept() -> None:
    assert text(expanded(call("softplus", x), {"softplus"})) == "softplus(x)"


def test_a_named_tanh_is_seen_at_other_places() -> None:
    """Under a sum it is read at the sum's letter, and so is what it is of."""
    p = part(("k", call("tanh", y)), ("x_next", n.mul(n.Ref("whole"), n.Ref("k"))))
    whole = Red("sum", ("i",), n.Div(ref("x", "i"), n.Sub(n.ONE, n.Pow(ref("k", "i"), 2))))
    first, last = p.body
    p = replace(p, body=(first, Let("whole", (), whole), last))
    (total,) = (s for s in dead(stable(p)).body if isinstance(s.expr, Red))
    assert shown(total).endswith("sum(i, x[i] * cosh(y[i])**2)")


def test_dead() -> None:
    p = part(("k", n.add(x, z)), ("unused", n.add(x, y)), ("x_next", n.mul(n.Ref("k"), a)))
    assert [line.split(" ")[0] for line in lines(dead(p))] == ["k", "x_next"]


def test_what_is_only_looked_at_is_kept() -> None:
    """S⁺ must stay above I: nothing reads S⁺ − I and its factor, which is the look."""
    S, H = symmat("S"), symmat("H")
    gap = n.Sub(ref("S", "i", "j"), Is(Ix("i"), Ix("j")))
    variables = (
        Variable("S", "state", symmetric(), gap=gap), Variable("H", "input", symmetric())
    )  # fmt: skip
    p = dead(of_symbols(Program(variables), ("S_next", S + H), writes=(("S", "S_next"),)))
    assert [s.name for s in p.body] == ["S_next", "S_next_gap", "S_next_gap_factor"]


def test_order() -> None:
    p = part(("x_next", n.Ref("y_next")), ("y_next", n.add(y, z)))
    assert [line.split(" ")[0] for line in lines(ordered(p))] == ["y_next", "x_next"]
    with pytest.raises(InternalError, match="x_next needs y_next, computed nowhere before it"):
        ordered(part(("x_next", n.Ref("y_next")), ("y_next", n.Ref("x_next"))))
    with pytest.raises(InternalError, match="x_next is assigned twice"):
        ordered(part(("x_next", z), ("x_next", y)))
    never = replace(part(("x_next", z)), writes=(("y", "y_next"),))
    with pytest.raises(InternalError, match="y_next is written to a state but never computed"):
        ordered(never)


def full_part(*body: tuple[str, Any]) -> Part:
    variables = (
        Variable("m", "state", vector()), Variable("S", "state", symmetric(), domain="SPD"),
        Variable("g", "input", vector()), Variable("H", "input", symmetric()),
    )  # fmt: skip
    writes = tuple((s, f"{s}_next") for s in "mS" if f"{s}_next" in dict(body))
    return of_symbols(Program(variables), *body, writes=writes)


def test_factor_is_shared_and_checks_the_next_state() -> None:
    S, H, g, m, new, v = symmat("S"), symmat("H"), vec("g"), vec("m"), symmat("S_next"), vec("v")
    p = full_part(("S_next", S + H), ("v", new**-1 * g), ("m_next", m - new**-1 * v))
    assert list(map(shown, p.body)) == [
        "S_next[i,j]: spd = H[i,j] + S[i,j]",
        "S_next_factor[i,j]: lower = chol(S_next[i,j])",
        "v[i] = solve(S_next[i,j], g[i])",
        "m_next[i] = m[i] - solve(S_next[i,j], v[i])",
    ]
    old = full_part(("S_next", S + H), ("m_next", S**-1 * g))
    looks = "S_next_factor[i,j]: lower = chol(S_next[i,j])"
    assert looks in map(shown, old.body)  # checked although nothing solves by it
    indefinite = full_part(("m_next", H**-1 * g))
    assert list(map(shown, indefinite.body)) == ["m_next[i] = solve(H[i,j], g[i])"]


def test_of_an_inverse_what_it_is_the_inverse_of_is_factored() -> None:
    p = full_part(("S_next", (symmat("S") + symmat("H")) ** -1))
    assert list(map(shown, p.body)) == [
        "S_next_inverse[i,j]: spd = H[i,j] + S[i,j]",
        "S_next_inverse_factor[i,j]: lower = chol(S_next_inverse[i,j])",
        "identity[i,j]: sym = [i == j]",
        "part[i,j] = solve(S_next_inverse[i,k], identity[i,j])",
        "S_next[i,j]: sym = 1/2 * (part[i,j] + part[j,i])",
    ]


@pytest.mark.parametrize(
    ("words", "law"),
    [
        ("N(0, 1)", Law("normal")), ("N(0, I)", Law("normal")), ("N(1, 2)", None),
        ("Logistic(0, 1/2)", Law("logistic", Fraction(0), Fraction(1, 2))),
        ("U(-1, 1)", Law("uniform", Fraction(-1), Fraction(2))), ("Cauchy(0, 1)", None),
    ],
)  # fmt: skip
def test_distributions(words: str, law: Law | None) -> None:
    assert distribution(words) == law


def test_a_number_that_divides_inside_a_divisor_is_taken_out() -> None:
    divisor = n.add(n.Div(n.sqrt(x), b), a)
    p = cleared(part(("x_next", n.Div(n.mul(a, y), divisor))))
    assert lines(p) == ["x_next = b * a * y / (sqrt(x) + a * b)"]


@pytest.mark.parametrize(
    "kept",
    [
        n.Div(y, n.add(n.Div(n.sqrt(x), b), a)),  # no number above to take the other one along
        n.Div(n.mul(a, y), n.add(n.Div(n.sqrt(x), y), a)),  # divided by what has elements
        n.Div(n.mul(a, y), n.add(n.Div(x, b), y, a)),  # two terms with elements
        n.Div(a, n.add(n.Div(b, a), b)),  # a number: computed once a step as it is
    ],
)
def test_other_divisors_stay(kept: n.Node) -> None:
    p = part(("x_next", kept))
    assert cleared(p).body == p.body
