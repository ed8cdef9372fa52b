"""Special functions in expressions: the forms in which their digits survive.

    a ψ′(a) − 1                    → a · (ψ′(a) − 1/a)       trigamma_rest(a) in brackets
    log x − ψ(x)                   → log_minus_digamma(x)
    log Γ(a) + log Γ(b) − log Γ(a+b) → log_beta(a, b)
    log Γ(a+b) − log Γ(a)          → loggamma_ratio(a, b)
    I_{ν+k}(x)/I_ν(x)              → in R = x · bessel_quotient(ν, x) = I_{ν+1}(x)/I_ν(x)
    1 − R² − (2ν+1)R/x             → bessel_slope(ν, x), the derivative of R

The left sides lose all digits for large arguments (or overflow); the right sides do not.
Each name on the right is a function that emitted files hold when they use it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.core import Assignment

Expr = Any

# SymPy's name → the call's name; polygamma has a number in its name.
CALLS = {
    "loggamma": "loggamma", "digamma": "digamma", "trigamma": "trigamma",
    "trigamma_rest": "trigamma_rest", "log_minus_digamma": "log_minus_digamma",
    "log_beta": "log_beta", "loggamma_ratio": "loggamma_ratio",
    "bessel_quotient": "bessel_quotient", "bessel_slope": "bessel_slope",
    "inverse_digamma": "inverse_digamma",
}  # fmt: skip


class trigamma_rest(sp.Function):  # type: ignore[misc]
    """ψ′(x) − 1/x."""

    nargs = 1
    is_real = True
    is_positive = True


class log_minus_digamma(sp.Function):  # type: ignore[misc]
    """Log x − ψ(x)."""

    nargs = 1
    is_real = True
    is_positive = True


class log_beta(sp.Function):  # type: ignore[misc]
    """Log B(a, b)."""

    nargs = 2
    is_real = True


class loggamma_ratio(sp.Function):  # type: ignore[misc]
    """Log Γ(a + b) − log Γ(a)."""

    nargs = 2
    is_real = True


class bessel_quotient(sp.Function):  # type: ignore[misc]
    """I_{ν+1}(x)/(x I_ν(x))."""

    nargs = 2
    is_real = True
    is_positive = True


class bessel_slope(sp.Function):  # type: ignore[misc]
    """The derivative of I_{ν+1}(x)/I_ν(x) in x."""

    nargs = 2
    is_real = True
    is_positive = True


_SPECIAL = (
    sp.loggamma, sp.gamma, sp.beta, sp.polygamma, sp.digamma, sp.trigamma, sp.besseli,
    sp.factorial, sp.binomial,
)  # fmt: skip


def special_forms(x: Expr) -> Expr:
    """An expression in the forms above; one without special functions as it is."""
    x = sp.sympify(x)
    if x.is_commutative is False or not x.has(*_SPECIAL):
        return x
    x = _one_spelling(x)
    if x.has(sp.besseli):
        x = _bessel_ratios(x)
    return _sums(x)


def _one_spelling(x: Expr) -> Expr:
    """Products of Gamma functions through log Γ, ψ and ψ′ as polygamma."""
    log_gamma = sp.loggamma
    x = x.replace(sp.digamma, lambda a: sp.polygamma(0, a))
    x = x.replace(sp.trigamma, lambda a: sp.polygamma(1, a))
    x = x.replace(sp.binomial, lambda a, k: sp.gamma(a + 1) / sp.gamma(k + 1) / sp.gamma(a - k + 1))
    x = x.replace(sp.factorial, lambda a: sp.gamma(a + 1))
    x = x.replace(sp.beta, lambda a, b: sp.gamma(a) * sp.gamma(b) / sp.gamma(a + b))
    if x.has(sp.gamma):
        x = x.replace(sp.gamma, lambda a: sp.exp(log_gamma(a)))
        x = x.replace(
            lambda e: isinstance(e, sp.log), lambda e: sp.expand_log(e, force=True)
        ).replace(
            lambda e: isinstance(e, sp.log) and isinstance(e.args[0], sp.exp),
            lambda e: e.args[0].args[0],
        )
    return x


def _sums(x: Expr) -> Expr:
    """Every sum in the form that keeps its digits, from the inside out."""
    if not x.args or not x.has(*_SPECIAL):
        return x
    args = [_sums(a) for a in x.args]
    x = x.func(*args) if args != list(x.args) else x
    if not x.is_Add:
        return x
    x = _trigamma_sum(x)
    for change in (_log_minus_digamma, _log_beta, _loggamma_ratio):
        if x.is_Add:
            x = change(x)
    return x


def _trigamma_sum(x: Expr) -> Expr:
    """ψ′ = 1/x + rest in a sum whose terms without a rest cancel."""
    found = sorted((p for p in x.atoms(sp.polygamma) if p.args[0] == 1), key=sp.default_sort_key)
    if not found:
        return x
    rest = [sp.Dummy(f"r{k}", positive=True) for k in range(len(found))]
    opened = {p: 1 / p.args[1] + r for p, r in zip(found, rest, strict=True)}
    try:
        polynomial = sp.Poly(x.xreplace(opened), *rest)
    except sp.PolynomialError:
        return x
    zero = (0,) * len(rest)
    if sp.cancel(polynomial.as_dict().get(zero, sp.S.Zero)) != 0:
        return x
    names = {r: trigamma_rest(p.args[1]) for r, p in zip(rest, found, strict=True)}
    terms = []
    for powers, c in sorted(polynomial.as_dict().items()):
        kept = [names[r] ** k for r, k in zip(rest, powers, strict=True)]
        terms.append(sp.Mul(sp.factor_terms(sp.cancel(c)), *kept))
    return sp.Add(*terms)


def _collected(x: Expr, wanted: Any) -> dict[Expr, Expr]:
    """Argument → coefficient of f(argument) in a sum, for a function or a test."""
    found: dict[Expr, Expr] = {}
    for term in x.args:
        for f in term.args if term.is_Mul else (term,):
            if wanted(f):
                c = term / f
                if not c.has(f):
                    found[f] = found.get(f, sp.S.Zero) + c
    return found


def _log_minus_digamma(x: Expr) -> Expr:
    """C (log a − ψ(a)) together, where both are there with one coefficient."""
    psi = _collected(x, lambda f: isinstance(f, sp.polygamma) and f.args[0] == 0)
    for f, c in psi.items():
        a = f.args[1]
        logarithm = _logarithm(a)
        split = sp.Add.make_args(logarithm)
        there = _collected(x, lambda g: isinstance(g, sp.log))
        if all(isinstance(p, sp.log) and sp.expand(there.get(p, 0) + c) == 0 for p in split):
            x = x - c * f + c * logarithm - c * log_minus_digamma(a)
    return x


def _logarithm(a: Expr) -> Expr:
    return sp.log(a)


def _log_gammas(x: Expr) -> dict[Expr, Expr]:
    found = _collected(x, lambda f: isinstance(f, sp.loggamma))
    return {f.args[0]: c for f, c in found.items()}


def _log_beta(x: Expr) -> Expr:
    """C (log Γ(a) + log Γ(b) − log Γ(a+b)) together."""
    known = _log_gammas(x)
    order = sorted(known, key=sp.default_sort_key)
    for i, a in enumerate(order):
        for b in order[i:]:
            c = known[a] / (2 if a == b else 1)
            if sp.expand(known.get(a + b, 0) + c) == 0 and (a == b or known[b] == c):
                taken = sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b)
                return _again(_log_beta, x - sp.expand(c * taken) + c * log_beta(a, b))
    return x


def _loggamma_ratio(x: Expr) -> Expr:
    """C (log Γ(a+b) − log Γ(a)) together, where a + b is more than a by what is positive."""
    known = _log_gammas(x)
    order = sorted(known, key=sp.default_sort_key)
    for a in order:
        for s in order:
            more = sp.expand(s - a)
            if s != a and more.is_positive and sp.expand(known[s] + known[a]) == 0:
                c = known[s]
                taken = sp.loggamma(s) - sp.loggamma(a)
                return _again(
                    _loggamma_ratio, x - sp.expand(c * taken) + c * loggamma_ratio(a, more)
                )
    return x


def _again(change: Any, x: Expr) -> Expr:
    return change(x) if x.is_Add else x


def bessel_orders(*exprs: Expr) -> dict[Expr, tuple[Expr, int]]:
    """Argument of I → its smallest order there and how far the orders reach beyond it."""
    groups: dict[Expr, list[Expr]] = {}
    for x in exprs:
        for f in sorted(x.atoms(sp.besseli), key=sp.default_sort_key):
            groups.setdefault(f.args[1], []).append(f.args[0])
    found = {}
    for at, orders in groups.items():
        steps = [sp.expand(o - orders[0]) for o in orders]
        if all(s.is_Integer for s in steps):
            low = min(steps)
            found[at] = (orders[0] + low, int(max(steps) - low))
    return found


def bessel_values(base: Expr, at: Expr, reach: int, one: Expr, two: Expr) -> dict[Expr, Expr]:
    """I_ν, I_{ν+1}, …, I_{ν+reach} in terms of the first two of them, or down to there."""
    values = [one, two]
    for k in range(1, reach):  # I_{ν+k+1} = I_{ν+k−1} − 2(ν+k)/x I_{ν+k}
        values.append(values[k - 1] - 2 * (base + k) / at * values[k])
    found = {sp.besseli(sp.expand(base + k), at): v for k, v in enumerate(values)}
    for k in range(0, reach, -1):
        above, here = (found[sp.besseli(sp.expand(base + j), at)] for j in (k + 1, k))
        found[sp.besseli(sp.expand(base + k - 1), at)] = above + 2 * (base + k) / at * here
    return found


def in_few(*exprs: Expr) -> list[Expr]:
    """Expressions with ψ, Γ and I in one spelling, so that equal ones may look equal.

    I_{ν+k} is written in the two lowest orders that occur in any of them.
    """
    out = [_one_spelling(x) if x.has(*_SPECIAL) else x for x in exprs]
    for at, (base, reach) in bessel_orders(*out).items():
        if reach > 1:
            one, two = sp.besseli(base, at), sp.besseli(base + 1, at)
            values = bessel_values(base, at, reach, one, two)
            out = [x.xreplace(values) for x in out]
    return out


def _bessel_ratios(x: Expr) -> Expr:
    """Quotients of I_{ν+k} at one argument in terms of T = I_{ν+1}/(x I_ν) and the slope S.

    κ²T² = 1 − (2ν+1)T − S is used where the result is then better.
    """
    for at, (lowest, reach) in bessel_orders(x).items():
        forms: list[Expr] = []
        for base in (sp.expand(lowest + k) for k in range(min(reach, 4) + 1)):
            forms += _bessel_forms(x, at, base, lowest, reach)
        if forms:
            x = min(forms, key=_rank)
    return x


def opened(assignments: tuple[Assignment, ...], inputs: frozenset[str]) -> tuple[Assignment, ...]:
    """Assignments with the names that stand for Bessel functions written out, where they are read.

    A determinant that is I_ν to some power times a quotient of them has no ratio of its
    own; what reads it has.  What reads it is reduced input by input.
    """
    if not any(a.expr.has(sp.besseli) for a in assignments):
        return assignments
    known: dict[str, Expr] = {}
    kept = []
    for a in assignments:
        inside = {s: known[s.name] for s in a.expr.free_symbols if s.name in known}
        e = a.expr.xreplace(inside) if inside else a.expr
        if e.has(sp.besseli) and not a.name.endswith("_next"):
            known[a.name] = _shorter(e)
            continue
        if inside:
            letters = sorted((s for s in e.free_symbols if s.name in inputs), key=str)
            parts = sp.collect(sp.expand(e), letters, evaluate=False)
            e = sp.Add(*[k * special_forms(v) for k, v in parts.items()])
        kept.append(replace(a, expr=e))
    return tuple(kept)


def _shorter(x: Expr) -> Expr:
    """Sums of Bessel functions as a power of one times a quotient in the ratio of two."""
    for at, (base, reach) in bessel_orders(x).items():
        one, quotient, kappa = (sp.Dummy(n, positive=True) for n in ("I", "T", "k"))
        new = x.xreplace(bessel_values(base, at, reach, one, one * at * quotient))
        square = _squared(at)
        relations = [] if square is None else [(kappa**2 - at**2, square)]
        new = _reduced(_in_one_symbol(new, at, kappa), relations)
        here = sp.besseli(base, at)
        ratio = sp.besseli(base + 1, at) / (at * here)
        x = new.xreplace({one: here, quotient: ratio, kappa: at})
    return x


def _rank(x: Expr) -> tuple[Any, ...]:
    """Better first: no sum of Bessel functions below the line, then the shorter one."""
    divisor = sp.fraction(x)[1]
    sums = any(s.has(bessel_quotient, bessel_slope) for s in divisor.atoms(sp.Add))
    return sums, sp.count_ops(x), sp.default_sort_key(x)


def _bessel_forms(x: Expr, at: Expr, base: Expr, lowest: Expr, reach: int) -> list[Expr]:
    """The expression with T of one order, and with T and S; none where I itself stays."""
    one, quotient, slope, kappa = (sp.Dummy(n, positive=True) for n in ("I", "T", "S", "k"))
    below = int(sp.expand(base - lowest))
    values = bessel_values(base, at, reach - below, one, one * at * quotient)
    values |= bessel_values(base, at, -below, one, one * at * quotient)
    new = _in_one_symbol(x.xreplace(values), at, kappa)
    square = _squared(at)
    relations = [] if square is None else [(kappa**2 - at**2, square)]
    slopes = (kappa**2 * quotient**2 - 1 + (2 * base + 1) * quotient + slope, quotient)
    forms = [_reduced(new, relations), _reduced(new, [*relations, slopes])]
    swap = {quotient: bessel_quotient(base, at), slope: bessel_slope(base, at), kappa: at}
    return [f.xreplace(swap) for f in forms if not f.has(one)]


def _in_one_symbol(x: Expr, at: Expr, symbol: Expr) -> Expr:
    """The argument and its powers as one symbol and its powers."""
    x = x.xreplace({at: symbol})
    if not at.is_Pow or at.exp != sp.S.Half:
        return x
    return x.replace(lambda e: e.is_Pow and e.base == at.base, lambda e: symbol ** (2 * e.exp))


def _squared(at: Expr) -> Expr | None:
    """A symbol that stands only as a square in the argument √(…), None if there is none."""
    if not (at.is_Pow and at.exp == sp.S.Half):
        return None
    for v in sorted(at.free_symbols, key=lambda s: s.name, reverse=True):
        if (
            at.base.is_polynomial(v)
            and sp.degree(at.base, v) == 2
            and sp.diff(at.base, v).subs(v, 0) == 0
        ):
            return v
    return None


def _reduced(x: Expr, relations: list[tuple[Expr, Expr]]) -> Expr:
    """A quotient of polynomials in lowest terms, squares replaced by the relations."""
    parts = []
    for part in sp.fraction(sp.together(x)):
        polynomial = sp.expand(part)
        for relation, v in relations:
            try:
                polynomial = sp.rem(polynomial, relation, v)
            except sp.PolynomialError:
                return x
        parts.append(polynomial)
    top, bottom = sp.fraction(sp.cancel(parts[0] / parts[1]))
    return sp.factor_terms(top) / sp.factor(bottom)
