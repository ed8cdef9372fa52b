"""Towers of prime fields: exp and log mean something, and what has no answer says so."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from blrgen.decide.tower_kind import TOWERS, function
from blrgen.decide.towers import (
    STOREYS,
    NoMeaning,
    Tower,
    choosing,
    is_positive,
    lift,
    prime,
    random_number,
)


@pytest.fixture
def numbers():
    random = Random(3)
    return [random_number(random) for _ in range(6)]


def test_the_primes_are_each_twice_the_one_before_and_one_more():
    assert prime(0) % 4 == 3  # a square has a root that is itself one
    for i in range(1, STOREYS):
        assert prime(i) == 2 * prime(i - 1) + 1
        assert all(pow(a, prime(i) - 1, prime(i)) == 1 for a in (2, 3, 5, 7, 11))


def test_exp_and_log_turn_sums_into_products(numbers):
    a, b, *_ = numbers
    assert (a + b).exp() == a.exp() * b.exp()
    assert (a * b).log() == a.log() + b.log()
    assert a.exp().log() == a
    assert (-a).exp() == 1 / a.exp()


def test_log_is_undone_by_exp_for_what_is_positive(numbers):
    square = numbers[0] ** 2
    assert square.log().exp() == square
    assert square.sqrt() ** 2 == square
    assert all(is_positive(x, i) for i, x in enumerate(square.at))


def test_the_shift_of_a_log_sum_exp_does_not_matter(numbers):
    x, y, top, *_ = numbers
    plain = (x.exp() + y.exp()).log()
    assert top + ((x - top).exp() + (y - top).exp()).log() == plain


def test_different_expressions_differ(numbers):
    a, b, c, *_ = numbers
    assert (a + b) * c != a + b * c
    assert (a + b).exp() != a.exp() + b.exp()
    assert a.function("digamma") != a.function("lgamma")
    assert function("digamma_rise", a, lift(1)) != 1 / a  # true, and not known here


def test_doubles_are_the_simple_fractions_they_were_rounded_from():
    assert lift(0.1) == lift(Fraction(1, 10)) and lift(1 / 3) * 3 == 1
    assert lift(np.float64(-0.0005)) == lift(Fraction(-1, 2000))
    with pytest.raises(NoMeaning, match="rounded"):
        lift(math.sqrt(2))
    with pytest.raises(NoMeaning):
        lift(math.nan)


def test_the_storey_at_the_end_is_lost_and_nothing_is_equal_to_what_is_unknown():
    x = random_number(Random(1))
    assert x.exp().at[0] is None and x.log().at[-1] is None
    deep = x
    for _ in range(STOREYS):
        deep = deep.exp()
    with pytest.raises(NoMeaning, match="storeys"):
        _ = deep == deep


def test_comparisons_that_have_no_answer_ask(numbers):
    x = numbers[0]
    assert x > 0 and not x < 0 and x < math.inf and x > -math.inf and x != 0
    assert not lift(0) > 0 and lift(0) >= 0 and lift(0) <= 0
    with pytest.raises(NoMeaning):
        _ = x > 1
    for answer in (True, False):
        with choosing(lambda answer=answer: answer):
            assert (x > 1) is answer
    with choosing(lambda: True), pytest.raises(NoMeaning, match="loop"):
        while x > 1e-10:
            pass


def test_matrices_are_solved_and_have_volumes():
    random = Random(5)
    a = np.array([[random_number(random) for _ in range(3)] for _ in range(3)])
    b = np.array([random_number(random) for _ in range(3)])[:, None]
    x = TOWERS.solve(a, b)
    assert all(y == z for y, z in zip((a @ x).ravel(), b.ravel(), strict=True))
    product = TOWERS.logdet(a @ a)
    assert product == 2 * TOWERS.logdet(a)


def test_of_an_absolute_value_nothing_is_known_but_what_it_is_of(numbers):
    x, y = numbers[:2]
    assert abs(x) == abs(x) and abs(x) != abs(y)
    assert abs(x) != x and abs(x) != abs(-x)


def test_cumulants_of_the_uniform_law_are_derivatives_of_each_other(numbers):
    x, rises = numbers[0], numbers[0].exp()
    assert function("uniform_cumulant", 1, x) == rises / (rises - 1) - 1 / x
    assert function("uniform_cumulant_2", x) == 1 / x**2 - rises / (rises - 1) ** 2
    with pytest.raises(NoMeaning):
        function("uniform_cumulant", 3, x)


def test_what_is_no_number_here_says_so(numbers):
    for f in (float, int):
        with pytest.raises(NoMeaning):
            f(numbers[0])
    with pytest.raises(NoMeaning):
        function("besseli", *numbers[:2])
    assert function("besselk", *numbers[:2]).log() == function("log_besselk", *numbers[:2])
    assert isinstance(numbers[0] + 1, Tower)
