"""∇_μ E_q[ℓ] of a product: each factor by the route that it allows, the others held in E_q.

∇_{μ_k} E_q[ℓ] is the k-th factor's gradient for the loss E_{q∖k}[ℓ], which a concrete loss
gives where it is found (`mean_field`); elsewhere the factor asks for what an abstract one would.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.core import Probe
from blrgen.expect.expectation import Expectation, NoRoute
from blrgen.expect.mean_field import factor_losses
from blrgen.expect.moments import Split
from blrgen.expect.routes import expectation_of
from blrgen.geometry.product import Product

if TYPE_CHECKING:
    from blrgen.geometry.geometry import Geometry

Expr = Any
_ORDER = {1: ("derivative", "∂ℓ/∂{x}"), 2: ("second derivative", "∂²ℓ/∂{x}²")}


def product_expectation(geometry: Product, current: bool = False, loss: Expr = None) -> Expectation:
    """The factors' expectations, every probe with a name of its own."""
    own = (None,) * len(geometry.factors)
    if loss is not None:
        own = factor_losses(geometry.factors, loss)
    parts = tuple(
        _exact(g, k, f, current) or _apart(g, k, current)
        for k, (g, f) in enumerate(zip(geometry.factors, own, strict=True), 1)
    )
    exact = loss is not None and not any(p.probes for p in parts)
    gradients = tuple(e for part in parts for e in part.mean_gradient)
    because = "; ".join(
        f"{g.family.variable}: {p.route}" for g, p in zip(geometry.factors, parts, strict=True)
    )
    return Expectation(
        "product",
        f"mean field, factor by factor ({because}); the expectations run over all factors",
        tuple(replace(x, at="score") for part in parts for x in part.probes),
        gradients,
        (),
        factors=parts,
        metric=tuple(pair for part in parts for pair in part.metric),
        split=Split((), loss, sp.S.Zero, sp.S.Zero) if exact else None,
        current=current,
    )


def _exact(geometry: Geometry, k: int, loss: Expr | None, current: bool) -> Expectation | None:
    """A factor whose gradient is found without asking; None where something would be left."""
    if loss is None:
        return None
    try:
        found = expectation_of(geometry, loss, "moments", current=current)
    except NoRoute:
        return None
    return replace(_renamed(geometry, found, k), working_gradient=())


def _apart(geometry: Geometry, k: int, current: bool) -> Expectation:
    """A factor's expectation as for an abstract loss."""
    found = _renamed(geometry, expectation_of(geometry, current=current), k)
    return replace(found, working_gradient=(), identities=(), orders=(), operators=())


def _renamed(geometry: Geometry, found: Expectation, k: int) -> Expectation:
    """With _k behind the names of probes and of the letters of F⁻¹."""
    names = (*(p.symbol for p in found.probes), *(s for s, _ in found.metric))
    table = {s: _called(geometry, s, f"{s.name}_{k}") for s in names}
    return replace(
        found,
        probes=tuple(_probe(geometry, p, table[p.symbol]) for p in found.probes),
        mean_gradient=tuple(e.xreplace(table) for e in found.mean_gradient),
        metric=tuple((table[s], e.xreplace(table)) for s, e in found.metric),
    )


def _called(geometry: Geometry, x: Expr, name: str) -> Expr:
    return geometry.ring.symbol_like(x, name)


def _probe(geometry: Geometry, p: Probe, symbol: Expr) -> Probe:
    """The probe under its own name, its meaning with respect to this factor's variable."""
    meaning, x = p.meaning, geometry.family.variable
    if not meaning and p.order in _ORDER and p.at == "q":
        name, formula = _ORDER[p.order]
        meaning = f"𝔼_q[{formula.format(x=x)}]: the {name} of the loss in {x}, in expectation"
    elif not meaning:
        meaning = f"𝔼_q[ℓ | {x} = {p.at}]: the expected loss with {x} held there"
    return replace(p, name=symbol.name, symbol=symbol, meaning=meaning, text="", latex="",
                   formula=("", ""))  # fmt: skip
