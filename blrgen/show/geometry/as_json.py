"""`show --format json`: the keys of docs/json.md, in order; expressions as SymPy reads them."""

from __future__ import annotations

from typing import Any

from blrgen.algebra.nodes import has_nodes
from blrgen.core import Family, Parameter
from blrgen.geometry.simplex import of_natural, spelled
from blrgen.show.geometry.charts import working_form
from blrgen.show.geometry.likelihood import sampler_of
from blrgen.show.geometry.moments import fisher_form
from blrgen.show.page import is_matrix
from blrgen.text.expression import ascii

Expr = Any
SCHEMA = "blrgen.geometry/1"


def geometry_data(geometry: Any) -> dict[str, Any]:
    """Everything that is on the page, as plain data."""
    family: Family = geometry.family
    inverse = getattr(geometry, "inverse_mean", None)
    return {
        "schema": SCHEMA,
        "name": family.name,
        "variable": [x.name for x in family.joint] if family.joint else family.variable.name,
        "support": family.support.text,
        "statistics": [ascii(t) for t in family.statistics],
        "base_measure": ascii(family.base_measure),
        "natural": [_parameter(p) for p in family.natural],
        "working": [_parameter(p) for p in (*family.working, *family.simplex)],
        "natural_of_working": {
            x.name: text(e, matrix=is_matrix(x)) for x, e in _chart(geometry, family)
        }
        | {
            p.name: spelled(e)
            for p, e in zip(family.natural, family.natural_of_simplex, strict=False)
        },
        "log_partition": text(geometry.log_partition),
        "mean": _components(geometry, geometry.mean),
        "fisher": fisher_data(geometry),
        "entropy": text(geometry.entropy),
        "entropy_gradient": _components(geometry, geometry.entropy_gradient),
        "inverse_mean": "numeric" if inverse is None else _components(geometry, inverse),
        "evidence": dict(sorted(_evidence(geometry).items())),
        "working_of_natural": {
            x.name: text(geometry.working_of_natural[x], matrix=is_matrix(x))
            for x in geometry.working
            if family.working
        }
        | {spelled(x): spelled(e) for x, e in of_natural(family)},
        "fisher_working": _working_fisher(geometry),
        "fisher_mean": _table(geometry.metric_in_charts.mean)
        if geometry.ring.elementwise
        else None,
        "divergence": _divergence(geometry),
        "conjugate": _conjugate(geometry),
        "maximum_likelihood": _likelihood(geometry),
        "sampler": _sampler(geometry),
    }


def text(e: Expr, *, matrix: bool = False) -> str:
    """As SymPy reads it; "numeric" where it holds what has no closed form."""
    return "numeric" if has_nodes(e) else ascii(e, matrix=matrix)


def _or_none(e: Expr | None) -> str | None:
    return None if e is None else text(e)


def _parameter(p: Parameter) -> dict[str, str]:
    return {"name": p.name, "domain": p.domain.text}


def _components(geometry: Any, values: tuple[Expr, ...]) -> list[str]:
    return [text(e, matrix=is_matrix(x)) for x, e in zip(geometry.natural, values, strict=True)]


def _chart(geometry: Any, family: Family) -> list[tuple[Expr, Expr]]:
    """Natural parameters as functions of the declared working ones; empty without any."""
    if not family.working:
        return []
    return [(x, geometry.natural_of_working[x]) for x in geometry.natural]


def fisher_data(geometry: Any) -> list[list[str]] | str:
    """The matrix ∂μ/∂λ; for matrix parameters the quadratic form in directions X1 and X2."""
    if geometry.ring.elementwise:
        return _table(geometry.fisher) or []
    return text(fisher_form(geometry))


def _working_fisher(geometry: Any) -> list[list[str]] | str | None:
    if not geometry.family.working:
        return None
    if geometry.ring.elementwise:
        return _table(geometry.metric_in_charts.working)
    return text(working_form(geometry))


def _table(rows: Any) -> list[list[str]] | None:
    return None if rows is None else [[text(e) for e in row] for row in rows]


def _divergence(geometry: Any) -> dict[str, Any]:
    d = geometry.divergence
    working = bool(geometry.family.working)
    return {
        "prime": {x.name: y.name for x, y in d.prime.items()},
        "alpha": d.alpha.name,
        "kl": text(d.kl),
        "kl_working": text(d.kl_in_working) if working else None,
        "kl_mean": _or_none(d.kl_in_mean),
        "reverse_kl": text(d.reverse_kl),
        "cross_entropy": text(d.cross_entropy),
        "renyi": text(d.renyi),
        "renyi_working": text(d.renyi_in_working) if working else None,
        "renyi_domain": [
            {"expression": text(e, matrix=domain.kind.endswith("spd")), "domain": domain.text}
            for e, domain in d.renyi_condition.members
        ],
        "bhattacharyya": text(d.bhattacharyya),
    }


def _conjugate(geometry: Any) -> dict[str, Any]:
    c = geometry.conjugate
    found = c.recognised
    law = None
    if found is not None:
        law = {
            "family": found.family.name,
            "variable": [text(k.shown) for k in found.coordinates],
            "natural": {x.name: text(v) for x, v in found.natural},
            "working": {x.name: text(v) for x, v in found.working},
            "positive": [text(e) for e in found.conditions],
        }
    return {
        "chi": [x.name for x in c.chi],
        "nu": c.nu.name,
        "log_prior": text(c.log_prior),
        "log_prior_working": _or_none(c.log_prior_in_working) if geometry.family.working else None,
        "proper": c.propriety,
        "law": law,
        "log_predictive": _or_none(c.log_predictive),
    }


def _likelihood(geometry: Any) -> dict[str, Any]:
    m = geometry.likelihood
    working = m.working if geometry.family.working else None
    return {
        "statistics": [x.name for x in m.statistics],
        "natural": "numeric" if m.natural is None else _components(geometry, m.natural),
        "working": "numeric"
        if m.natural is None and geometry.family.working
        else None
        if working is None
        else [text(e, matrix=is_matrix(x)) for x, e in zip(geometry.working, working, strict=True)],
    }


def _sampler(geometry: Any) -> dict[str, Any] | None:
    found = sampler_of(geometry)
    if found is None:
        return None
    values, draws = found
    shown = {x.name: text(e, matrix=is_matrix(x)) for x, e in values}
    return {
        "expression": shown if len(shown) > 1 else next(iter(shown.values())),
        "draws": [
            {"name": d.name.name, "distribution": d.law,
             "parameters": [text(p) for p in d.parameters]}
            for d in draws
        ],
    }  # fmt: skip


def _search(geometry: Any) -> str:
    """How λ is found without a closed form."""
    plan = geometry.elimination
    if plan is None:
        return "numeric: safeguarded Newton's method"
    alone = "one monotone equation" + (
        f" in {plan.held.name}, all others in closed form given it" if plan.steps else ""
    )
    return f"numeric: {alone}"


def _evidence(geometry: Any) -> dict[str, str]:
    """The level of every claim, also of those that are derived only when asked for."""
    found = dict(geometry.evidence)
    found["inverse_mean"] = (
        _search(geometry) if geometry.inverse_mean is None else "derived: μ = ∇A solved for λ"
    )
    d = geometry.divergence
    found["divergence"] = f"{d.level}: {'; '.join(p.claim for p in d.proofs)}"
    if geometry.ring.elementwise:
        fisher = geometry.metric_in_charts
        found["fisher_working"] = f"{fisher.level}: F_ψ = JᵀFJ, entry by entry"
        proof = fisher.natural_gradient
        if proof is not None:
            found["natural_gradient"] = f"{proof.level}: F⁻¹ = J F_ψ⁻¹ Jᵀ"
    law = geometry.conjugate.recognised
    if law is not None:
        found["conjugate"] = f"{law.proof.level}: {law.proof.claim}"
    return found
