"""I_ν(√s)/√s^ν, the Bessel function without its branch point: whole in s, positive at s = 0.

G_ν(s) = Σ_k (s/4)^k / (2^ν k! Γ(ν + k + 1)),      G_ν′ = ½ G_{ν+1}.
"""

from __future__ import annotations

from typing import Any

import mpmath
import sympy as sp

Expr = Any


class bessel_kernel(sp.Function):  # type: ignore[misc]
    """G_ν(s) for s ≥ 0."""

    nargs = 2

    def fdiff(self, argindex: int = 1) -> Expr:
        if argindex != 2:
            raise sp.core.function.ArgumentIndexError(self, argindex)
        order, s = self.args
        return bessel_kernel(order + 1, s) / 2

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool:
        return True

    def value_at(self, args: list[Any]) -> Any:
        """The number at numeric arguments, at mpmath's precision."""
        order, s = args
        with mpmath.workdps(mpmath.mp.dps + 10):
            return mpmath.hyp0f1(order + 1, s / 4) / (2**order * mpmath.gamma(order + 1))

    def _eval_evalf(self, prec: int) -> Expr | None:
        order, s = (a.evalf(int(prec / 3.3) + 5) for a in self.args)
        if not (order.is_number and s.is_number and order.is_real and s.is_real):
            return None
        with mpmath.workprec(prec):
            found = self.value_at([mpmath.mpf(sp.Float(a, precision=prec)._mpf_)
                                   for a in (order, s)])  # fmt: skip
            return sp.Float(found, precision=prec)

    def cases(self) -> Expr:
        """By the usual function, and its value at 0 beside it where the order is a number."""
        order, s = self.args
        if order == 0 or not order.is_number:
            return self.plain()
        at_zero = 1 / (2**order * sp.gamma(order + 1))
        return sp.Piecewise((self.plain(), sp.Ne(s, 0)), (at_zero, True))

    def plain(self) -> Expr:
        """By the usual function, where s is not 0."""
        order, s = self.args
        return sp.besseli(order, sp.sqrt(s)) * s ** (-order / 2)


def log_kernel(order: Expr, s: Expr) -> Expr:
    """log G_ν(s)."""
    return sp.log(bessel_kernel(order, s))


class _OfRatio(sp.Function):  # type: ignore[misc]
    """A function of ν and s ≥ 0 that is positive, with a number at every precision."""

    nargs = 2
    letter = ""

    def _eval_is_real(self) -> bool:
        return True

    def _eval_is_positive(self) -> bool:
        return True

    def value_at(self, args: list[Any]) -> Any:
        """The number at numeric arguments, at mpmath's precision."""
        raise NotImplementedError

    def plain(self) -> Expr:
        """By the usual functions, where s is not 0."""
        raise NotImplementedError

    def at_zero(self) -> Expr:
        """The value at s = 0."""
        raise NotImplementedError

    def cases(self) -> Expr:
        """By the usual functions, and the value at 0 beside them where the order is a number."""
        if not self.args[0].is_number:
            return self.plain()
        return sp.Piecewise((self.plain(), sp.Ne(self.args[1], 0)), (self.at_zero(), True))

    def _eval_evalf(self, prec: int) -> Expr | None:
        order, s = (a.evalf(int(prec / 3.3) + 5) for a in self.args)
        if not (order.is_number and s.is_number and order.is_real and s.is_real):
            return None
        with mpmath.workprec(prec):
            values = [mpmath.mpf(sp.Float(a, precision=prec)._mpf_) for a in (order, s)]
            return sp.Float(self.value_at(values), precision=prec)


class bessel_ratio(_OfRatio):
    """T_ν(s) = G_{ν+1}(s)/G_ν(s) = I_{ν+1}(κ)/(κ I_ν(κ)) at κ = √s."""

    letter = "ratio"

    def fdiff(self, argindex: int = 2) -> Expr:
        if argindex != 2:
            raise sp.core.function.ArgumentIndexError(self, argindex)
        return -self * bessel_drop(*self.args) / 2

    def value_at(self, args: list[Any]) -> Any:
        return ratio_at(*args)

    def plain(self) -> Expr:
        """By the usual functions, where s is not 0."""
        order, s = self.args
        at = sp.sqrt(s)
        return sp.besseli(order + 1, at) / (at * sp.besseli(order, at))

    def at_zero(self) -> Expr:
        return 1 / (2 * (self.args[0] + 1))


class bessel_drop(_OfRatio):
    """D_ν = T_ν − T_{ν+1}."""

    letter = "drop"

    def fdiff(self, argindex: int = 2) -> Expr:
        if argindex != 2:
            raise sp.core.function.ArgumentIndexError(self, argindex)
        order, s = self.args
        above = bessel_ratio(order + 1, s) * bessel_drop(order + 1, s)
        return (above - bessel_ratio(order, s) * self) / 2

    def value_at(self, args: list[Any]) -> Any:
        order, s = args
        with mpmath.workdps(mpmath.mp.dps + _lost(order, s)):
            return ratio_at(order, s) - ratio_at(order + 1, s)

    def plain(self) -> Expr:
        order, s = self.args
        return bessel_ratio(order, s).plain() - bessel_ratio(order + 1, s).plain()

    def at_zero(self) -> Expr:
        return 1 / (2 * (self.args[0] + 1)) - 1 / (2 * (self.args[0] + 2))


class bessel_slope_of(_OfRatio):
    """S_ν = d(κT_ν)/dκ = T_ν (1 − s D_ν), the derivative of I_{ν+1}(κ)/I_ν(κ)."""

    letter = "slope"

    def derivative(self, x: Expr, once: Any) -> Expr:
        order, s = self.args
        return once(bessel_ratio(order, s) * (1 - s * bessel_drop(order, s)), x)

    def value_at(self, args: list[Any]) -> Any:
        order, s = args
        with mpmath.workdps(mpmath.mp.dps + 2 * _lost(order, s)):
            ratio = ratio_at(order, s)
            return 1 - s * ratio**2 - (2 * order + 1) * ratio

    def plain(self) -> Expr:
        order, s = self.args
        ratio = bessel_ratio(order, s).plain()
        return 1 - s * ratio**2 - (2 * order + 1) * ratio

    def at_zero(self) -> Expr:
        return 1 / (2 * (self.args[0] + 1))


def ratio_at(order: Any, s: Any) -> Any:
    """T_ν(s), by the confluent functions."""
    with mpmath.workdps(mpmath.mp.dps + 10):
        above, here = (mpmath.hyp0f1(order + k, s / 4) for k in (2, 1))
        return above / here / (2 * (order + 1))


def _lost(order: Any, s: Any) -> int:
    """Digits that differences of ratios lose."""
    return 10 + int(mpmath.log10(1 + abs(order) + abs(s)))


RATIOS = (bessel_ratio, bessel_drop, bessel_slope_of)


def in_ratios(x: Expr) -> Expr:
    """Quotients of G of neighbouring orders by their ratios, T (1 − s D) as S."""
    if x.has(bessel_kernel):
        x = x.replace(lambda e: e.is_Mul and e.has(bessel_kernel), _quotients)
    if x.has(bessel_drop):
        x = x.replace(lambda e: e.is_Add and e.has(bessel_drop), _slopes)
    return x


def _quotients(product: Expr) -> Expr:
    """One product: G_{ν+k} = G_ν T_ν … T_{ν+k−1}, where G_ν itself then cancels."""
    powers: dict[Expr, list[tuple[Expr, Expr]]] = {}
    rest = []
    for f in product.args:
        base, exponent = f.as_base_exp()
        if isinstance(base, bessel_kernel) and exponent.is_Integer:
            powers.setdefault(base.args[1], []).append((base.args[0], exponent))
        else:
            rest.append(f)
    for s, found in powers.items():
        first = found[0][0]
        steps = [sp.expand(order - first) for order, _ in found]
        if sum(e for _, e in found) != 0 or not all(k.is_Integer for k in steps):
            rest += [bessel_kernel(order, s) ** e for order, e in found]
            continue
        low = min(steps)
        for (_, e), k in zip(found, steps, strict=True):
            chain = [bessel_ratio(sp.expand(first + low + j), s) for j in range(int(k - low))]
            rest.append(sp.Mul(*chain) ** e)
    return sp.Mul(*rest)


def _slopes(x: Expr) -> Expr:
    """p (1 − s D) = p S/T."""
    for d in sorted(x.atoms(bessel_drop), key=sp.default_sort_key):
        order, s = d.args
        slope = sp.Add(*[a / d for a in x.args if d in sp.Mul.make_args(a)])
        level = sp.Add(*[a for a in x.args if d not in sp.Mul.make_args(a)])
        if not level.has(d) and not slope.has(d) and sp.expand(slope + s * level) == 0:
            return level * bessel_slope_of(order, s) / bessel_ratio(order, s)
    return x
