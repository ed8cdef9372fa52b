"""What keeps an expression small: exact numbers, bounded powers, finite real values."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

from blrgen.errors import UserError
from blrgen.limits import CHOICES as MAX_CHOICES
from blrgen.limits import IN_EXPONENT as MAX_IN_EXPONENT
from blrgen.limits import NUMBER_BITS as MAX_BITS
from blrgen.limits import POWER as MAX_POWER
from blrgen.limits import ROOT as MAX_ROOT
from blrgen.limits import UNKNOWN_POWER as MAX_UNKNOWN_POWER
from blrgen.limits import WHOLE_ARGUMENT as MAX_ARGUMENT
from blrgen.limits import ZETA as MAX_ZETA
from blrgen.read.complaint import Complain
from blrgen.read.constants import check_constant, measure
from blrgen.read.functions import Function
from blrgen.read.text import mistake

Expr = Any


def exact(text: str) -> Expr:
    """A number as written, exactly: 0.1 is 1/10."""
    import sympy as sp

    value = Fraction(text if not text.endswith(".") else text + "0")
    return sp.Rational(value.numerator, value.denominator)


def bits(number: Expr) -> int:
    """The length of the longer of numerator and denominator."""
    return max(int(number.p).bit_length(), int(number.q).bit_length())


def check_finite(expr: Expr, complain: Complain) -> None:
    """Every part of an expression is a number or a formula, not ∞ or undefined."""
    import sympy as sp

    if expr in (sp.zoo, sp.nan, sp.oo, -sp.oo):
        raise complain("this has no finite value", "it divides by zero or is infinite")
    number = expr if expr.is_Rational else None
    if number is None and expr.is_commutative and (expr.is_Mul or expr.is_Add):
        number = expr.args[0] if expr.args[0].is_Rational else None
    if number is not None and bits(number) > MAX_BITS:
        raise complain("the number is too large", f"more than {MAX_BITS} bits")
    if expr.is_commutative:
        check_roots(expr, 1, complain)
    check_constant(expr, complain)


def check_roots(base: Expr, exponent: Any, complain: Complain) -> None:
    """Numbers under a root stay small: SymPy computes 12**(p/q) through powers up to q."""
    import sympy as sp

    for factor in sp.Mul.make_args(base):
        number, power = (factor.base, factor.exp) if factor.is_Pow else (factor, sp.S.One)
        power = power * exponent
        if number.is_Rational and power.is_Rational and not power.is_Integer:
            size = bits(number) * (abs(int(power.p)) + int(power.q))
            if number not in (0, 1) and size > MAX_ROOT:
                raise complain(
                    "the root of a number is too fine",
                    f"numerator and denominator of the exponent {power} are too large",
                )


def check_power(base: Expr, terms: int, exponent: Expr, complain: Complain) -> int:
    """Refuse base**exponent when it would be huge; else a bound on its terms."""
    why = f"whole powers go up to {MAX_POWER}, and numbers up to {MAX_BITS} bits"
    if not exponent.is_Number:
        _check_exponent(exponent, complain)
        return terms
    if exponent.is_Rational is not True or bits(exponent) > 64:
        raise complain("the exponent is out of range", why)
    size = abs(Fraction(int(exponent.p), int(exponent.q)))
    if base.is_Rational:
        if base not in (0, 1, -1) and bits(base) * size > MAX_BITS:
            raise complain("the power is too large", why)
        check_roots(base, exponent, complain)
        return 1
    check_roots(base, exponent, complain)
    if size > MAX_POWER:
        raise complain("the exponent is out of range", why)
    if size > MAX_UNKNOWN_POWER and base.is_commutative and base.is_extended_real is None:
        why = f"what may not be real is raised to {MAX_UNKNOWN_POWER} at most"
        raise complain("the exponent is out of range", why)
    whole = int(size)
    return comb(whole + terms - 1, whole) if terms > 1 and whole else terms


def _check_exponent(exponent: Expr, complain: Complain) -> None:
    import sympy as sp

    for number in exponent.atoms(sp.Number):
        if number.is_Rational and abs(Fraction(int(number.p), int(number.q))) > MAX_IN_EXPONENT:
            why = f"it holds a number over {MAX_IN_EXPONENT}"
            raise complain("the exponent is out of range", why)


def check_call(called: Function, args: list[Expr], complain: Complain) -> None:
    """Functions that compute with numbers at once get small ones only."""
    import sympy as sp

    if called.name in ("exp", "expm1"):
        for term in sp.Add.make_args(args[0]):
            if term.has(sp.log):  # exp(c*log(x)) becomes x**c
                _check_exponent(term, complain)
                for log in sorted(term.atoms(sp.log), key=str):
                    check_roots(log.args[0], term.as_coeff_Mul()[0], complain)
    _check_special(called, args, complain)
    if not called.integer_like:
        return
    for arg in args:
        if not arg.free_symbols and abs(measure(arg, complain)) > MAX_ARGUMENT:
            why = f"numbers given to {called.name} go up to {MAX_ARGUMENT}"
            raise complain("the argument is too large", why)


def _check_special(called: Function, args: list[Expr], complain: Complain) -> None:
    """Special values with which SymPy or mpmath do not end, or for which there is no number."""
    first, second = args[0], args[-1]
    known = not first.free_symbols
    if called.name in ("polygamma", "multipolygamma") and known:
        if first.is_Integer is not True or first < 0:
            raise complain("the order of polygamma is a whole number from 0", f"it is {first}")
    elif called.name == "binomial" and known and first.is_Rational is not True:
        if second.is_Integer and abs(second) > MAX_CHOICES:
            why = f"with an irrational n, k goes up to {MAX_CHOICES}"
            raise complain("the argument is too large", why)
    elif called.name == "besseli" and first.is_Integer is not True and not second.free_symbols:
        if measure(second, complain) <= 0:
            raise complain("this is not a real number", "a broken order needs a positive argument")
    elif called.name == "besselk" and not second.free_symbols:
        if measure(second, complain) <= 0:
            raise complain("this is not a real number", "besselk needs a positive argument")
    elif called.name == "zeta" and len(args) == 2:
        for value, least in ((first, 1), (second, 0)):
            if not value.free_symbols and not least < measure(value, complain) <= MAX_ZETA:
                why = f"numbers need 1 < s <= {MAX_ZETA} and 0 < a <= {MAX_ZETA}"
                raise complain("zeta(s, a) has no value here", why)


def check_whole(expr: Expr, text: str, where: str) -> None:
    """At the end: no hidden ∞ or complex part, and no power that grew by merging."""
    import sympy as sp

    def complain(what: str, why: str) -> UserError:
        start = len(text) - len(text.lstrip())
        return mistake(what, text, start, where=where, why=why)

    for part in sp.preorder_traversal(expr):
        if part in (sp.zoo, sp.nan, sp.oo, -sp.oo):
            raise complain("this has no finite value", "it divides by zero or is infinite")
        if part is sp.I or (
            part.is_Pow and part.base.is_negative and part.base.is_number
            and part.exp.is_Rational and not part.exp.is_Integer
        ):  # fmt: skip
            why = "it takes a root or logarithm of a negative one"
            raise complain("this is not a real number", why)
        if part.is_Pow and part.exp.is_Rational and not part.base.is_Rational:
            if abs(part.exp) > MAX_POWER:
                raise complain("the exponent is out of range", f"powers go up to {MAX_POWER}")
        elif part.is_Pow and not part.exp.is_Rational:
            _check_exponent(part.exp, complain)
