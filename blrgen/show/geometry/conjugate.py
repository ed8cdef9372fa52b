"""The family as a likelihood: conjugate prior, its update, predictive density."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from blrgen.show.geometry.rows import Row, Shown, Writer
from blrgen.show.page import Formula
from blrgen.text.layout import Words, arrange
from blrgen.text.names import latex_name, unicode_name

Expr = Any
_LONG = 120  # operations of a predictive density that is still written out


def conjugate(w: Writer) -> list[Row]:
    """p(ψ | χ, ν), what family that is, and Bayes' rule."""
    c = w.geometry.conjugate
    rows = [_prior(w), _update(w)]
    if c.recognised is not None and c.log_predictive is not None:
        rows += _predictive(w)
    return rows


def _prior(w: Writer) -> Row:
    g = w.geometry
    c = g.conjugate
    names = g.working if c.log_prior_in_working is not None else g.natural
    e = c.log_prior_in_working
    if e is None:
        whole = g.ring.tidy(c.log_prior)
        e = sp.Add(*[t for t in sp.Add.make_args(whole) if t.has(*names)])
    given = ", ".join(unicode_name(x.name) for x in names)
    spelled = ", ".join(latex_name(x.name) for x in names)
    space = "working" if g.family.working and names == g.working else "natural"
    prior = w.named(f"log p({given} | χ, ν)", rf"\log p({spelled} \mid \chi, \nu)", e)
    formulas = [replace(prior, note="up to a constant")]
    because = "p ∝ exp(⟨χ, λ⟩ − νA(λ)) dλ; in other parameters with the Jacobian |∂λ/∂ψ|"
    evidence = "derived"
    found = c.recognised
    if found is not None:
        formulas += _law(w)
        formulas += [_positive(w, e) for e in found.conditions]
        formulas += [
            Formula(arrange(e, w.reading), "∈", Words("SPD"), note="proper") for e in found.definite
        ]
        evidence = found.proof.level
        because += f"; the exponent is that of {found.family.name!r}, whose domain says when it "
        because += "is proper"
    else:
        because += f"; proper for {c.propriety}"
    return Row("Conjugate prior", tuple(formulas), because, space, evidence)


def _law(w: Writer) -> list[Formula]:
    """y ∼ family, and that family's parameters."""
    found = w.geometry.conjugate.recognised
    shown = tuple(c.shown for c in found.coordinates)
    left = arrange(shown[0] if len(shown) == 1 else shown, w.reading)
    law = Formula(left, "∼", Words(found.family.title))
    rows = []
    for x, v in found.working:  # its names may be ours too
        name = (f"{unicode_name(x.name)}_prior", rf"{latex_name(x.name)}^{{\mathrm{{prior}}}}")
        rows.append(w.named(*name, v))
    return [law, *rows]


def _positive(w: Writer, e: Expr) -> Formula:
    return Formula(arrange(e, w.reading), ">", arrange(sp.S.Zero, w.reading), note="proper")


def _update(w: Writer) -> Row:
    """χ ← χ + ΣT(x_i), ν ← ν + n."""
    g = w.geometry
    c = g.conjugate
    rows = []
    for k, x in enumerate(c.chi):
        index = w.index(k)
        name = sp.Symbol("sum_", real=True)
        latex = rf"\sum_{{i=1}}^{{{w.count}}} T" + (f"_{{{index}}}" if index else "") + "(x_i)"
        text = f"∑ T{index.translate(str.maketrans('0123456789', '₀₁₂₃₄₅₆₇₈₉'))}(xᵢ)"
        shown: Shown = (("sum_", (text, latex)),)
        left = sp.Symbol(x.name, real=True)
        rows.append(w.equal(x.name, left + name, shown, relation="←"))
    count: Shown = (("n_", (w.count, w.count)),)
    n = sp.Symbol("n_", real=True)
    rows.append(w.equal(c.nu.name, sp.Symbol(c.nu.name, real=True) + n, count, relation="←"))
    return Row("Posterior", tuple(rows), f"Bayes' rule for {w.count} observations", "natural",
               "derived")  # fmt: skip


def _predictive(w: Writer) -> list[Row]:
    from blrgen.geometry.readable import readable, shifted

    g = w.geometry
    c = g.conjugate
    support, x = g.family.support, g.family.variable
    e = c.log_predictive
    given = unicode_name(x.name)
    because = "log h(x) + B(χ + T(x), ν + 1) − B(χ, ν), B the log-partition of the prior"
    if support.kind == "finite" and len(support.points) <= 4:
        formulas = []
        for p in support.points:
            value = readable(sp.exp(shifted(sp.expand(e.subs(x, p)))))
            value = sp.factor(value) if not value.atoms(sp.Function) else value
            formulas.append(w.named(f"p({p} | χ, ν)", rf"p({p} \mid \chi, \nu)", value))
        return [Row("Predictive probabilities", tuple(formulas), because, "sample",
                    c.recognised.proof.level)]  # fmt: skip
    if sp.count_ops(e) > _LONG:
        return []
    left = (f"log p({given} | χ, ν)", rf"\log p({latex_name(x.name)} \mid \chi, \nu)")
    return [Row("Predictive density", (w.named(*left, e),), because, "sample",
                c.recognised.proof.level)]  # fmt: skip
