"""Sums over components: derivatives and linear solves against finite sizes, by SymPy."""

import pickle

import pytest
import sympy as sp

from blrgen.algebra.components import Component, block, move, put, slope, total, varies
from blrgen.algebra.woodbury import solve_components
from blrgen.errors import InternalError

pytestmark = pytest.mark.core

K = sp.Symbol("K", integer=True, positive=True)
A, B, C = Component("a", K), Component("b", K), Component("c", K)
S = sp.Symbol("s", real=True)
SIZES = (1, 3)


def spelled(f, size):
    """The components of f at a concrete size, in indexed symbols; a list for a vector."""

    def at(x, k):
        if isinstance(x, Component):
            return sp.Symbol(f"{x.name}_{k}", real=True)
        if isinstance(x, total):
            return sp.Add(*[at(x.args[0], j) for j in range(size)])
        if x == K:
            return sp.Integer(size)
        return x.func(*[at(y, k) for y in x.args]) if x.args else x

    return [at(f, k) for k in range(size)] if varies(f) else at(f, 0)


def index(x, k):
    return sp.Symbol(f"{x.name}_{k}", real=True)


def value(x, seed=0):
    point = {
        s: sp.Rational(3 + sum(map(ord, s.name)) * (i + 2) % 17, 11)
        for i, s in enumerate(sorted(x.free_symbols, key=str))
    }
    return sp.N(x.subs(point), 30)


def same(x, y):
    return abs(value(sp.expand(x - y, log=False))) < 1e-20


NUMBERS = (
    sp.log(1 + total(sp.exp(A), K)),
    total(sp.loggamma(A), K) - sp.loggamma(total(A, K)),
    total(A**2 * B / total(A * B, K), K) * S,
    sp.sqrt(total(A**2, K)) * total(sp.sin(A * total(B, K)), K),
    total(A * sp.exp(S * A), K) / (1 + total(sp.exp(A * S), K)),
)
VECTORS = (
    sp.exp(A) / (1 + total(sp.exp(A), K)),
    A * total(A * B, K) + B**2 * S,
    sp.polygamma(0, A) - sp.polygamma(0, total(A, K)),
    sp.cos(A * total(sp.exp(A) * total(A, K), K)),
)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("f", NUMBERS, ids=str)
def test_slope_is_the_gradient_at_every_size(f, size):
    there = spelled(f, size)
    found = spelled(slope(f, A), size)
    found = found if isinstance(found, list) else [found] * size
    for k in range(size):
        assert same(found[k], sp.diff(there, index(A, k)))
    if f.has(S):
        assert same(spelled(slope(f, S), size), sp.diff(there, S))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("v", VECTORS, ids=str)
def test_block_is_the_jacobian_at_every_size(v, size):
    there, b = spelled(v, size), block(v, A)

    def listed(x):
        return spelled(x, size) if varies(x) else [spelled(x, size)] * size

    diagonal, pairs = listed(b.diagonal), [(listed(u), listed(w)) for u, w in b.outer]
    for k in range(size):
        for j in range(size):
            entry = diagonal[k] * int(k == j) + sp.Add(*[u[k] * w[j] for u, w in pairs])
            assert same(entry, sp.diff(there[k], index(A, j)))
    moved = listed(move(v, A, C))
    for k in range(size):
        along = [sp.diff(there[k], index(A, j)) * index(C, j) for j in range(size)]
        assert same(moved[k], sp.Add(*along))


def test_totals_are_linear_and_constants_come_out():
    assert total(2 * A + 3 * S * B, K) == 2 * total(A, K) + 3 * S * total(B, K)
    assert total(A * total(B, K), K) == total(A, K) * total(B, K)
    assert total(sp.S(1), K) == K
    assert total(A, K).subs(A, 0) == 0
    assert total(A * B, K - 1) != total(A * B, K)
    assert Component("a", K - 1) != A
    assert pickle.loads(pickle.dumps(total(A**2, K))) == total(A**2, K)


@pytest.mark.parametrize("size", SIZES)
def test_systems_of_vectors_and_numbers_are_solved(size):
    y, z = Component("y", K), sp.Symbol("z", real=True)
    equations = [
        (1 + A**2) * y - B * total(A * y, K) / 20 + C * total(y, K) / 30 + A * z - B,
        total(C * y, K) / 7 + (9 + S**2) * z - S,
    ]
    found = solve_components(equations, [y, z])
    for e in equations:
        left = e.xreplace(found)
        left = spelled(left, size)
        for entry in left if isinstance(left, list) else [left]:
            assert abs(value(entry)) < 1e-20


def test_two_vectors_at_once():
    x, y = Component("x", K), Component("y", K)
    equations = [
        A**2 * x + B * y / 3 + total(A * y, K) / 9 - C,
        x - (4 + B**2) * y + A * total(x, K) / 8 - 1,
    ]
    found = solve_components(equations, [x, y])
    for e in equations:
        for entry in spelled(e.xreplace(found), 3):
            assert abs(value(entry)) < 1e-20


def test_what_is_no_linear_system_raises():
    y = Component("y", K)
    with pytest.raises(InternalError):
        solve_components([y**2 - A], [y])
    with pytest.raises(InternalError):
        solve_components([total(sp.exp(y), K) + y - A], [y])


def test_a_total_has_no_plain_derivative():
    with pytest.raises(InternalError):
        sp.diff(total(A**2, K), A)


def test_all_at_once_keeps_sums():
    """SymPy's way by dummies, which vary over nothing, would make d·m² of Σ_k g_k²."""
    d = sp.Symbol("d", integer=True, positive=True)
    g, m = Component("g", d), Component("m", d)
    v = sp.Symbol("v", positive=True)
    assert put(total(g**2, d) + g, {g: v * m}) == v**2 * total(m**2, d) + v * m
    assert put(total(g**2, d) + g, {g: m, m: g}) == total(m**2, d) + m
    assert put(v**2 + 1, {v: v + 1}) == (v + 1) ** 2 + 1
