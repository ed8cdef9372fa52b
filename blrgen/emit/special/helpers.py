"""The table of helpers: what each is called, what it means, how its text is made."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from math import factorial
from typing import Any

from blrgen.emit.special import coefficients as co
from blrgen.emit.special import debye
from blrgen.emit.templates import fill, keys
from blrgen.emit.text import WIDTH

Expr = Any
SHIFT = 8  # arguments are moved up by this much before an asymptotic series is used
ODD = 35  # the last power of w = 1/(2x + 1) that counts beside w, for x ≥ 1
FITTED = (24, 19)  # numbers in the two polynomials of log Γ
ORDERS, DEBYE = 16, 8  # by how much the order of a Bessel function is raised; terms there
QUIET = '@np.errstate(all="ignore")'
JITTED = '@njit(cache=True, error_model="numpy")'


@dataclass(frozen=True)
class Helper:
    """An emitted function.

    `ranges` are the decades in which it is checked, one (low, high) an argument (a sign
    before it when negative arguments count as well), `near` points that are checked too,
    `scale` what an error is compared with where the value may pass through zero and
    `reference` the value in mpmath where `meaning` has no number of its own; `allowed` is
    the error in roundings that a check lets pass.
    """

    name: str
    template: str
    meaning: Callable[..., Expr]
    values: Mapping[str, str] = field(default_factory=dict)
    ranges: tuple[tuple[float, float], ...] = ((-12, 12),)
    near: tuple[tuple[float, ...], ...] = ()
    signed: bool = False
    says: str = ""
    scale: Callable[..., Any] | None = None
    reference: Callable[..., Any] | None = None
    allowed: float = 4.0

    def source(self, target: str) -> str:
        """The text for a target."""
        jitted = target == "numba"
        given = {
            "decorator": JITTED if jitted else QUIET,
            "real": "type(x)" if jitted else "x.dtype.type",
            "where": "_where" if jitted else "np.where",
            **self.values,
        }
        name = f"special/{self.template}.py.jinja"
        text = fill(name, **{k: given[k] for k in keys(name)})
        arguments = re.findall(r"(\w+): Array", text.split("->")[0])
        if arguments:  # the array whose type all numbers take
            given["real"] = given["real"].replace("x", arguments[0])
        if "far" in given:
            given["far"] = given["far"].replace("{where}", given["where"])
        return fill(name, **{k: given[k] for k in keys(name)})


def rows(numbers: Any, indent: int = 8) -> str:
    """Numbers of a tuple, as many a line as fit."""
    lines, line = [], " " * indent
    for x in numbers:
        text = _text(x) + ","
        if len(line) + len(text) + 1 > WIDTH:
            lines.append(line.rstrip())
            line = " " * indent
        line += text + " "
    return "\n".join([*lines, line.rstrip()])


def _text(x: Any) -> str:
    number = float(x)
    return repr(number)


def _digamma(x: Expr) -> Expr:
    import sympy as sp

    return sp.digamma(x)


def _polygamma(order: int) -> Callable[[Expr], Expr]:
    def meaning(x: Expr) -> Expr:
        import sympy as sp

        return sp.polygamma(order, x)

    return meaning


def _trigamma_rest(x: Expr) -> Expr:
    import sympy as sp

    return sp.polygamma(1, x) - 1 / x


def _log_minus_digamma(x: Expr) -> Expr:
    import sympy as sp

    return sp.log(x) - sp.digamma(x)


def _loggamma(x: Expr) -> Expr:
    import sympy as sp

    return sp.loggamma(x)


def _loggamma_ratio(a: Expr, b: Expr) -> Expr:
    import sympy as sp

    return sp.loggamma(a + b) - sp.loggamma(a)


def _log_beta(a: Expr, b: Expr) -> Expr:
    import sympy as sp

    return sp.loggamma(a) + sp.loggamma(b) - sp.loggamma(a + b)


def polygamma_helper(order: int) -> Helper:
    """ψ⁽ⁿ⁾ for a whole n ≥ 1."""
    shift = SHIFT + order
    terms = co.polygamma_terms(order, shift)
    sign = -1 if order % 2 == 0 else 1
    primes = {1: "ψ′", 2: "ψ″", 3: "ψ‴"}
    return Helper(
        "_trigamma" if order == 1 else f"_polygamma_{order}",
        "polygamma",
        _polygamma(order),
        {
            "name": "_trigamma" if order == 1 else f"_polygamma_{order}",
            "symbol": primes.get(order, f"ψ⁽{order}⁾"),
            "order": str(order),
            "shift": str(shift),
            "power": str(order + 1),
            "factor": f"{float(sign * factorial(order))!r}",
            "first": repr(float(Fraction(1, order))),
            "last": " * ".join(["inverse"] * (order + 1)),
            "powers": " * ".join(["inverse"] * order),
            "series": rows(reversed(terms)),
        },
        ranges=((-290 / (order + 1), 290 / (order + 1)),),
        near=((1.0,), (2.0,), (8.0,)),
        says=f"polygamma({order}, x)",
    )


def digamma() -> Helper:
    """ψ."""
    high, middle, low = co.digamma_root()
    root = high + middle
    return Helper(
        "_digamma",
        "digamma",
        _digamma,
        {
            "shift": str(SHIFT),
            "high": repr(high),
            "middle": repr(middle),
            "low": repr(low),
            "series": rows(reversed(co.digamma_series(SHIFT))),
        },
        ranges=((-300, 300),),
        near=tuple((root + d,) for d in (0.0, 1e-15, -1e-12, 1e-6, -1e-3, 0.1)),
        says="digamma(x)",
    )


def trigamma_rest() -> Helper:
    """ψ′ without its leading term."""
    return Helper(
        "_trigamma_rest",
        "trigamma_rest",
        _trigamma_rest,
        {
            "shift": str(SHIFT),
            "series": rows(reversed(co.cut(lambda k: co.bernoulli(2 * k), SHIFT))),
        },
        ranges=((-150, 150),),
        near=((1.0,), (8.0,)),
        says="polygamma(1, x) - 1/x",
    )


def log_minus_digamma() -> Helper:
    """Log x − ψ(x)."""
    return Helper(
        "_log_minus_digamma",
        "log_minus_digamma",
        _log_minus_digamma,
        {
            "shift": str(SHIFT - 1),
            "odd": str(ODD),
            "series": rows(reversed(co.digamma_terms(SHIFT))),
        },
        ranges=((-300, 300),),
        near=((0.999999,), (1.0,), (2.0,), (8.0,)),
        says="log(x) - digamma(x)",
    )


def loggamma() -> Helper:
    """Log Γ."""
    offsets = (-1e-9, -1e-3, 1e-12, 0.2)
    return Helper(
        "_loggamma",
        "loggamma",
        _loggamma,
        {
            "large": str(SHIFT),
            "stirling": rows(reversed(co.stirling_terms(SHIFT))),
            "first": rows(co.loggamma_fit(1, FITTED[0])),
            "second": rows(co.loggamma_fit(2, FITTED[1])),
            "constant": repr(co.decimal("half log 2 pi e")),
        },
        ranges=((-300, 300),),
        near=tuple((z + d,) for z in (1.0, 2.0, 3.0, 8.0) for d in offsets),
        says="loggamma(x)",
    )


def loggamma_ratio() -> Helper:
    """The logarithm of a ratio of Gamma functions."""
    return Helper(
        "_loggamma_ratio",
        "loggamma_ratio",
        _loggamma_ratio,
        {"large": str(SHIFT), "stirling": rows(reversed(co.stirling_terms(SHIFT)))},
        ranges=((-3, 15), (-10, 10)),
        says="loggamma(a + b) - loggamma(a)",
        scale=lambda a, b, value: max(abs(value), b, _log1p(b / a)),
    )


def log_beta() -> Helper:
    """The logarithm of the Beta function."""
    return Helper(
        "_log_beta",
        "log_beta",
        _log_beta,
        {
            "large": str(SHIFT),
            "stirling": rows(reversed(co.stirling_terms(SHIFT))),
            "half_log_two_pi": repr(co.decimal("half log 2 pi")),
        },
        ranges=((-10, 10), (-10, 10)),
        says="log(beta(a, b))",
        scale=lambda a, b, value: max(abs(value), 1),
    )


def _bessel_tables() -> dict[str, str]:
    ratio, length = debye.table(debye.ratio_polynomials(DEBYE))
    return {
        "shift": str(ORDERS),
        "rows": str(DEBYE),
        "length": str(length),
        "ratio": rows(ratio),
    }


def bessel_quotient() -> Helper:
    """The ratio of two Bessel functions over the argument."""

    def meaning(order: Expr, x: Expr) -> Expr:
        import sympy as sp

        return sp.besseli(order + 1, x) / (x * sp.besseli(order, x))

    return Helper(
        "_bessel_quotient",
        "bessel_quotient",
        meaning,
        _bessel_tables(),
        ranges=((-2, 2), (-6, 6)),
        near=((0.0, 0.5), (0.0, 16.5), (0.0, 100.0), (0.0, 1e5), (0.5, 30.0), (3.5, 25.0)),
        says="besseli(n + 1, x)/(x besseli(n, x))",
        reference=lambda order, x: _ratio_of_bessel(order, x) / x,
    )


def bessel_slope() -> Helper:
    """The derivative of the ratio of two Bessel functions."""

    def meaning(order: Expr, x: Expr) -> Expr:
        import sympy as sp

        ratio = sp.besseli(order + 1, x) / sp.besseli(order, x)
        return 1 - ratio**2 - (2 * order + 1) * ratio / x

    def reference(order: Any, x: Any) -> Any:
        import mpmath

        with mpmath.workdps(100):
            ratio = _ratio_of_bessel(order, x)
            return 1 - ratio**2 - (2 * order + 1) * ratio / x

    slope, length = debye.table(debye.slope_polynomials(DEBYE))
    ratio, _ = debye.table(debye.ratio_polynomials(DEBYE), length)
    return Helper(
        "_bessel_slope",
        "bessel_slope",
        meaning,
        {**_bessel_tables(), "length": str(length), "ratio": rows(ratio), "slope": rows(slope)},
        ranges=((-2, 2), (-6, 6)),
        near=((0.0, 0.5), (0.0, 10.0), (0.0, 100.0), (0.0, 1e5), (0.5, 30.0)),
        says="the derivative of besseli(n + 1, x)/besseli(n, x)",
        reference=reference,
        allowed=4.0 * ORDERS**2,  # each step down may double what is lost at large arguments
    )


def _ratio_of_bessel(order: Any, x: Any) -> Any:
    import mpmath

    return mpmath.besseli(order + 1, x) / mpmath.besseli(order, x)


def where() -> Helper:
    """A choice between two numbers, for Numba."""
    return Helper("_where", "where", lambda c, a, b: None, ranges=())


def _log1p(x: Any) -> Any:
    import mpmath

    return mpmath.log1p(x)


def _inverse_of_digamma(y: Any) -> Any:
    """By Newton's method, at mpmath's precision."""
    import mpmath

    x = mpmath.exp(y) + mpmath.mpf(1) / 2 if y > -2 else -1 / (y + mpmath.euler)
    for _ in range(60):
        step = (mpmath.digamma(x) - y) / mpmath.polygamma(1, x)
        x = x - step if step < x else x / 2
        if abs(step) <= abs(x) * mpmath.eps:
            break
    return x


def inverse_digamma() -> Helper:
    """The inverse of ψ, a function of its own in the rules."""

    def meaning(y: Expr) -> Expr:
        import sympy as sp

        return sp.Function("inverse_digamma")(y)

    return Helper(
        "_inverse_digamma", "inverse_digamma", meaning,
        {
            "euler": repr(co.decimal("euler")),
            "series": rows(reversed(co.midpoint_terms(7)), 12),
        },
        ranges=((-6, 2.8),),
        signed=True,
        near=((2.0,), (1.9999999,), (-2.22,), (-1e200,), (709.0,)),
        says="the x > 0 with digamma(x) = y",
        reference=_inverse_of_digamma,
    )  # fmt: skip


def uniform_cumulant(order: int) -> Helper:
    """The derivatives of log((eˣ − 1)/x), whole at 0."""

    def meaning(x: Expr) -> Expr:
        from blrgen.algebra.special import uniform_cumulant as node

        return node(order, x)

    def reference(x: Any) -> Any:
        from blrgen.algebra.special import uniform_cumulant_value

        return uniform_cumulant_value(order, x)

    reach = Fraction(3) if order < 2 else Fraction(7, 2) if order == 2 else Fraction(9, 2)
    first = {0: "real(0.5) * x + u * series", 1: "real(0.5) + x * series"}
    near = first.get(order, "series" if order % 2 == 0 else "x * series")
    lines = ["s = real(1) / np.expm1(z)", "power = real(0)"]
    bose = ", ".join(f"{float(c)!r}" for c in reversed(co.bose_polynomial(max(order, 1))))
    lines += [f"for c in ({bose}):", "    power = power * s + real(c)"]
    inverse = " / z" * order
    sign = "-" if order % 2 else ""
    lines.append(f"far = power + real({sign}{float(factorial(max(order - 1, 0)))!r}){inverse}")
    if order == 0:
        lines = [
            "far = np.maximum(x, real(0)) + np.log(-np.expm1(-z)) - np.log(z)",
        ]
    elif order % 2:
        lead = "real(1) + far" if order == 1 else "far"
        lines.append(f"far = {{where}}(x < real(0), -far, {lead})")
    return Helper(
        f"_uniform_cumulant_{order}",
        "uniform_cumulant",
        meaning,
        {
            "name": f"_uniform_cumulant_{order}",
            "order": str(order),
            "reach": repr(float(reach)),
            "series": rows(reversed(co.cumulant_terms(order, reach))),
            "near": near,
            "far": "\n".join(f"    {line}" for line in lines),
        },
        ranges=((-12, 2.5),),
        near=((2.999,), (-3.001,), (3.6,), (-4.4,), (4.6,), (30.0,)),
        signed=True,
        says=f"derivative {order} of log((exp(x) - 1)/x)",
        reference=reference,
        allowed=4.0 if order < 3 else 64.0,
    )


BUILDERS: dict[str, Callable[[], Helper]] = {
    "_digamma": digamma,
    "_trigamma_rest": trigamma_rest,
    "_log_minus_digamma": log_minus_digamma,
    "_inverse_digamma": inverse_digamma,
    "_loggamma": loggamma,
    "_loggamma_ratio": loggamma_ratio,
    "_log_beta": log_beta,
    "_bessel_quotient": bessel_quotient,
    "_bessel_slope": bessel_slope,
    "_where": where,
}


@cache
def helper(name: str) -> Helper | None:
    """The helper of that name in emitted code, None for any other name."""
    if name in BUILDERS:
        return BUILDERS[name]()
    cumulant = re.fullmatch(r"_uniform_cumulant_(\d)", name)
    if cumulant is not None:
        return uniform_cumulant(int(cumulant[1]))
    order = re.fullmatch(r"_polygamma_([1-9]\d?)", name)
    if name == "_trigamma" or order is not None:
        return polygamma_helper(1 if order is None else int(order[1]))
    return None


def needed(code: str, target: str) -> list[str]:
    """The texts of all helpers that the code calls, and that those call, each once."""
    texts: dict[str, str] = {}
    waiting = [code]
    while waiting:
        for name in re.findall(r"(?<![\w.])(_[a-z]\w*)\(", waiting.pop(0)):
            found = helper(name) if name not in texts else None
            if found is not None:
                texts[name] = found.source(target)
                waiting.append(texts[name])
    return list(texts.values())
