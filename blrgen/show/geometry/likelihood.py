"""Maximum likelihood as a moment match, and how to sample."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.geometry.conjugate import variables_of
from blrgen.geometry.divergence import unused
from blrgen.show.geometry.rows import Row, Writer
from blrgen.show.layout import Call, Name, arrange
from blrgen.show.page import Formula, is_matrix

Expr = Any


def likelihood(w: Writer) -> list[Row]:
    """The estimate from the means of the statistics."""
    g = w.geometry
    m = g.likelihood
    working = bool(g.family.working)
    found = m.working if working else m.natural
    formulas: list[Formula] = []
    if found is not None:
        names = g.working if working else g.natural
        formulas += [w.equal(x.name, e, matrix=is_matrix(x))
                     for x, e in zip(names, found, strict=True)]  # fmt: skip
    else:
        formulas += [w.equal(t.name, e, matrix=w.square(k)) for k, (e, t) in enumerate(m.equations)]
    because = "the mean parameters are the means of the statistics over the sample, "
    because += f"t̄ = (1/{w.count}) ∑ T(xᵢ); the log-likelihood is concave in λ. "
    because += f"Covariance of the estimate: F⁻¹/{w.count} in its chart, for large {w.count}"
    if found is None:
        because += ". No closed form: solved as the mean parameters are"
    return [Row("Maximum likelihood", tuple(formulas), because, "working" if working else
                "natural", "numeric" if found is None else "derived")]  # fmt: skip


def sampling(w: Writer) -> list[Row]:
    """A draw of the variable from primitive draws, where the integration rule has one."""
    g = w.geometry
    found = sampler_of(g)
    if found is None:
        return []
    e, draws = found
    formulas = [w.equal(g.family.variable.name, e)]
    for name, kind, parameters in draws:
        law = Call(kind, tuple(arrange(p, w.reading) for p in parameters))
        formulas.append(Formula(Name(name.name), "∼", law))
    because = "from primitive draws: the substitution that solved the integral, read backwards"
    return [Row("Sampling", tuple(formulas), because, "sample", "derived")]


_LETTERS = {"normal": "z", "uniform": "u", "gamma": "g", "poisson": "k", "binomial": "n",
            "vonmises": "w"}  # fmt: skip
_LAW = {"gamma": "Ga", "normal": "N", "uniform": "U", "vonmises": "VM"}


def sampler_of(g: Any) -> tuple[Expr, list[tuple[Expr, str, tuple[Expr, ...]]]] | None:
    """(x in named draws, [(name, law, parameters)]) in natural parameters; None without one."""
    from blrgen.geometry.integrate.draws import draws_of

    e = getattr(g.integral, "sampler", None)
    if e is None:
        return None
    family = g.family
    taken = {p.name for p in (*family.natural, *family.working, *family.fixed)}
    taken |= {str(v) for v in variables_of(family)}
    named: dict[Expr, Expr] = {}
    found = []
    for k, d in enumerate(draws_of(e), 1):
        letter = _LETTERS.get(d.kind, "z")
        name = sp.Symbol(unused(f"{letter}{k}", taken), real=True)
        taken.add(name.name)
        found.append((name, d, tuple(p.xreplace(named) for p in d.parameters)))
        named[d] = name
    laws = []
    for name, d, ps in found:
        whole = (*_BEFORE.get(d.kind, ()), *ps, *_BEHIND.get(d.kind, ()))
        laws.append((name, _LAW.get(d.kind, d.kind.title()), whole))
    for d in reversed(draws_of(e)):  # the outermost first, so that inner ones are found too
        e = e.xreplace({d: named[d]})
    return e, laws


_UNIT = (sp.S.Zero, sp.S.One)
_BEFORE = {"normal": _UNIT, "uniform": _UNIT}
_BEHIND: dict[str, tuple[Expr, ...]] = {"gamma": (sp.S.One,), "vonmises": ()}  # rate 1
