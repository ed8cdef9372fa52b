"""Maximum likelihood as a moment match, and how to sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.ranks import like
from blrgen.geometry.conjugate import variables_of
from blrgen.geometry.divergence import unused
from blrgen.show.geometry.rows import Row, Writer
from blrgen.show.page import Formula, is_matrix
from blrgen.text.layout import Call, Name, arrange

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
        because += ". No closed form found: solved as the mean parameters are"
    return [Row("Maximum likelihood", tuple(formulas), because, "working" if working else
                "natural", "numeric" if found is None else "derived")]  # fmt: skip


def sampling(w: Writer) -> list[Row]:
    """The variables from primitive draws, where the integration rules have them."""
    found = sampler_of(w.geometry)
    if found is None:
        return []
    values, draws = found
    formulas: list[Formula] = []
    for x, e in values:
        whole = next((d for d in draws if d.name == e), None)
        if whole is not None:
            formulas.append(_law(Name(x.name), whole, w))
        else:
            formulas.append(w.equal(x.name, e, matrix=is_matrix(x)))
        inside = [d for d in draws if d.of == x and d is not whole]
        formulas += [_law(Name(d.name.name), d, w) for d in inside]
    because = "from primitive draws: the substitution that solved the integral, read backwards"
    if len(values) > 1:
        because = "each given those before it: the order of the integration, read backwards"
    told = [_TOLD[d.kind] for d in draws if d.kind in _TOLD]
    because = "; ".join([because, *dict.fromkeys(told)])
    return [Row("Sampling", tuple(formulas), because, "sample", "derived")]


def _law(head: Name, d: Named, w: Writer) -> Formula:
    return Formula(head, "∼", Call(d.law, tuple(arrange(p, w.reading) for p in d.parameters)))


_LETTERS = {"normal": "z", "uniform": "u", "gamma": "g", "poisson": "k", "binomial": "n",
            "vonmises": "w", "pick": "v", "tilted": "t", "loggamma": "l"}  # fmt: skip
_LAW = {"gamma": "Ga", "loggamma": "LogGa", "normal": "N", "uniform": "U", "vonmises": "VM",
        "gaussian": "CanonicalN", "matrixgaussian": "CanonicalMN", "pick": "OneOf"}  # fmt: skip
_TOLD = {
    "loggamma": "LogGa(a) is log Ga(a, 1)",
    "pick": "OneOf(x, a, y, b): x with weight eᵃ, y with weight eᵇ, and so on",
    "tilted": "Tilted(c): on (0, 1) with a density in proportion to exp(ct)",
    "categorical": "Categorical: a unit vector, the k-th with weight exp of its level",
    "multinomial": "Multinomial: counts of n draws, weights exp of the levels",
    "sphere": "Sphere(a): a unit vector with a density in proportion to exp(aᵀx)",
    "gaussian": "CanonicalN(b, P): precision P, mean P⁻¹b",
    "matrixgaussian": "CanonicalMN(L, Q, P): a density in proportion to exp(tr LᵀX − ½tr XᵀQXP)",
    "wishart": "Wishart(a, B): a density in proportion to |X|^(a − ½(d+1)) exp(−tr BX)",
}


@dataclass(frozen=True)
class Named:
    """A primitive draw: its name, its law with parameters, the variable that it is for."""

    name: Expr
    kind: str
    law: str
    parameters: tuple[Expr, ...]
    of: Expr


def sampler_of(g: Any) -> tuple[list[tuple[Expr, Expr]], list[Named]] | None:
    """[(variable, in named draws)] in the order of drawing, and the draws; None without."""
    from blrgen.geometry.integrate.primitive import draws_of

    e, joint = getattr(g.integral, "sampler", None), getattr(g.integral, "one_by_one", ())
    values = list(joint) if joint else [] if e is None else [(g.family.variable, e)]
    if not values or any(d.kind == "law" for _, s in values for d in draws_of(s)):
        return None
    family = g.family
    taken = {p.name for p in (*family.natural, *family.working, *family.fixed)}
    taken |= {str(v) for v in variables_of(family)}
    made: list[Named] = []
    shown: list[tuple[Expr, Expr]] = []
    for x, e in values:
        named: dict[Expr, Expr] = {}
        for d in draws_of(e):
            letter = unused(f"{_LETTERS.get(d.kind, 'z')}{len(made) + 1}", taken)
            name = sp.Symbol(letter, real=True) if d.is_commutative else like(x, letter)
            taken.add(letter)
            ps = tuple(p.xreplace(named) for p in d.parameters)
            whole = (*_BEFORE.get(d.kind, ()), *ps, *_BEHIND.get(d.kind, ()))
            made.append(Named(name, d.kind, _LAW.get(d.kind, d.kind.title()), whole, x))
            named[d] = name
        for d in reversed(draws_of(e)):  # the outermost first, so that inner ones are found too
            e = e.xreplace({d: named[d]})
        shown.append((x, e))
    return shown, made


_UNIT = (sp.S.Zero, sp.S.One)
_BEFORE = {"normal": _UNIT, "uniform": _UNIT}
_BEHIND: dict[str, tuple[Expr, ...]] = {"gamma": (sp.S.One,), "vonmises": ()}  # rate 1
