"""`equal`: every level, nothing wrong ever proved, little time."""

from __future__ import annotations

import itertools
import time
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st
from prove_rules import ADAM, T

from blrgen.algebra.ranks import DIM, logdet, mat, symmat, trace, vec
from blrgen.algebra.ranks import T as transpose
from blrgen.decide import modular
from blrgen.decide.budget import UNITS
from blrgen.decide.equal import differs, equal, short
from blrgen.decide.functions import Larger, Smaller, outward
from blrgen.decide.proof import Proof, Verdict
from blrgen.decide.rational import identical
from blrgen.validate import reference
from tests.sweeps import examples

pytestmark = pytest.mark.core

x, y, z = sp.symbols("x y z", real=True)
p, q, k = sp.symbols("p q k", positive=True)
b, c = sp.symbols("beta1 beta2", positive=True)
DOMAINS: dict[Any, str] = {b: "(0, 1)", c: "(0, 1)", p: "(0, oo)", q: "(0, oo)", k: "(0, oo)"}


IDENTITIES = [
    (sp.sqrt(p / q), sp.sqrt(p) / sp.sqrt(q)),
    (sp.sqrt(p / (1 - c**T)), sp.sqrt(p) / sp.sqrt(1 - c**T)),
    (c ** (T + 1), c * c**T),
    (c ** (T - 1) * c, c**T),
    ((b * c) ** T, b**T * c**T),
    (sp.sqrt(x**2), sp.Abs(x)),
    (sp.Abs(x * k), k * sp.Abs(x)),
    (sp.sign(x) * sp.Abs(x), x),
    (sp.Min(sp.Max(x, -k), k), sp.Max(sp.Min(x, k), -k)),
    (sp.Max(2 * x, 2 * y), 2 * sp.Max(x, y)),
    (sp.Piecewise((x, x > 0), (-x, True)), sp.Abs(x)),
    (sp.tanh(x), (sp.exp(2 * x) - 1) / (sp.exp(2 * x) + 1)),
    (sp.cosh(x) ** 2 - sp.sinh(x) ** 2, sp.S.One),
    (1 - sp.tanh(x) ** 2, 1 / sp.cosh(x) ** 2),
    (sp.log(1 + sp.exp(x)), x + sp.log(1 + sp.exp(-x))),
    (sp.tanh(sp.log(b / (1 - b)) / 2), 2 * b - 1),
    (sp.exp(sp.log(p) / 2), sp.sqrt(p)),
    (sp.log(p * q**2), sp.log(p) + 2 * sp.log(q)),
    (sp.sqrt(8) * sp.sqrt(p), 2 * sp.sqrt(2 * p)),
    (1 / (sp.sqrt(p) + sp.sqrt(q)), (sp.sqrt(p) - sp.sqrt(q)) / (p - q)),
    (sp.sqrt((1 - b) ** 2), 1 - b),
    (sp.sqrt(c * p + (1 - c) * x**2) ** 2, c * p + (1 - c) * x**2),
    (sp.erf(x + x * y), sp.erf(x * (1 + y))),
]  # fmt: skip
REFUTED = [
    (sp.sqrt(x**2), x),
    (sp.sqrt(x**2 + 2 * x + 1), x + 1),
    (sp.Abs(x), x),
    (sp.sqrt(p + q), sp.sqrt(p) + sp.sqrt(q)),
    (sp.Max(x, y), sp.Min(x, y)),
    (sp.Min(sp.Max(x, -k), k), x),
    (c ** (T + 1), c**T),
    (x + sp.Rational(1, 10**20) * y, x),
    (sp.tanh(x), x),
    (sp.sqrt(p) / (1 - c**T), sp.sqrt(p / (1 - c**T))),
    (sp.log(x**2), 2 * sp.log(x)),
]
REFUTED_WHERE_REAL = tuple(REFUTED)
REFUTED += [  # equal wherever all roots are real
    (sp.sqrt(x * y), sp.sqrt(x) * sp.sqrt(y)),
    ((x * y) ** sp.Rational(1, 3), x ** sp.Rational(1, 3) * y ** sp.Rational(1, 3)),
]


@pytest.mark.parametrize(("left", "right"), IDENTITIES, ids=lambda e: str(e)[:40])
def test_identities(left: Any, right: Any) -> None:
    assert equal(left, right, DOMAINS).level == "identity"


C0 = sp.Symbol("c0", real=True)
JUMPS = [  # equal but at single points, which no random point meets
    (sp.sign(x), sp.Piecewise((1, x >= 0), (-1, True)), {}),
    (sp.Piecewise((1, x > 0), (-1, True)), sp.Piecewise((1, x >= 0), (-1, True)), {}),
    (sp.Piecewise((p, sp.Eq(x, y)), (q, True)), q, {}),
    (sp.Piecewise((p, sp.Eq(T, 70)), (q, True)), q, {}),
    (sp.Piecewise((p, T > 1), (q, True)), p, {}),
    (sp.Piecewise((p, C0 > 0), (q, True)), p, {C0: "[0, oo)"}),
    (sp.Piecewise((p, C0 < 1), (q, True)), p, {C0: "[0, 1]"}),
    (sp.sign(C0), sp.S.One, {C0: "[0, 1)"}),
]


@pytest.mark.parametrize(("left", "right", "more"), JUMPS, ids=lambda e: str(e)[:40])
def test_what_differs_at_single_points_is_not_proved(left: Any, right: Any, more: Any) -> None:
    assert not equal(left, right, {**DOMAINS, **more}).proved


def test_closed_ends_keep_what_is_continuous() -> None:
    domains = {**DOMAINS, C0: "[0, oo)"}
    assert equal(sp.Abs(C0), C0, domains).level == "identity"
    assert equal(sp.sqrt(C0 * p), sp.sqrt(C0) * sp.sqrt(p), domains).level == "identity"
    assert equal(sp.Piecewise((p, C0 >= 0), (q, True)), p, domains).level == "identity"
    assert equal(sp.Piecewise((p, T >= 1), (q, True)), p, domains).level == "identity"


def test_a_verdict_does_not_depend_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    hours = itertools.count(0.0, 3600.0)
    for clock in ("monotonic", "perf_counter", "process_time", "time"):
        monkeypatch.setattr(time, clock, lambda: next(hours))
    left, right = sp.Min(sp.Max(x * y, -k), k) * p / k, p * sp.Max(sp.Min(x * y / k, 1), -1)
    assert equal(left, right, DOMAINS).level == "identity"


@pytest.mark.parametrize(("left", "right"), REFUTED, ids=lambda e: str(e)[:40])
def test_refuted_with_a_point_and_both_values(left: Any, right: Any) -> None:
    proof = equal(left, right, DOMAINS)
    assert proof.level == "refuted" and proof.exit_code == 1
    assert proof.point and proof.left != proof.right
    assert not identical(left, right, DOMAINS)


@pytest.mark.parametrize(("left", "right"), REFUTED_WHERE_REAL, ids=lambda e: str(e)[:40])
def test_the_field_refutes_too(left: Any, right: Any) -> None:
    """The finite field alone, without the evaluation before it, proves none of them."""
    assert modular.agree(left, right, DOMAINS, seed=1) == ""


def test_random_exact_where_the_expansion_is_too_large() -> None:
    s = sum(sp.symbols("a0:8", real=True))
    proof = equal(s**40 * (x - 1), s**40 * x - s**40, DOMAINS)
    assert proof.level == "random-exact" and "2^127" in proof.bound
    assert equal(s**40 * (x - 1), s**40 * x - s**39, DOMAINS).level == "refuted"


def test_numeric_where_there_is_no_algebra() -> None:
    proof = equal(sp.gamma(p + 1), p * sp.gamma(p), DOMAINS)
    assert proof.level == "numeric" and not proof.proved and proof.exit_code == 3
    assert "no proof" in proof.detail


def test_levels_have_exit_codes() -> None:
    assert [Proof(n, "").exit_code for n in ("identity", "random-exact", "numeric", "refuted")] == [
        0,
        0,
        3,
        1,
    ]
    with pytest.raises(ValueError, match="level"):
        Proof("certain", "")
    assert Verdict((("m", Proof("identity", "")), ("s", Proof("numeric", "")))).exit_code == 3


S, H, R = symmat("S"), symmat("H"), symmat("R")
F, X = mat("F"), mat("X")
m, g = vec("m"), vec("g")
MATRICES: dict[Any, str] = {**DOMAINS, S: "SPD", R: "SPD"}


@pytest.mark.parametrize(("left", "right"), [
    (((1 - b) * S + b * H) ** -1 * g, (S - b * S + b * H) ** -1 * g),
    ((2 * S) ** -1 * g, S**-1 * g / 2),
    (S + b * (H - S) + b**2 / 2 * (H - S) * S**-1 * (H - S),
     (S + ((1 - b) * S + b * H) * S**-1 * ((1 - b) * S + b * H)) / 2),
    ((S + p) ** -1 * S, 1 - p * (S + p) ** -1),
    (logdet(2 * S), DIM * sp.log(2) + logdet(S)),
    (g * transpose(g) * m, trace(transpose(g) * m) * g),
    (transpose(F) * (S + F) ** -1, transpose((S + transpose(F)) ** -1 * F)),
])  # fmt: skip
def test_matrix_identities_for_every_size(left: Any, right: Any) -> None:
    assert equal(left, right, MATRICES).level == "identity"


@pytest.mark.parametrize(("left", "right"), [
    ((S**-1 + F) ** -1, S - S * (S + F**-1) ** -1 * S),
    ((S**-1 + transpose(X) * R**-1 * X) ** -1,
     S - S * transpose(X) * (X * S * transpose(X) + R) ** -1 * X * S),
    ((S + m * transpose(m)) ** -1,
     S**-1 - S**-1 * m * transpose(m) * S**-1 / (1 + trace(transpose(m) * S**-1 * m))),
])  # fmt: skip
def test_matrix_identities_at_random(left: Any, right: Any) -> None:
    proof = equal(left, right, MATRICES)
    assert proof.level == "random-exact" and "d = 1…6" in proof.bound


@pytest.mark.parametrize(("left", "right", "d"), [
    (S * H, H * S, "2"), (S * F * m, S * transpose(F) * m, "2"), (S + p, S + 2 * p, "1"),
    (trace(S * H), trace(S) * trace(H), "2"), ((1 - b) * S * g, S * g, "1"),
    ((S * H - H * S) * (S * R - R * S) + S, (S * R - R * S) * (S * H - H * S) + S, "3"),
])  # fmt: skip
def test_matrix_refutations_name_the_size(left: Any, right: Any, d: str) -> None:
    proof = equal(left, right, MATRICES)
    assert proof.level == "refuted" and dict(proof.point)["d"] == d


def test_a_commutator_that_vanishes_at_small_sizes_is_not_proved() -> None:
    """The standard polynomial of degree 4 is zero on 2 × 2 matrices and not on 3 × 3."""
    from itertools import permutations

    letters = [mat(n) for n in "ABCD"]
    total = sp.S.Zero
    for order in permutations(range(4)):
        sign = sp.combinatorics.Permutation(list(order)).signature()
        total += sign * sp.Mul(*[letters[i] for i in order])
    assert equal(total, sp.S.Zero, {}).level == "refuted"


_ATOMS = st.sampled_from([x, y, p, q, b, sp.Integer(2), sp.Rational(1, 3)])


def _expressions() -> st.SearchStrategy[Any]:
    def extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.tuples(inner, inner).map(lambda t: t[0] + t[1]),
            st.tuples(inner, inner).map(lambda t: t[0] * t[1]),
            inner.map(lambda e: e / (1 + e**2)),
            inner.map(lambda e: sp.sqrt(1 + e**2)),
            inner.map(sp.tanh),
            inner.map(sp.Abs),
            st.tuples(inner, inner).map(lambda t: sp.Max(*t)),
            inner.map(lambda e: e * b**T),
        )

    return st.recursive(_ATOMS, extend, max_leaves=5)


def _transformed(e: Any, how: int) -> Any:
    return [
        lambda: sp.expand(e), lambda: sp.together(e), lambda: (e**2 - e) / (e - 1) if e != 1 else e,
        lambda: e * (p + q) / p - e * q / p, lambda: e.rewrite(sp.exp),
        lambda: (2 * e + x - x * 3 + 2 * x) / 2,
    ][how]()  # fmt: skip


@examples(40)
@given(_expressions(), st.integers(0, 5))
def test_transformed_expressions_are_never_refuted(e: Any, how: int) -> None:
    other = _transformed(e, how)
    proof = equal(e, other, DOMAINS, units=1e5)
    assert proof.level != "refuted", (proof, other)


@examples(40)
@given(_expressions(), st.sampled_from([p, p * q, b**T, sp.Rational(1, 10**15), x**2 + 1]))
def test_perturbed_expressions_are_refuted(e: Any, by: Any) -> None:
    assert equal(e, e + by, DOMAINS, units=1e5).level == "refuted"
    assert modular.agree(e, e + by, DOMAINS, seed=2) == ""


def test_a_typical_proof_takes_little_of_its_budget() -> None:
    known = reference.next_states(ADAM)["m"]
    symbols = {s.name: s for s in known.free_symbols}
    for i in range(7):
        other = known.subs(symbols["u"], symbols["u"] + i) if i else sp.expand(known)
        left = known.subs(symbols["u"], symbols["u"] + i)
        proof = equal(left, sp.together(other), reference.domains(ADAM), units=UNITS / 10)
        assert proof.level == "identity"
    assert equal(left, sp.together(other), reference.domains(ADAM), units=10).level != "identity"


def test_a_tiny_value_beside_what_cancels_to_zero_is_no_counterexample() -> None:
    x = sp.Symbol("x", real=True)
    left, right = 1 / sp.cosh(x) ** 2, 1 - sp.tanh(x) ** 2
    far = {x: Fraction(300)}  # tanh(300) is 1 to 259 digits
    assert differs(left, right, far) is None
    for factor in (Fraction(1, 3), Fraction(99, 100), Fraction(3, 2), 2, 3, -1):
        assert differs(factor * left, right, far) is not None
    assert differs(left, sp.S.Zero, far) is not None


def test_a_positive_factor_of_both_comes_out_of_a_clip() -> None:
    a, b = sp.symbols("a b", positive=True)
    x, y, r = sp.symbols("x y r", real=True)
    inner = (b * x + y / b) / (x**2 + b)
    clipped = Larger(-b, Smaller(b, inner))
    taken = (a * (a + b) * b * x + a * (a + b) * y / b) / (x**2 + b)
    bound = a * (a + b) * b
    domains = {a: "(0, oo)", b: "(0, oo)", x: "(-oo, oo)", y: "(-oo, oo)", r: "(-oo, oo)"}
    proof = equal(a * (a + b) * clipped, Larger(-bound, Smaller(bound, taken)), domains)
    assert proof.level == "identity"
    turned = Larger(Smaller(bound, taken), -bound)  # in the other order it is no other number
    assert equal(a * (a + b) * clipped, turned, domains).level == "identity"
    assert outward(Larger(r * x, r * y)) == Larger(r * x, r * y)  # which may be negative
    wrong = Larger(-bound, Smaller(a * b, taken))
    assert equal(a * (a + b) * clipped, wrong, domains).level == "refuted"


def test_a_long_expression_is_cut_to_its_width() -> None:
    e = sp.Symbol("a" * 70)
    assert short(e, 20) == "a" * 19 + "…"
    assert short(e, 70) == "a" * 70
