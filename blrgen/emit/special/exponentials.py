"""Logarithms of sums and differences of exponentials, where those overflow or cancel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath

from blrgen.emit.special.helper import Expr, Helper

_TURN = -0.6931471805599453  # −log 2, where either form is as good
_NEAR = ((1.0,), (0.999,), (1e-300,), (0.6931471805599453,), (1000.0,), (40.0,))


def _helper(
    name: str, says: str, meaning: Callable[..., Expr], reference: Callable[..., Any], **more: Any
) -> Helper:
    values = {"turn": repr(_TURN), "log_two": repr(-_TURN)}
    return Helper(
        f"_{name}", meaning, values, says=says, reference=reference,
        ranges=more.pop("ranges", ((-12, 2.8),)), near=more.pop("near", _NEAR), **more,
    )  # fmt: skip


def _beside_one(x: Any, value: Any) -> Any:
    """What an error is compared with where the value passes through 0."""
    return max(abs(value), min(abs(x), 1))


def log1mexp() -> Helper:
    """log(1 − eˣ)."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.log(1 - sp.exp(x))

    return _helper(
        "log1mexp", "log(1 - exp(x))", meaning,
        lambda x: mpmath.log1p(-mpmath.exp(x)) if x < -1 else mpmath.log(-mpmath.expm1(x)),
        near=tuple((-x,) for (x,) in _NEAR), place=lambda x: (-abs(x),),
    )  # fmt: skip


def logexpm1() -> Helper:
    """log(eˣ − 1)."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.log(sp.exp(x) - 1)

    return _helper(
        "logexpm1", "log(exp(x) - 1)", meaning, lambda x: mpmath.log(mpmath.expm1(x)),
        scale=_beside_one,
    )  # fmt: skip


def logcosh() -> Helper:
    """log cosh x."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.log(sp.cosh(x))

    return _helper(
        "logcosh", "log(cosh(x))", meaning,
        lambda x: mpmath.log1p(2 * mpmath.sinh(x / 2) ** 2), signed=(0,),
        ranges=((-9, 2.8),), near=((0.999,), (1.001,), (-1000.0,), (40.0,)),
    )  # fmt: skip


def logsinh() -> Helper:
    """log sinh x."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.log(sp.sinh(x))

    return _helper(
        "logsinh", "log(sinh(x))", meaning, lambda x: mpmath.log(mpmath.sinh(x)),
        scale=_beside_one,
    )  # fmt: skip


def logaddexp() -> Helper:
    """log(eˣ + eʸ)."""

    def meaning(x: Expr, y: Expr) -> Expr:
        import sympy as sp

        return sp.log(sp.exp(x) + sp.exp(y))

    def reference(x: Any, y: Any) -> Any:
        return max(x, y) + mpmath.log1p(mpmath.exp(-abs(x - y)))

    return _helper(
        "logaddexp", "log(exp(x) + exp(y))", meaning, reference, signed=(0, 1),
        ranges=((-6, 2.8), (-6, 2.8)), near=((1000.0, 999.0), (-1000.0, -1000.0), (0.0, -40.0)),
        scale=lambda x, y, value: max(abs(value), min(abs(x) + abs(y), 1)),
    )  # fmt: skip


def one_minus_power() -> Helper:
    """What an average that started at zero is divided by: in double, before the loop."""
    return Helper(
        "_one_minus_power", lambda x, t: 1 - x**t,
        ranges=((-12, 0), (0, 6)), whole=(1,),
        place=lambda x, t: (min(x, 1 / max(x, 1e-30)), max(1, round(t))),
        near=((0.999, 2), (1 - 1e-9, 3), (0.9, 1), (0.5, 1e5), (1 - 1e-7, 1e6)),
        says="1 - x**t", numbers=True,
    )  # fmt: skip


def log_share() -> Helper:
    """log x of a probability; a proof reads it so, and of 0 a number stands for −∞."""

    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.log(x)

    return Helper(
        "_log_share", meaning, says="log(x), x > 0; of 0 a number so low that it tells",
        ranges=((-30, 0),), near=((0.0,), (1.0,), (0.999,), (1e-30,)),
        reference=lambda x: mpmath.log(x) if x else mpmath.mpf(-1e30), scale=_beside_one,
    )  # fmt: skip


def level() -> Helper:
    """x; a proof reads it so, and what is as large as a log 0 is infinite."""
    return Helper(
        "_level", lambda x: x, says="x where no log of 0 is in it",
        ranges=((-12, 12),), signed=(0,), near=((0.0,), (9.9e28,), (-9.9e28,)), allowed=0.0,
    )  # fmt: skip


BUILDERS: dict[str, Callable[[], Helper]] = {
    "_log1mexp": log1mexp,
    "_logexpm1": logexpm1,
    "_logcosh": logcosh,
    "_logsinh": logsinh,
    "_logaddexp": logaddexp,
    "_log_share": log_share,
    "_level": level,
    "_one_minus_power": one_minus_power,
}
