"""ASCII text goes back through SymPy to exactly the same value."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from blrgen.algebra.ranks import T, logdet, mat, positive, scalar, symmat, trace, vec
from blrgen.text.expression import ascii, latex, mathml, unicode
from tests.sweeps import examples

pytestmark = pytest.mark.core

LEAVES = [
    *map(scalar, ["x", "g", "theta_r", "m_next"]),
    *map(positive, ["s", "rho", "beta1"]),
    sp.Symbol("t", integer=True, positive=True),
]
LOCALS = {leaf.name: leaf for leaf in LEAVES}
FUNCTIONS = [sp.exp, sp.tanh, sp.Abs, sp.sign, sp.sin, sp.loggamma, lambda z: sp.polygamma(1, z)]
rationals = st.fractions(min_value=-5, max_value=5, max_denominator=6).map(
    lambda q: sp.Rational(q.numerator, q.denominator)
)


def _grow(child: st.SearchStrategy[sp.Expr]) -> st.SearchStrategy[sp.Expr]:
    two = st.tuples(child, child)
    return st.one_of(
        two.map(lambda p: p[0] + p[1]),
        two.map(lambda p: p[0] - p[1]),
        two.map(lambda p: p[0] * p[1]),
        two.map(lambda p: p[0] / p[1]),
        st.tuples(child, st.integers(-3, 3)).map(lambda p: p[0] ** p[1]),
        child.map(sp.sqrt),
        st.tuples(child, st.sampled_from(FUNCTIONS)).map(lambda p: p[1](p[0])),
        # Max is of comparable numbers only
        two.map(lambda p: sp.Max(*p) if all(x.is_extended_real for x in p) else p[0]),
    )


TOWER = (LEAVES[4] ** LEAVES[1]) ** LEAVES[0]  # a power of a power
expressions = st.recursive(
    st.sampled_from([*LEAVES, TOWER]) | rationals, _grow, max_leaves=8
).filter(lambda e: not e.has(sp.zoo, sp.nan, sp.oo, sp.I))


@examples(150)
@given(expressions)
def test_scalars(e):
    back = sp.sympify(ascii(e), locals=LOCALS)
    assert back == e or sp.expand(back - e) == 0, (e, ascii(e))


@examples(60)
@given(e=expressions)
def test_other_notations_are_well_formed(faults, e):
    assert unicode(e)
    assert faults(latex(e)) == []
    ET.fromstring(f"<math>{mathml(e)}</math>")


@examples(60)
@given(st.lists(expressions, min_size=2, max_size=4))
def test_the_order_of_a_sum_does_not_depend_on_how_it_was_built(terms):
    forward, backward = sp.Add(*terms), sp.Add(*reversed(terms))
    assert ascii(forward) == ascii(backward)


# matrices: the text on explicit rational matrices against the algebra's own meaning

SIZE = 2  # as in the fixture `meaning`
S, H = symmat("S"), symmat("H")
X = mat("X")
m, g = vec("m"), vec("g")
rho, delta = positive("rho"), positive("delta")
VALUES = {
    "S": sp.Matrix([[3, 1], [1, 2]]),
    "H": sp.Matrix([[1, sp.Rational(1, 2)], [sp.Rational(1, 2), 5]]),
    "X": sp.Matrix([[1, 2], [3, 5]]),
    "m": sp.Matrix([1, sp.Rational(2, 3)]),
    "g": sp.Matrix([sp.Rational(-1, 7), 4]),
    "rho": sp.Rational(1, 3),
    "delta": sp.Rational(2, 5),
}


square = st.recursive(
    st.sampled_from([S, H, X, T(X), m * T(g), rho * S, S**-1, X**-1]),
    lambda child: st.one_of(
        st.tuples(child, child).map(lambda p: p[0] + p[1]),
        st.tuples(child, child).map(lambda p: p[0] * p[1]),
        child.map(lambda a: a + delta),
        child.map(lambda a: (1 - rho) * a),
        child.map(lambda a: -a / 2),
        child.map(lambda a: trace(a) * a),
    ),
    max_leaves=5,
)


@examples(80)
@given(e=square)
def test_matrices(meaning, e):
    if e.is_commutative:
        return
    names = {
        n: sp.MatrixSymbol(n, *v.shape) if isinstance(v, sp.MatrixBase) else sp.Symbol(n)
        for n, v in VALUES.items()
    }
    text = ascii(e)
    back = sp.sympify(text, locals={**names, "d": SIZE})
    given_values = {names[n]: v for n, v in VALUES.items()}
    value = sp.Matrix(back.subs(given_values).doit())
    assert value == meaning(e, VALUES), text


@pytest.mark.parametrize(
    ("e", "text"),
    [
        (trace(T(m) * S * m) / 2, "trace(m.T*S*m)/2"),
        (logdet(S), "log(det(S))"),
        ((S + delta) ** -1 * g, "(S + delta*Identity(d))**(-1)*g"),
    ],
)
def test_matrix_scalars_and_vectors(meaning, e, text):
    assert ascii(e) == text
    names = {"S": VALUES["S"], "m": VALUES["m"], "g": VALUES["g"], "delta": VALUES["delta"]}
    symbols = {
        n: sp.MatrixSymbol(n, *v.shape) if isinstance(v, sp.MatrixBase) else sp.Symbol(n)
        for n, v in names.items()
    }
    back = sp.sympify(text, locals={**symbols, "d": SIZE})
    value = back.subs({symbols[n]: v for n, v in names.items()}).doit()
    right = meaning(e, VALUES)
    same = sp.Matrix(value) == right if isinstance(right, sp.MatrixBase) else value == right
    assert same
