"""Functions with a removable singularity."""

from __future__ import annotations

from fractions import Fraction
from math import factorial
from typing import Any

from blrgen.emit.special import coefficients as co
from blrgen.emit.special.helper import Expr, Helper, rows


def uniform_cumulant(order: int) -> Helper:
    """The derivatives of log((eˣ − 1)/x), whole at 0."""

    def meaning(x: Expr) -> Expr:
        from blrgen.algebra.special import uniform_cumulant as node

        return node(order, x)

    def reference(x: Any) -> Any:
        from blrgen.algebra.special import uniform_cumulant_value

        return uniform_cumulant_value(order, x)

    def beside_zeros(x: Any, value: Any) -> Any:
        """From the fourth on they have zeros; their size there is that of the nearest pole."""
        return max(abs(value), factorial(order - 1) / (39.5 + x * x) ** (order / 2))

    poles = 0 if order < 3 else 1  # the next ones make a series that has one sign up to there
    reach = Fraction(7) if poles else Fraction(3) if order < 2 else Fraction(7, 2)
    first = {0: "real(0.5) * x + x * x * series", 1: "real(0.5) + x * series"}
    near = first.get(order, "series" if order % 2 == 0 else "x * series")
    if poles:
        near += " + pole"
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
        lines.append(f"far = _where(x < real(0), -far, {lead})")
    return Helper(
        f"_uniform_cumulant_{order}",
        meaning,
        {
            "name": f"_uniform_cumulant_{order}",
            "order": str(order),
            "reach": repr(float(reach)),
            "series": rows(reversed(co.cumulant_terms(order, reach, poles))),
            "poles": _poles(order) if poles else "",
            "near": near,
            "far": "\n".join(f"    {line}" for line in lines),
        },
        ranges=((-12, 2.5),),
        near=((2.999,), (-3.001,), (3.6,), (-4.4,), (4.6,), (-6.9,), (7.1,), (30.0,)),
        signed=(0,),
        says=f"derivative {order} of log((exp(x) - 1)/x)",
        reference=reference,
        scale=beside_zeros if order > 3 else None,
        allowed=4.0 if order < 4 else 16.0,
        template="uniform_cumulant",
        uses=("_real_of", "_where"),
    )


def _poles(order: int) -> str:
    """The pair of poles at ±2πi, as lines of the emitted function."""
    c, polynomial = co.pole_pair(order)
    numbers = ", ".join(f"{float(x)!r}" for x in polynomial)
    lines = [
        f"y = x / real({co.decimal('2 pi')!r})",
        "pole, bell = real(0), real(1) / (real(1) + y * y)",
        f"for c in ({numbers}):",
        "    pole = pole * (y * y) + real(c)",
        f"pole = pole * real({c!r})" + (" * y" if order % 2 else ""),
        f"for _ in range({order}):",
        "    pole = pole * bell",
    ]
    return "".join(f"    {line}\n" for line in lines)
