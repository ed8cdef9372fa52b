"""∇_μ E_q[ℓ] for vectors by their components: sums over unit vectors, Bonnet and Price.

* unit vectors: E_q[ℓ] = Σ_k q(e_k) ℓ(e_k), and ∇_μ takes differences of losses;
* independent components with a quadratic exponent: ∂_ψ q is a combination of the
  components' own derivatives. For a vector ψ, ∂q/∂ψ_k = a ∂q/∂x_k; for a number ψ,
  ∂q/∂ψ = c Σ_k ∂²q/∂x_k², which asks the loss for its Laplacian; the rule is written
  in the Laplacian over d, the mean curvature, so that a number has the same part in it
  as in one dimension.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.algebra.components import Component, slope, total, varies
from blrgen.algebra.partial import partial
from blrgen.core import Probe
from blrgen.errors import InternalError
from blrgen.expect.identities import Identity, NoIdentity
from blrgen.expect.probes import fresh
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.integrate import exponent_of
from blrgen.geometry.integrate.separable import separate

Expr = Any


def unit_vectors(geometry: Geometry) -> tuple[tuple[Probe, ...], tuple[Expr, ...]]:
    """The losses at the unit vectors, and ∇_μ E_q[ℓ] in them."""
    family = geometry.family
    s = separate(exponent_of(family, geometry.ring), family.variable)
    if s is None:
        raise InternalError(f"the exponent of {family.name!r} mixes components")

    def jump(f: Expr) -> Expr:
        """f(1) − f(0): what changes when this component is the one."""
        return f.xreplace({s.x: sp.S.One}) - f.xreplace({s.x: sp.S.Zero})

    levels = [jump(s.each)] + ([jump(s.last)] if s.last is not None else [])
    mass = s.total(sp.exp(levels[0])) + sp.Add(*[sp.exp(a) for a in levels[1:]])
    first, last = fresh(family, "l", 2)
    loss = Component(first, s.size)
    probes = [_loss_probe(first, loss, "e_k", _counted(s.size, s.last is not None))]
    mean = s.total(sp.exp(levels[0]) * loss)
    if s.last is not None:
        single = sp.Symbol(last, real=True)
        probes.append(_loss_probe(last, single, f"e_{family.components}", "the last unit vector"))
        mean += sp.exp(levels[1]) * single
    gradient = geometry.mean_gradient_of(sp.together(mean / mass))
    return tuple(probes), tuple(geometry.to_working(g) for g in gradient)


def _counted(size: Expr, shortened: bool) -> str:
    from blrgen.text.expression import unicode

    return f"each of the first {unicode(size)} unit vectors" if shortened else "each unit vector"


def _loss_probe(name: str, symbol: Expr, at: str, where: str) -> Probe:
    text = f"ℓ({at.replace('e_k', 'eₖ')})"
    return Probe(
        name, symbol, 0, at, meaning=f"{text}: the loss at {where}",
        text=text, latex=rf"\ell({at})",
    )  # fmt: skip


def identities(
    geometry: Geometry,
) -> tuple[tuple[Probe, ...], list[Expr], tuple[Identity, ...], tuple[tuple[Expr, int], ...]]:
    """Probes, ∂_ψ E_q[ℓ] for the working parameters, identities, and their orders."""
    ring, family = geometry.ring, geometry.family
    if geometry.integral.quadratic is None:
        raise NoIdentity("log q is no quadratic polynomial on the whole line")
    x = family.variable
    log_q = geometry.to_working(exponent_of(family, ring) - geometry.log_partition)
    score = ring.tidy(slope(log_q, x))
    ratios = {1: score, 2: sp.expand(partial(score, x) + score**2)}
    mean_curvature = sp.Symbol("h", real=True)
    symbols = {1: ring.gradient_symbol(), 2: mean_curvature}
    slopes, found = [], []
    for psi in geometry.working:
        order, factor = _identity(slope(log_q, psi), psi, ratios, x)
        weighted = factor * symbols[order]
        if order == 2:
            weighted *= x.size
        elif not isinstance(psi, Component):
            weighted = total(weighted, x.size)
        slopes.append(ring.tidy((-1) ** order * weighted))
        found.append(Identity(psi, order, factor, sp.S.One))
    used = sorted({i.order for i in found})
    words = {2: "the mean of the diagonal of the loss's Hessian, {place}"}
    probes = tuple(
        Probe(symbols[k].name, symbols[k], k, "q", meaning=words.get(k, "")) for k in used
    )
    return probes, slopes, tuple(found), tuple((i.parameter, i.order) for i in found)


def _identity(target: Expr, psi: Expr, ratios: dict[int, Expr], x: Component) -> tuple[int, Expr]:
    """(k, c) with ∂_ψ log q = c·(∂ᵏ_x q)/q, component by component or summed over them."""
    level = sp.expand(target)
    if not isinstance(psi, Component):
        s = separate(level, x)
        if s is None or s.last is not None:
            raise NoIdentity(f"∂q/∂{psi} mixes components")
        level = sp.expand(s.each)
    for order in (2, 1):
        top, under = (sp.Poly(f, x) for f in (level, ratios[order]))
        if top.degree() != order or under.degree() != order:
            continue
        factor = sp.cancel(top.LC() / under.LC())
        if order == 2 and (isinstance(psi, Component) or varies(factor)):
            break
        moved = factor * ratios[order]
        if not isinstance(psi, Component):
            moved = total(moved, x.size)
        if sp.cancel(sp.together(sp.expand(target) - sp.expand(moved))) == 0:
            return order, factor
    raise NoIdentity(f"∂q/∂{psi} is no combination of derivatives of q")
