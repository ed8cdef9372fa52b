"""One form for all ways to write a term, and the value of plain loops before and after."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from blrgen.algebra.indexed.build import (
    add,
    delta,
    guard,
    headed,
    moved,
    multiplied,
    number,
    power,
    scaled,
    size,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.functions import absolute, exp, lgamma, log, plain
from blrgen.algebra.indexed.matrices import inverse, logdet
from blrgen.algebra.indexed.normal import Outside, collected, normal
from blrgen.algebra.indexed.values import ONE, ZERO, Atom, Expression, Index, Range, Symbol
from blrgen.value.indexed import Values

SIZES = {"N": 3, "K": 2, "d": 3}
L = Symbol("L", symmetric=True)
M, X, A, B, MU = (Symbol(c) for c in ("M", "x", "a", "b", "mu"))
S = Symbol("s", lower=Fraction(0))
P = Symbol("p", lower=Fraction(0), upper=Fraction(1), total=ONE)
Q = Symbol("q", lower=Fraction(0), upper=Fraction(1))
Z = Symbol("z", one_hot=True, total=ONE)
H = Symbol("h")
AXES = {"L": ("K", "d", "d"), "M": ("d", "d"), "x": ("N", "d"), "a": ("N",), "b": ("d",),
        "z": ("N", "K"), "mu": ("K", "d"), "h": ("N",)}  # fmt: skip
SYMBOLS = {"L": L, "M": M, "x": X, "a": A, "b": B, "z": Z, "mu": MU, "h": H}


def index(axis: str, name: str) -> Index:
    return Index(axis, name)


I1, J, K, N = index("d", "i"), index("d", "j"), index("K", "k"), index("N", "n")
LAST = Index("K", "=last")


def values(seed: int = 0) -> Values:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=(2, 3, 3))
    arrays = {n: rng.normal(size=[SIZES[x] for x in axes]) for n, axes in AXES.items()}
    arrays["L"] = a @ a.transpose(0, 2, 1) + np.eye(3)
    arrays["z"] = np.eye(2)[rng.integers(2, size=3)]
    p = rng.uniform(0.1, 1, size=2)
    arrays |= {"p": p / p.sum(), "q": np.array(0.3), "s": np.array(1.7)}
    return Values(arrays, SIZES)


def random_factors(rng: random.Random):
    """(factors, ranges): symbols with shared letters, deltas, functions."""
    letters = {a: [index(a, f"{a}{k}") for k in range(3)] for a in SIZES}
    factors = []
    for _ in range(rng.randint(2, 6)):
        name = rng.choice(sorted(AXES))
        atom = Atom("symbol", name, tuple(rng.choice(letters[x]) for x in AXES[name]),
                    symbol=SYMBOLS[name])  # fmt: skip
        factors.append((atom, Fraction(rng.choice([1, 1, 1, 2]))))
    if rng.random() < 0.4:
        i, j = rng.sample(letters["d"], 2)
        factors.append((Atom("delta", "", (i, j)), Fraction(1)))
    if rng.random() < 0.4:
        n, i = rng.choice(letters["N"]), rng.choice(letters["d"])
        inner = summed(multiplied(symbol(X, n, i), symbol(B, i)), i)
        factors.append((Atom("function", "cos", (), (inner,)), Fraction(1)))
    used = {i.name: i for a, _ in factors for i in a.letters}
    ranges = [Range(i.axis, i.name) for i in used.values() if rng.random() < 0.8]
    return factors, ranges


def renamed(rng: random.Random, factors, ranges):
    """The same product: bound letters under other names, factors in another order."""
    from blrgen.algebra.indexed.moving import move_atom

    names = [f"y{k}" for k in range(len(ranges))]
    rng.shuffle(names)
    moves = {r.index: Index(r.axis, n) for r, n in zip(ranges, names, strict=True)}
    out = [(move_atom(a, moves), p) for a, p in factors]
    rng.shuffle(out)
    bound = [Range(r.axis, n) for r, n in zip(ranges, names, strict=True)]
    rng.shuffle(bound)
    return out, bound


def naive(v: Values, factors, ranges) -> float:
    """The sum over all places, factor by factor, nothing rewritten."""
    from itertools import product

    free = {i.name: 1 for a, _ in factors for i in a.letters}
    total = 0.0
    for places in product(*(range(SIZES[r.axis]) for r in ranges)):
        at = free | {r.name: k for r, k in zip(ranges, places, strict=True)}
        term = 1.0
        for a, p in factors:
            term *= v._atom(a, at) ** float(p)
        total += term
    return total


@pytest.mark.parametrize("seed", range(150))
def test_shuffled_and_renamed_terms_have_one_form_and_their_value(seed):
    rng = random.Random(seed)
    factors, ranges = random_factors(rng)
    form = collected(normal(Fraction(1), factors, ranges))
    for _ in range(3):
        assert collected(normal(Fraction(1), *renamed(rng, factors, ranges))) == form
    if len(ranges) <= 6:
        v = values(seed)
        at = {i.name: 1 for i in form.letters}
        assert v.of(form, at) == pytest.approx(naive(v, factors, ranges), rel=1e-11, abs=1e-11)


def test_the_form_of_a_form_is_itself():
    for seed in range(40):
        form = collected(normal(Fraction(1), *random_factors(random.Random(seed))))
        again = [normal(c, t.factors, t.bound) for t, c in form.terms]
        assert collected(pair for terms in again for pair in terms) == form


def test_four_equal_quadratic_forms_are_named_at_once():
    i, j = I1, J
    form = summed(summed(multiplied(symbol(B, i), symbol(M, i, j), symbol(B, j)), i), j)
    assert len(power(form, 4).terms) == 1


def test_products_keep_bound_letters_apart():
    total = summed(symbol(A, N), N)
    v = values()
    assert v.of(multiplied(total, total)) == pytest.approx(v.arrays["a"].sum() ** 2)
    assert multiplied(total, total) != summed(power(symbol(A, N), 2), N)


def test_capture_is_avoided_when_letters_are_put_in():
    bound = index("d", "_1")
    e = summed(multiplied(symbol(M, I1, J), symbol(B, J)), J)
    opened = moved(e, {I1: bound})
    v = values()
    assert v.of(opened, {"_1": 2}) == pytest.approx(v.arrays["M"][2] @ v.arrays["b"])
    inner = exp(summed(multiplied(symbol(M, I1, J), symbol(B, J)), J))
    total = summed(moved(inner, {I1: bound}), bound)
    assert v.of(total) == pytest.approx(np.exp(v.arrays["M"] @ v.arrays["b"]).sum())


def test_the_range_of_a_bound_letter_becomes_a_guard_on_a_free_one():
    t, u = index("N", "t"), index("N", "u")
    e = summed(multiplied(delta(t, u.moved(1)), symbol(A, t)), t, 1, 0)
    assert e == multiplied(symbol(A, u.moved(1)), guard(u, 0, 1))
    assert summed(multiplied(delta(t, Index("N", "=", 1)), symbol(A, t)), t, 1) == ZERO


def test_lags_are_moved_so_that_the_least_is_zero():
    t = index("N", "t")
    one = summed(multiplied(symbol(A, t), symbol(A, t.moved(-1))), t, 1)
    two = summed(multiplied(symbol(A, t.moved(1)), symbol(A, t)), t, 0, 1)
    assert one == two and len(one.terms) == 1


def test_a_sum_that_reads_before_the_start_is_refused():
    t = index("N", "t")
    with pytest.raises(Outside):
        summed(multiplied(symbol(A, t), symbol(A, t.moved(-2))), t, 1)


def test_one_hot_and_simplex():
    k, j = K, index("K", "j")
    zz = multiplied(symbol(Z, N, k), symbol(Z, N, j))
    assert zz == multiplied(symbol(Z, N, k), delta(k, j))
    assert summed(symbol(Z, N, k), k) == ONE
    assert summed(summed(symbol(Z, N, k), k), N) == size("N")
    assert summed(multiplied(symbol(Z, N, k), symbol(P, k)), k) != ONE


def test_sizes_of_ranges_are_polynomials_in_the_size():
    assert summed(ONE, N, 2) == subtracted(size("N"), number(2))
    assert summed(ONE, index("3", "i")) == number(3)
    assert summed(ONE, index("N2", "i")) == size("N2") != add(size("N"), number(2))
    assert size("K - 1") == subtracted(size("K"), ONE)


def test_inverses_cancel_from_both_sides():
    k = Index("K", "=", 1)
    m = index("d", "m")
    inv = inverse(symbol(L, k, I1, J), I1, J)
    assert summed(multiplied(inv, symbol(L, k, J, m)), J) == delta(I1, m)
    assert summed(multiplied(inv, symbol(L, k, m, I1)), I1) == delta(J, m)
    general = inverse(symbol(M, I1, J), I1, J)
    assert summed(multiplied(general, symbol(M, J, m)), J) == delta(I1, m)
    assert summed(multiplied(general, symbol(M, m, J)), J) != delta(I1, m)
    assert inverse(general, I1, J) == symbol(M, I1, J)


def test_logdet_takes_scalars_and_diagonals_out():
    k = Index("K", "=", 1)
    half = scaled(symbol(L, k, I1, J), Fraction(1, 2))
    expected = subtracted(logdet(symbol(L, k, I1, J), I1, J), multiplied(size("d"), log(number(2))))
    assert logdet(half, I1, J) == expected
    diagonal = multiplied(exp(symbol(B, I1)), delta(I1, J))
    assert logdet(diagonal, I1, J) == summed(symbol(B, I1), I1)
    v = values()
    wide = add(symbol(L, k, I1, J), multiplied(symbol(S), delta(I1, J)))
    want = np.linalg.slogdet(v.arrays["L"][0] + 1.7 * np.eye(3))[1]
    assert v.of(logdet(wide, I1, J)) == pytest.approx(want)


def test_log_splits_known_signs_only():
    s, a = symbol(S), symbol(H, N)
    assert log(multiplied(s, exp(a))) == add(log(s), a)
    assert log(multiplied(a, a, s)) == add(plain("log", power(a, 2)), log(s))
    assert log(scaled(power(s, -1), Fraction(1, 2))) == scaled(add(log(s), log(number(2))), -1)
    assert add(log(number(Fraction(1, 2))), log(number(2))) == ZERO


def test_what_all_terms_share_comes_out_of_a_log():
    q = symbol(Q)
    odds = multiplied(q, power(subtracted(ONE, q), -1))
    assert log(add(ONE, odds)) == scaled(log(subtracted(ONE, q)), -1)


def test_the_sum_of_logits_falls_to_the_logarithm_of_a_weight():
    logit = subtracted(log(symbol(P, K)), log(symbol(P, LAST)))
    whole = log(add(ONE, headed(exp(logit), K, LAST)))
    assert whole == scaled(log(symbol(P, LAST)), -1)


def test_exponentials_merge_and_logs_inside_come_out():
    a, s = symbol(H, N), symbol(S)
    assert multiplied(exp(a), exp(scaled(a, -1))) == ONE
    assert power(exp(a), -1) == exp(scaled(a, -1))
    assert exp(add(scaled(log(s), 2), a)) == multiplied(power(s, 2), exp(a))


def test_numbers_and_roots():
    two = number(2)
    root = power(two, Fraction(1, 2))
    assert multiplied(root, root) == two
    assert multiplied(root, root, root) == multiplied(two, root)
    assert power(two, Fraction(-1, 2)) == scaled(root, Fraction(1, 2))
    assert lgamma(number(5)) == log(number(24))
    assert absolute(scaled(symbol(S), -3)) == scaled(symbol(S), 3)


def test_a_sum_under_a_power_merges_with_itself():
    e = add(symbol(S), ONE)
    down = power(e, -1)
    assert multiplied(down, power(e, Fraction(1, 2))) == power(e, Fraction(-1, 2))
    assert power(scaled(e, 6), -1) == scaled(down, Fraction(1, 6))
    assert power(down, -2) == multiplied(e, e)
    assert log(multiplied(down, e)) == ZERO


@pytest.mark.rest  # of whole texts tests/cli asks it, in every run
def test_texts_do_not_depend_on_the_hash_seed(tmp_path):
    import os
    import subprocess
    import sys

    code = (
        "import random; from fractions import Fraction;"
        "from tests.algebra.indexed.test_normal import random_factors;"
        "from blrgen.algebra.indexed.normal import collected, normal;"
        "[print(collected(normal(Fraction(1), *random_factors(random.Random(s)))).key)"
        " for s in range(25)]"
    )
    out = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True,
                       env={**os.environ, "PYTHONHASHSEED": seed}).stdout
        for seed in ("0", "1", "2")
    }  # fmt: skip
    assert len(out) == 1 and b"_1" in out.pop()


def test_an_expression_is_false_only_when_it_is_zero():
    assert not subtracted(symbol(S), symbol(S))
    assert isinstance(ONE, Expression) and ONE
