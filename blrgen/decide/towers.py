"""Numbers that stand for a real one in a tower of prime fields, so that exp and log have meaning.

p₀ < p₁ < … are primes with pᵢ₊₁ = 2 pᵢ + 1.  The non-zero squares modulo pᵢ₊₁ are a cyclic group
of pᵢ elements: x ↦ gˣ takes sums modulo pᵢ to products modulo pᵢ₊₁, and its inverse takes
products to sums.  A number is its values modulo p₀, p₁, …; exp moves each one storey up, log one
down, and the storey at the end is lost.  So exp(a + b) = exp a exp b, log(a b) = log a + log b
and log exp a = a hold without a word about them; log of a non-square is that of its negative.
Squares play the part of the positive numbers.  Other functions without algebra (digamma, log Γ)
are random functions of their arguments, storey by storey.

Expressions that differ as rational functions of independent numbers agree in a storey with
probability at most (degree)/p₀ (Schwartz and Zippel).  Of comparisons only those have an answer
that hold inside of every domain: a number is above 0, below ∞, and itself.  Any other one is put
to somebody who answers one way, the other way, and at random.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any, cast

import numpy as np

from blrgen.decide.modular import Unlucky

LOWEST = 171729539  # eight primes in a row, each twice the one before and one more, 3 modulo 4
STOREYS = 5  # of those eight; exp and log in turn need one each
SIMPLE = 10**6  # the largest denominator of a fraction that a double is read as
BABY = 2**15  # powers that are kept to find logarithms


class NoMeaning(Exception):
    """A question that these numbers do not answer: an order, a branch, a function."""


class NotANumber(NoMeaning):
    """NaN, as code writes it in place of a division by zero."""


@cache
def prime(storey: int) -> int:
    """pᵢ."""
    return LOWEST if storey == 0 else 2 * prime(storey - 1) + 1


def is_positive(x: int, storey: int) -> bool:
    """Whether x is a non-zero square."""
    p = prime(storey)
    return pow(x, (p - 1) // 2, p) == 1


@cache
def base(storey: int) -> int:
    """A generator of the squares."""
    return 4 if storey else 1


@cache
def _powers(storey: int) -> dict[int, int]:
    p, g, x = prime(storey), base(storey), 1
    found = {}
    for k in range(BABY):
        found[x] = k
        x = x * g % p
    return found


@cache
def logarithm(x: int, storey: int) -> int:
    """The k below p of the storey below with gᵏ = ±x (Shanks)."""
    p, g, known = prime(storey), base(storey), _powers(storey)
    if x % p == 0:
        raise Unlucky
    x = x if is_positive(x, storey) else p - x
    stride = pow(g, -BABY, p)
    for k in range(prime(storey - 1) // BABY + 2):
        if x in known:
            return (k * BABY + known[x]) % prime(storey - 1)
        x = x * stride % p
    raise NoMeaning(f"no logarithm in storey {storey}")


def oracle(name: str, storey: int, *args: int) -> int:
    """A random function."""
    digest = hashlib.blake2b(repr((name, storey, args)).encode(), digest_size=16).digest()
    return int.from_bytes(digest, "big") % prime(storey)


def _refuse() -> bool:
    raise NoMeaning("whether a number is above another")


_CHOICES: list[Callable[[], bool]] = [_refuse]
MOST_CHOICES = 10**5


@contextmanager
def choosing(choose: Callable[[], bool]) -> Iterator[None]:
    """Let whether a number is above another (not 0, not ∞) be answered by somebody.

    Where every answer leads to the same value, it does not matter which one was true.
    """
    left = iter(range(MOST_CHOICES))

    def counted() -> bool:
        if next(left, None) is None:
            raise NoMeaning("a loop that ends when a number is small")
        return choose()

    _CHOICES.append(counted)
    try:
        yield
    finally:
        _CHOICES.pop()


_ASKED: list[Callable[[], None]] = []


@contextmanager
def telling(tell: Callable[[], None]) -> Iterator[None]:
    """Tell somebody each time that a number is held against 0: the answer is that of a domain."""
    _ASKED.append(tell)
    try:
        yield
    finally:
        _ASKED.pop()


class Tower:
    """A number: its values by storey, None where nothing is known of it."""

    __slots__ = ("at",)

    def __init__(self, at: Iterable[int | None]) -> None:
        self.at = tuple(at)

    def _with(self, other: Any, f: Callable[[int, int, int], int]) -> Tower:
        other = lift(other)
        if not isinstance(other, Tower):
            return cast(Tower, NotImplemented)
        return Tower(
            None if a is None or b is None else f(a, b, prime(i)) % prime(i)
            for i, (a, b) in enumerate(zip(self.at, other.at, strict=True))
        )

    def __add__(self, other: Any) -> Tower:
        return self._with(other, lambda a, b, p: a + b)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Tower:
        return self._with(other, lambda a, b, p: a - b)

    def __rsub__(self, other: Any) -> Tower:
        return self._with(other, lambda a, b, p: b - a)

    def __mul__(self, other: Any) -> Tower:
        return self._with(other, lambda a, b, p: a * b)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Tower:
        return self._with(other, lambda a, b, p: a * _inverse(b, p))

    def __rtruediv__(self, other: Any) -> Tower:
        return self._with(other, lambda a, b, p: b * _inverse(a, p))

    def __neg__(self) -> Tower:
        return self._each(lambda a, i: -a)

    def __pow__(self, n: Any) -> Tower:
        e = Fraction(n) if isinstance(n, int | float | Fraction) else None
        if e is None or e.denominator not in (1, 2):
            raise NoMeaning("a power that is neither whole nor half of a whole number")
        x = self.sqrt() if e.denominator == 2 else self
        return x._each(lambda a, i: _power(a, e.numerator, prime(i)))

    def __abs__(self) -> Tower:
        return self.function("abs")  # nothing is known of it

    def _each(self, f: Callable[[int, int], int]) -> Tower:
        return Tower(None if a is None else f(a, i) % prime(i) for i, a in enumerate(self.at))

    # functions ------------------------------------------------------------------------
    def exp(self) -> Tower:
        """g^x, one storey up."""
        powers = (
            None if a is None else pow(base(i + 1), a, prime(i + 1))
            for i, a in enumerate(self.at[:-1])
        )
        return Tower((None, *powers))

    def log(self) -> Tower:
        """The logarithm, one storey down."""
        found = (None if a is None else logarithm(a, i + 1) for i, a in enumerate(self.at[1:]))
        return Tower((*found, None))

    def sqrt(self) -> Tower:
        """The root that is itself a square; nothing is known of one that is none."""
        return Tower(
            None if a is None or not (a == 0 or is_positive(a, i))
            else pow(a, (prime(i) + 1) // 4, prime(i))
            for i, a in enumerate(self.at)
        )  # fmt: skip

    def function(self, name: str, *others: Any) -> Tower:
        """A random function of this and others."""
        rest = [lift(x) for x in others]
        columns = zip(self.at, *(x.at for x in rest), strict=True)
        return Tower(
            None if None in c else oracle(name, i, *(int(x or 0) for x in c))
            for i, c in enumerate(columns)
        )

    # what is known inside of every domain --------------------------------------------------
    def __eq__(self, other: object) -> bool:
        known = self._against(other)
        return known is not None and all(a == b for a, b in known)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def _against(self, other: object) -> list[tuple[int, int]] | None:
        """The values of both where both are known; None beside ∞."""
        if isinstance(other, float) and not math.isfinite(other):
            return None
        lifted = lift(other)
        if not isinstance(lifted, Tower):
            raise NoMeaning("a comparison with what is no number")
        pairs = zip(self.at, lifted.at, strict=True)
        known = [(a, b) for a, b in pairs if a is not None and b is not None]
        if not known:
            raise NoMeaning("exp and log go through more storeys than there are")
        return known

    def _above(self, other: Any) -> bool:
        """Of 0 and ∞ what holds inside of a domain; of two numbers an order, any."""
        if isinstance(other, Tower):
            return repr(self.at) > repr(other.at)
        if other == 0:
            for tell in _ASKED:
                tell()
            return any(self.at)  # 0 itself is not
        return other == -math.inf or (other != math.inf and _CHOICES[-1]())

    def __gt__(self, other: Any) -> bool:
        return self._above(other)

    def __le__(self, other: Any) -> bool:
        return not self._above(other)

    def __lt__(self, other: Any) -> bool:
        if isinstance(other, Tower):
            return other._above(self)
        return not self._above(other) and not self._is(other)

    def __ge__(self, other: Any) -> bool:
        return not self < other

    def _is(self, other: Any) -> bool:
        return bool(other == 0) and not any(self.at)

    def __bool__(self) -> bool:
        return self != 0

    def __hash__(self) -> int:
        return hash(self.at)

    def __float__(self) -> float:
        raise NoMeaning("a number of a field as a double")

    __int__ = __index__ = __float__

    def __repr__(self) -> str:
        return f"Tower({self.at})"


def _inverse(x: int, p: int) -> int:
    if x % p == 0:
        raise Unlucky
    return pow(x, -1, p)


def _power(x: int, n: int, p: int) -> int:
    return pow(x if n >= 0 else _inverse(x, p), abs(n), p)


def constant(name: str) -> Tower:
    """π or e: a number of which nothing is known but that it is positive."""
    return oracle_number(name) ** 2


def oracle_number(name: str, *args: int) -> Tower:
    """A number that stands for a name."""
    return Tower(oracle(name, i, *args) for i in range(STOREYS))


def lift(x: Any) -> Any:
    """A rational number, or π, as one of these; a double as the simple fraction nearest to it."""
    if isinstance(x, Tower):
        return x
    if isinstance(x, np.ndarray) and x.ndim == 0:
        return lift(x.item())
    if type(x) in (float, int) and x in (0, 1):
        return _whole(int(x))
    if isinstance(x, float | np.floating):
        if float(x) == math.pi:
            return constant("pi")
        if not math.isfinite(x):
            raise (NotANumber if x != x else NoMeaning)(f"{x} among numbers of a field")
        rational = Fraction(float(x)).limit_denominator(SIMPLE)
        if float(rational) != float(x):
            raise NoMeaning("a number that has been rounded")
        x = rational
    if isinstance(x, bool | int | np.integer | np.bool_):
        x = Fraction(int(x))
    if not isinstance(x, Fraction):
        return NotImplemented
    return _rational(x)


@cache
def _whole(x: int) -> Tower:
    return _rational(Fraction(x))


def _rational(x: Fraction) -> Tower:
    n, d = x.numerator, x.denominator
    return Tower(n * _inverse(d, prime(i)) % prime(i) for i in range(STOREYS))


def random_number(random: Random) -> Tower:
    """Any number."""
    return Tower(random.randrange(2, prime(i)) for i in range(STOREYS))
