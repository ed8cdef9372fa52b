"""`derive --format json`: the contract described in docs/json.md."""

from __future__ import annotations

import json
from typing import Any

from blrgen.core import Derivation, Quantity
from blrgen.show.page import Formula, Line, Page, flags, page_of
from blrgen.text.expression import ascii
from blrgen.text.latex import Latex
from blrgen.text.terminal import Terminal

SCHEMA = "blrgen.derivation/1"


def derivation_json(derivation: Derivation) -> str:
    """JSON text; keys in a fixed order, the same bytes on every run."""
    return json.dumps(derivation_data(derivation), ensure_ascii=False, indent=2) + "\n"


def derivation_data(derivation: Derivation) -> dict[str, Any]:
    """The derivation as plain Python data."""
    page, rule = page_of(derivation, complete=True), derivation.rule
    return {
        "schema": SCHEMA,
        "family": derivation.family.name,
        "loss": derivation.loss.text,
        "approximations": flags(derivation),
        "state": [
            {
                "name": q.name,
                "shape": _shape(derivation, q),
                "init": value(q.init, q.rank, q.shape),
            }
            for q in rule.of("state")
        ],
        "inputs": [
            {"name": q.name, "meaning": q.meaning, "shape": _shape(derivation, q)}
            for q in rule.of("input", "data")
        ],
        **_known(derivation),
        "hyperparameters": [_hyper(q) for q in rule.of("hyper")],
        "draws": [
            {"name": q.name, "distribution": q.distribution, "shape": list(q.shape)}
            for q in rule.of("draw")
        ],
        "update": [[c.name, c.text] for c in page.commands],
        "steps": [_step(line, page) for line in page.lines],
        "identified": list(derivation.facts.identified),
        "halved": rule.halved,
        **({"notes": list(page.notes)} if page.notes else {}),
    }


def _shape(d: Derivation, q: Quantity) -> list[str]:
    """The shape of one, or of all components of a mixture."""
    return [*(["K"] if d.mixture is not None else []), *q.shape]


def _known(d: Derivation) -> dict[str, Any]:
    """Of a mixture: what the update uses of log q, which is computed from all components."""
    known = d.rule.of("known")
    found = [{"name": q.name, "meaning": q.meaning, "shape": _shape(d, q)} for q in known]
    return {"known": found} if found else {}


def _hyper(q: Quantity) -> dict[str, Any]:
    return {
        "name": q.name,
        "default": value(q.default, q.rank, q.shape),
        "domain": q.domain,
        "meaning": q.meaning,
    }


def value(x: Any, rank: str, shape: tuple[str, ...] = ()) -> int | float | str | None:
    """A number where JSON has it, else an expression that SymPy reads; None when not known."""
    if x is None:
        return None
    if rank == "matrix" and x == 0:
        return f"ZeroMatrix({', '.join(shape)})"
    if getattr(x, "is_Integer", False) and rank not in ("symmetric", "matrix"):
        return int(x)
    if getattr(x, "is_Number", False) and x.is_finite and rank not in ("symmetric", "matrix"):
        return float(x)
    text = ascii(x, matrix=rank in ("symmetric", "matrix"))
    return text.replace("Identity(d)", f"Identity({shape[0]})") if shape else text


def _step(line: Line, page: Page) -> dict[str, Any]:
    return {
        "id": line.id,
        "title": line.title,
        "equation": "\n".join(_unicode(f, page) for f in line.formulas),
        "latex": r" \\ ".join(_latex(f, page) for f in line.formulas),
        "because": line.because,
        "space": line.space,
        "approximation": line.approximation,
    }


def _unicode(f: Formula, page: Page) -> str:
    return Terminal(f.names, page.reading).equation(f.left, f.relation, f.right)


def _latex(f: Formula, page: Page) -> str:
    from blrgen.show.document import relation

    return Latex(f.names, page.reading).equation(f.left, relation(f.relation), f.right)
