"""∂f/∂x of scalars: sums, products, powers, and functions by their own derivative.

The same rules as SymPy's `diff`, without the machinery it loads for arrays and tensors.
Logarithms of sums of exponentials keep a form that neither overflows nor cancels:

    d log(1 + eᵃ) = da/(1 + e⁻ᵃ)      d log(eᵃ + e⁻ᵃ) = d log cosh a = tanh(a) da
"""

from __future__ import annotations

from typing import Any

import sympy as sp

Expr = Any


def partial(f: Expr, x: Expr, times: int = 1) -> Expr:
    """The derivative of f with respect to a commuting symbol x, `times` times."""
    f = sp.sympify(f)
    for _ in range(times):
        f = _once(f, x)
    return f


def _once(f: Expr, x: Expr) -> Expr:
    if f == x:
        return sp.S.One
    if not f.has(x):
        return sp.S.Zero
    if f.is_Add:
        return sp.Add(*[_once(a, x) for a in f.args])
    if f.is_Mul:
        return sp.Add(*[
            sp.Mul(*f.args[:i], _once(a, x), *f.args[i + 1 :])
            for i, a in enumerate(f.args) if a.has(x)
        ])  # fmt: skip
    if f.is_Pow:
        return _power(f, x) if f.is_commutative else _matrix_power(f, x)
    if isinstance(f, sp.exp):
        return f * _once(f.args[0], x)
    if isinstance(f, sp.log):
        return _logarithm(f.args[0], x)
    if hasattr(f, "derivative"):  # functions of this package that know better than term by term
        return f.derivative(x, _once)
    if any(not a.is_commutative for a in f.args):
        return _of_matrices(f, x)
    if isinstance(f, sp.Function) and not isinstance(f, sp.Abs | sp.sign):
        return sp.Add(*[
            f.fdiff(i + 1) * _once(a, x) for i, a in enumerate(f.args) if a.has(x)
        ])  # fmt: skip
    return sp.diff(f, x)


def _of_matrices(f: Expr, x: Expr) -> Expr:
    """∂tr(M) = tr(∂M), ∂log|M| = tr(M⁻¹ ∂M), ∂(Mᵀ) = (∂M)ᵀ for a matrix that depends on x."""
    from blrgen.algebra.ranks import T, logdet, rows_of, trace
    from blrgen.algebra.words import normal

    inside, slope = f.args[0], _once(f.args[0], x)
    if isinstance(f, T):
        return T(slope)
    if isinstance(f, trace):
        return trace(slope, rows_of(inside))
    if isinstance(f, logdet):
        return trace(normal(inside**-1 * slope), rows_of(inside))
    return sp.diff(f, x)


def _matrix_power(f: Expr, x: Expr) -> Expr:
    """∂M⁻¹ = −M⁻¹ ∂M M⁻¹, and the product rule for whole powers."""
    base, exponent = f.args
    count, slope = int(exponent), _once(base, x)
    if count < 0:
        inverse = base**-1
        slope, base = -inverse * slope * inverse, inverse
    return sp.Add(*[
        sp.Mul(*[base] * i, slope, *[base] * (abs(count) - 1 - i)) for i in range(abs(count))
    ])  # fmt: skip


def _logarithm(inside: Expr, x: Expr) -> Expr:
    if isinstance(inside, sp.cosh):
        a = inside.args[0]
        return sp.tanh(a) * _once(a, x)
    if inside.is_Add and len(inside.args) == 2:
        one, other = inside.args
        if one == 1 and isinstance(other, sp.exp):
            a = other.args[0]
            return _once(a, x) / (1 + sp.exp(-a))
        if isinstance(one, sp.exp) and isinstance(other, sp.exp) and one.args[0] == -other.args[0]:
            a = one.args[0]
            return sp.tanh(a) * _once(a, x)
    return _once(inside, x) / inside


def _power(f: Expr, x: Expr) -> Expr:
    base, exponent = f.args
    if not exponent.has(x):
        return exponent * base ** (exponent - 1) * _once(base, x)
    return f * (sp.log(base) * _once(exponent, x) + exponent / base * _once(base, x))
