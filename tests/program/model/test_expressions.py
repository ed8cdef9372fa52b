"""Expressions of the index algebra as equations, against the sums that they mean."""

from fractions import Fraction

import numpy as np

from blrgen.algebra.indexed import Index, Symbol
from blrgen.algebra.indexed.build import add, delta, multiplied, power, scaled, summed, symbol
from blrgen.algebra.indexed.functions import exp, log
from blrgen.algebra.indexed.matrices import inverse, logdet
from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import check
from blrgen.program.axes.interpret import interpret
from blrgen.program.model.expressions import Equations, labels_reader

N, K = Index("N", "n"), Index("K", "k")
ROW, COLUMN = Index("d", "i"), Index("d", "j")
R = np.random.default_rng(3)
X, W = R.normal(size=(5, 2)), R.normal(size=(3, 2))
LABELS = np.array([0, 2, 1, 1, 0])
MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])


def value(e, places, structure="dense", readers=None):
    """What the equation of an expression comes to."""
    work = Equations(readers or {})
    work.equation("out", places, e, structure)
    given = (
        a.Quantity("x", ("N", "d")), a.Quantity("w", ("K", "d")), a.Quantity("s", ("K",)),
        a.Quantity("z", ("N",), labels="K"), a.Quantity("M", ("d", "d"), "sym"),
    )  # fmt: skip
    program = a.Program(tuple(work.letters.values()), given, tuple(work.body), ("out",))
    check(program)
    arrays = {"x": X, "w": W, "s": np.array([0.5, 1.5, 2.0]), "z": LABELS, "M": MATRIX}
    return interpret(program, arrays)["out"]


def x(n, i):
    return symbol(Symbol("x", known=True), n, i)


def w(k, i):
    return symbol(Symbol("w"), k, i)


def s(k):
    return symbol(Symbol("s", lower=Fraction(0)), k)


def z(n, k):
    return symbol(Symbol("z", known=True, one_hot=True), n, k)


def test_bound_indices_are_sums():
    e = scaled(summed(multiplied(x(N, ROW), w(K, ROW)), ROW), Fraction(1, 2))
    np.testing.assert_allclose(value(e, (N, K)), X @ W.T / 2)


def test_two_letters_over_one_axis():
    square = summed(
        summed(multiplied(x(N, ROW), x(N, COLUMN), w(K, ROW), w(K, COLUMN)), ROW), COLUMN
    )
    np.testing.assert_allclose(value(square, (N, K)), (X @ W.T) ** 2)
    outer = summed(multiplied(x(N, ROW), x(N, COLUMN)), N)
    np.testing.assert_allclose(
        value(add(outer, delta(ROW, COLUMN)), (ROW, COLUMN), "sym"), X.T @ X + np.eye(2)
    )


def test_labels_are_gathered():
    readers = {"z": labels_reader("z")}
    by_label = summed(multiplied(z(N, K), x(N, ROW)), N)
    wanted = np.stack([X[k == LABELS].sum(0) for k in range(3)])
    np.testing.assert_allclose(value(by_label, (K, ROW), readers=readers), wanted)
    gathered = summed(multiplied(z(N, K), w(K, ROW)), K)
    np.testing.assert_allclose(value(gathered, (N, ROW), readers=readers), W[LABELS])


def test_powers_and_functions():
    scale = np.array([0.5, 1.5, 2.0])
    e = add(power(s(K), Fraction(-3, 2)), log(add(s(K), power(s(K), 2))))
    np.testing.assert_allclose(value(e, (K,)), scale**-1.5 + np.log(scale + scale**2))
    total = log(summed(exp(summed(multiplied(x(N, ROW), w(K, ROW)), ROW)), K))
    np.testing.assert_allclose(value(total, (N,)), np.log(np.exp(X @ W.T).sum(1)))


def test_matrices_are_equations_of_their_own():
    matrix = add(
        symbol(Symbol("M", symmetric=True), ROW, COLUMN), multiplied(s(K), delta(ROW, COLUMN))
    )
    scale = np.array([0.5, 1.5, 2.0])
    wanted = np.linalg.inv(MATRIX + scale[:, None, None] * np.eye(2))
    np.testing.assert_allclose(value(inverse(matrix, ROW, COLUMN), (K, ROW, COLUMN)), wanted)
    np.testing.assert_allclose(
        value(logdet(matrix, ROW, COLUMN), (K,)), -np.linalg.slogdet(wanted)[1]
    )
