"""Special functions in expressions: the forms in which their digits survive.

    a ψ′(a) − 1                    → a · (ψ′(a) − 1/a)       trigamma_rest(a) in brackets
    log x − ψ(x)                   → log_minus_digamma(x)
    differences of ψ, ψ′ at two points → `falls`
    log Γ(a) + log Γ(b) − log Γ(a+b) → log_beta(a, b)
    log Γ(a+b) − log Γ(a)          → loggamma_ratio(a, b)
    I_{ν+k}(x)/I_ν(x)              → in R = x · bessel_quotient(ν, x) = I_{ν+1}(x)/I_ν(x)
    1 − R² − (2ν+1)R/x             → bessel_slope(ν, x), the derivative of R
    quotients of I_ν(√s)/√s^ν      → `kernel`: the same, whole at s = 0

The left sides lose all digits for large arguments (or overflow); the right sides do not.
Each name on the right is a function that emitted files hold when they use it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.algebra.bessel import bessel_kernel
from blrgen.algebra.multigamma import multipolygamma
from blrgen.algebra.named import (
    log_beta,
    log_minus_digamma,
    log_minus_multidigamma,
    loggamma_ratio,
    multitrigamma_rest,
    trigamma_rest,
)
from blrgen.algebra.spelling import SPECIAL, one_spelling
from blrgen.core import Assignment
from blrgen.program.bessel import bessel_ratios, by_logarithms, shorter
from blrgen.program.bessel_kernels import kernel_quotients
from blrgen.program.besselk import besselk_forms, is_concerned
from blrgen.program.cancelling import gaps_of_totals
from blrgen.program.errors import error_forms
from blrgen.program.falls import polygamma_falls, rest_falls

Expr = Any

# SymPy's name → the call's name; polygamma has a number in its name.
CALLS = {
    "loggamma": "loggamma", "digamma": "digamma", "trigamma": "trigamma",
    "digamma_rise": "digamma_rise", "trigamma_fall": "trigamma_fall",
    "trigamma_rest_fall": "trigamma_rest_fall",
    "trigamma_rest": "trigamma_rest", "log_minus_digamma": "log_minus_digamma",
    "log_beta": "log_beta", "loggamma_ratio": "loggamma_ratio",
    "bessel_quotient": "bessel_quotient", "bessel_slope": "bessel_slope",
    "bessel_bend": "bessel_bend",
    "inverse_digamma": "inverse_digamma", "multigammaln": "multigammaln",
    "multitrigamma_rest": "multitrigamma_rest",
    "log_minus_multidigamma": "log_minus_multidigamma",
    **{name: name for name in (
        "log_besselk", "besselk_ratio", "besselk_order", "besselk_order_variance",
        "besselk_order_slope", "besselk_tilt", "besselk_spread", "besselk_turan",
        "besselk_slope", "besselk_curvature", "log_besseli", "erf", "erfc", "erfcx", "log_erfc",
    )},
}  # fmt: skip


def special_forms(x: Expr) -> Expr:
    """An expression in the forms above; one without special functions as it is."""
    x = sp.sympify(x)
    if not x.has(*SPECIAL) and not is_concerned(x):
        return x
    if x.is_commutative is False:
        return _around_words(x)
    x = one_spelling(x)
    if x.has(sp.besseli):
        x = by_logarithms(bessel_ratios(by_logarithms(x, inside=True)))
    if x.has(bessel_kernel):
        x = kernel_quotients(x)
    if is_concerned(x):
        x = besselk_forms(x)
    return error_forms(_sums(x))


def _around_words(x: Expr) -> Expr:
    """The numbers in a sum of products of matrices, each by itself."""
    if not x.is_Mul:
        return x.func(*[special_forms(a) for a in x.args])
    numbers, letters = x.args_cnc()
    return special_forms(sp.Mul(*numbers)) * sp.Mul(*[special_forms(a) for a in letters])


def _sums(x: Expr) -> Expr:
    """Every sum in the form that keeps its digits, from the inside out."""
    if not x.args or not x.has(*SPECIAL):
        return x
    args = [_sums(a) for a in x.args]
    x = x.func(*args) if args != list(x.args) else x
    if not x.is_Add:
        return x
    x = gaps_of_totals(_trigamma_sum(x))
    for change in (_log_minus_digamma, polygamma_falls, _log_beta, _loggamma_ratio):
        if x.is_Add:
            x = change(x)
    return x


def _trigamma_sum(x: Expr) -> Expr:
    """ψ′ = 1/x + rest in a sum whose terms without a rest cancel."""
    atoms = x.atoms(sp.polygamma, multipolygamma)
    found = sorted((p for p in atoms if p.args[0] == 1), key=sp.default_sort_key)
    if not found:
        return x
    rest = [sp.Dummy(f"r{k}", positive=True) for k in range(len(found))]
    opened = {p: _size(p) / p.args[1] + r for p, r in zip(found, rest, strict=True)}
    try:
        polynomial = sp.Poly(x.xreplace(opened), *rest)
    except sp.PolynomialError:
        return x
    zero = (0,) * len(rest)
    if sp.cancel(polynomial.as_dict().get(zero, sp.S.Zero)) != 0:
        return x
    terms = []
    for powers, c in sorted(polynomial.as_dict().items()):
        kept = [r**k for r, k in zip(rest, powers, strict=True)]
        terms.append(sp.Mul(sp.factor_terms(sp.cancel(c)), *kept))
    form = sp.Add(*terms)
    if all(_size(p) == 1 for p in found):
        form = rest_falls(form, rest, [p.args[1] for p in found])
    return form.xreplace({r: _rest(p) for r, p in zip(rest, found, strict=True)})


def _size(p: Expr) -> Expr:
    """The d of ψ_d, 1 for ψ."""
    return p.args[2] if isinstance(p, multipolygamma) else sp.S.One


def _rest(p: Expr) -> Expr:
    """ψ′ without its leading term."""
    return multitrigamma_rest(*p.args[1:]) if _size(p) != 1 else trigamma_rest(p.args[1])


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
    psi = _collected(x, lambda f: isinstance(f, sp.polygamma | multipolygamma) and f.args[0] == 0)
    for f, c in psi.items():
        a, size = f.args[1], _size(f)
        logarithm = sp.log(a)
        split = sp.Add.make_args(logarithm)
        there = _collected(x, lambda g: isinstance(g, sp.log))
        if all(isinstance(p, sp.log) and sp.expand(there.get(p, 0) + c * size) == 0 for p in split):
            less = log_minus_digamma(a) if size == 1 else log_minus_multidigamma(a, size)
            x = x - c * f + sp.expand(c * size * logarithm) - c * less
    return x


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


def opened(assignments: tuple[Assignment, ...], inputs: frozenset[str]) -> tuple[Assignment, ...]:
    """Assignments with the names that stand for Bessel functions written out, where they are read.

    A determinant that is I_ν to some power times a quotient of them has no ratio of its
    own; what reads it has.  What reads it is reduced input by input.
    """
    if not any(a.expr.has(sp.besseli, bessel_kernel) for a in assignments):
        return assignments
    known: dict[str, Expr] = {}
    kept = []
    for a in assignments:
        inside = {s: known[s.name] for s in a.expr.free_symbols if s.name in known}
        e = a.expr.xreplace(inside) if inside else a.expr
        if e.has(sp.besseli, bessel_kernel) and not a.name.endswith("_next"):
            known[a.name] = shorter(e)
            continue
        if inside:
            letters = sorted((s for s in e.free_symbols if s.name in inputs), key=str)
            parts = sp.collect(sp.expand(e), letters, evaluate=False)
            e = sp.Add(*[_times(k, special_forms(v)) for k, v in parts.items()])
        kept.append(replace(a, expr=e))
    return tuple(kept)


def _times(letter: Expr, x: Expr) -> Expr:
    """A product with a sum of negative terms, the sign in front."""
    minus = x.is_Add and all(a.could_extract_minus_sign() for a in x.args)
    return -letter * sp.Add(*[-a for a in x.args]) if minus else letter * x
