"""∇_μ E_q[log h]: the part of ∇_μ𝓗 that is not −λ, by what the base measure is.

* constant: it is zero;
* span: log h = c₀ + ⟨c, T⟩, and it is c exactly;
* closed: E_q[log h] has a closed form, and it is F⁻¹∇_λ of that;
* open: no closed form; log h joins the loss under the expectation that the caller supplies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.nodes import has_nodes
from blrgen.algebra.partial import NoDerivative
from blrgen.errors import InternalError, UserError
from blrgen.expect.moments import expected_value, span
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import log_base
from blrgen.geometry.numbers.nodes import variables

Expr = Any


@dataclass(frozen=True)
class LogBase:
    """Which case a family is in, and ∇_μ E_q[log h] in natural coordinates (None: open)."""

    case: str  # "constant" | "span" | "closed" | "open"
    gradient: tuple[Expr, ...] | None
    because: str


def log_base_of(geometry: Geometry) -> LogBase:
    """The case of the family, by the first that applies."""
    family = geometry.family
    log_h = sp.sympify(log_base(family))
    none = tuple(sp.S.Zero for _ in geometry.natural)
    if not any(log_h.has(x) for x in variables(family)):
        return LogBase(
            "constant", none,
            "𝓗 = A − ⟨λ, μ⟩, and ∇_μ𝓗 = −λ because the base measure is constant",
        )  # fmt: skip
    general = "𝓗 = A − ⟨λ, μ⟩ − 𝔼_q[log h], and "
    found = span(log_h, family)
    if found is None and geometry.absorbed_base is not None:  # on a few points every log h is
        found = geometry.absorbed_base[1]
    if found is not None:
        return LogBase(
            "span", found,
            general + "log h = ⟨c, T⟩ + constant is in the span of the statistics: ∇_μ𝓗 = −λ − c",
        )  # fmt: skip
    gradient = _closed(geometry, log_h)
    if gradient is not None:
        return LogBase("closed", gradient, general + "∇_μ𝓗 = −λ − ∇_μ𝔼_q[log h]: h depends on θ")
    return LogBase(
        "open", None,
        general + "∇_μ𝓗 = −λ − ∇_μ𝔼_q[log h]: this expectation was not found in closed form, "
        "so log h joins the loss under 𝔼_q below",
    )  # fmt: skip


def _closed(geometry: Geometry, log_h: Expr) -> tuple[Expr, ...] | None:
    try:
        value = geometry.expected_log_base
    except (UserError, InternalError):
        value = expected_value(log_h, geometry)
    if value is None or has_nodes(value):
        value = expected_value(log_h, geometry)
    if value is None or has_nodes(value):
        return None
    try:
        return geometry.mean_gradient_of(value)
    except (InternalError, NoDerivative):
        return None
