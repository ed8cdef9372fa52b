"""∂f/∂x of scalars: sums, products, powers, and functions by their own derivative.

The same rules as SymPy's `diff`, without the machinery it loads for arrays and tensors.
Logarithms of sums of exponentials keep a form that neither overflows nor cancels:

    d log(1 + eᵃ) = da/(1 + e⁻ᵃ)      d log(eᵃ + e⁻ᵃ) = d log cosh a = tanh(a) da
    d log Σ cₖ e^{aₖ} = Σ daₖ / Σⱼ (cⱼ/cₖ) e^{aⱼ − aₖ}

and Bessel functions enter as quotients of neighbours, R = I_{ν+1}/I_ν or K_{ν+1}/K_ν:

    d log I_ν(z) = R + ν/z       dR = 1 − (2ν+1)R/z − R²
    d log K_ν(z) = −R + ν/z      dR = R² − (2ν+1)R/z − 1
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

Expr = Any
_EXPONENTIALS = 6  # in a sum under a logarithm, up to which it is differentiated term by term


LOG_SLOPES: dict[Any, Callable[..., Expr]] = {}  # d log f by the first argument, where it is known


class NoDerivative(Exception):
    """A function has no derivative in closed form, such as a Bessel function in its order."""


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
    if f.is_Mul and f.has(sp.besseli, sp.besselk):
        quotient = _bessel_quotient(f, x)
        if quotient is not None:
            return quotient
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
    slopes = corner_slopes(f)
    if slopes is not None:
        return sp.Add(*[d * _once(a, x) for d, a in zip(slopes, f.args, strict=True) if a.has(x)])
    if isinstance(f, sp.Function):
        return sp.Add(*[
            _slope(f, i) * _once(a, x) for i, a in enumerate(f.args) if a.has(x)
        ])  # fmt: skip
    return sp.diff(f, x)


def corner_slopes(f: Expr) -> tuple[Expr, ...] | None:
    """The slopes of what has a corner or a jump, one an argument; None for anything else.

    d|a| = sign(a) da, d max(a, b, …) = Σ da Π ½(1 + sign(a − b)) and d sign(a) = 2δ(a) da,
    where δ is for `without_jumps` to take away or to find left.
    """
    if isinstance(f, sp.Abs):
        return (sp.sign(f.args[0]),)
    if isinstance(f, sp.sign):
        return (2 * sp.DiracDelta(f.args[0]),)
    if isinstance(f, sp.Max | sp.Min):
        up = 1 if isinstance(f, sp.Max) else -1
        return tuple(
            sp.Mul(*[(1 + sp.sign(up * (a - b))) / 2 for b in f.args if b != a]) for a in f.args
        )
    return None


def without_jumps(f: Expr) -> Expr:
    """The terms g δ(a) in which g is 0 where a is; a δ that is left is no function."""
    if not f.has(sp.DiracDelta):
        return f
    kept = []
    for term in sp.Add.make_args(sp.expand(f)):
        jumps = [t for t in term.args_cnc()[0] if isinstance(t, sp.DiracDelta)]
        if len(jumps) != 1 or not _vanishes(term / jumps[0], jumps[0].args[0]):
            kept.append(term)
    return sp.Add(*kept)


def _vanishes(g: Expr, a: Expr) -> bool:
    """Whether g is 0 where a is, for an a that is linear in one of its symbols."""
    for x in sorted(a.free_symbols, key=str):
        slope = sp.diff(a, x) if x.is_commutative else x
        if not slope.has(x) and slope != 0:
            return bool(sp.expand(g.subs(x, sp.expand(x - a / slope))) == 0)
    return False


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
    if inside.is_Add:
        exponentials = _exponentials(inside, x)
        if exponentials is not None:
            return exponentials
    if isinstance(inside, sp.besseli | sp.besselk):
        sign, after = _after(inside)
        order, z = inside.args
        moved = _slope(inside, 0) / inside * _once(order, x) if order.has(x) else sp.S.Zero
        return moved + (sign * after / inside + order / z) * _once(z, x)
    return _once(inside, x) / inside


def _exponentials(inside: Expr, x: Expr) -> Expr | None:
    """d log Σ cₖ e^{aₖ}: no exponential of a large number is divided by another."""
    if len(inside.args) > _EXPONENTIALS:
        return None
    terms = []
    for term in inside.args:
        exps = [a for a in sp.Mul.make_args(term) if isinstance(a, sp.exp)]
        level = sp.Add(*[a.args[0] for a in exps])
        terms.append((sp.Mul(*[a for a in sp.Mul.make_args(term) if a not in exps]), level))
    if any(c.has(x) for c, _ in terms):
        return None
    return sp.Add(*[
        _once(a, x) / sp.Add(*[d / c * sp.exp(b - a) for d, b in terms])
        for c, a in terms if a.has(x)
    ])  # fmt: skip


def _slope(f: Expr, i: int) -> Expr:
    """∂f in its i-th argument."""
    if isinstance(f, sp.besseli | sp.besselk) and i == 1:
        sign, after = _after(f)
        return sign * after + f.args[0] / f.args[1] * f
    if isinstance(f, sp.besselk) and LOG_SLOPES:
        return f * LOG_SLOPES[sp.besselk](*f.args)
    try:
        found = f.fdiff(i + 1)
    except sp.core.function.ArgumentIndexError:
        found = None
    if found is None or found.has(sp.Derivative):
        raise NoDerivative(f"no derivative of {f.func.__name__} in argument {i + 1}")
    return found


def _after(f: Expr) -> tuple[int, Expr]:
    """The function of the next order, and the sign with which it enters the derivative."""
    order, z = f.args
    return (1 if isinstance(f, sp.besseli) else -1), f.func(sp.expand(order + 1), z)


def _bessel_quotient(f: Expr, x: Expr) -> Expr | None:
    """The derivative of a product that holds a power of R."""
    below = [a for a in f.args if a.is_Pow and a.exp.is_Integer and a.exp < 0
             and isinstance(a.base, sp.besseli | sp.besselk)]  # fmt: skip
    for b in below:
        order, z = b.base.args
        sign, after = _after(b.base)
        times = -b.exp
        if after**times not in f.args or order.has(x):
            continue
        rest = sp.Mul(*[a for a in f.args if a not in (b, after**times)])
        ratio = after / b.base
        inner = sign * (1 - ratio**2) - (2 * order + 1) / z * ratio
        power = times * ratio ** (times - 1) * inner * _once(z, x)
        return _once(rest, x) * ratio**times + rest * power
    return None


def _power(f: Expr, x: Expr) -> Expr:
    base, exponent = f.args
    if not exponent.has(x):
        return exponent * base ** (exponent - 1) * _once(base, x)
    return f * (sp.log(base) * _once(exponent, x) + exponent / base * _once(base, x))
