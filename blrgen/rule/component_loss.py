"""A concrete loss of a vector by its components, where a rule probes it.

∇ℓ: ∂ℓ/∂x_k        Δℓ: Σ_k ∂²ℓ/∂x_k², the trace of the Hessian
"""

from __future__ import annotations

from typing import Any

from blrgen.algebra.components import block, slope, total, varies
from blrgen.core import Derivation, Probe

Expr = Any


def component_value(d: Derivation, probe: Probe, loss: Expr) -> Expr | None:
    """What the probe is for this loss; None where it stays an input."""
    x = d.family.variable
    if probe.stand_in or probe.at not in ("m", "q", "theta") or probe.order == 0:
        return None
    value = slope(loss, x)
    if probe.order == 2:
        second = block(value, x)
        spread = second.diagonal + sum((u * w for u, w in second.outer), start=0)
        value = total(spread, x.size) / x.size
    if probe.at == "theta":
        return value.xreplace({x: d.rule["theta"].symbol})
    mean = dict(d.rule.posterior).get("mean", d.facts.place)
    if mean is None or (probe.at == "q" and not _affine(value, x)):
        return None
    return d.geometry.ring.tidy(value.xreplace({x: mean}))


def _affine(f: Expr, x: Expr) -> bool:
    """Whether f is affine in x: then E[f(x)] = f(E[x])."""
    if not varies(f):
        return not slope(f, x).has(x)
    b = block(f, x)
    return not any(part.has(x) for part in (b.diagonal, *(p for pair in b.outer for p in pair)))
