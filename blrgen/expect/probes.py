"""What a rule asks of the loss: numbers that the caller supplies, and how they read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sympy as sp

from blrgen.algebra.directions import direction_symbol
from blrgen.core import Family, Probe
from blrgen.geometry.geometry import Geometry
from blrgen.geometry.numbers.nodes import variables

Expr = Any
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class Subject:
    """What stands under the expectations: ℓ, ℓ + log h, or what is left of a concrete loss."""

    expr: Expr = None  # None: abstract
    folded: bool = False  # log h is part of it

    def words(self, bracket: bool) -> tuple[str, str]:
        """Its name in unicode and LaTeX."""
        text, latex = "ℓ", r"\ell"
        if self.expr is not None:
            from blrgen.text.expression import latex as in_latex
            from blrgen.text.expression import unicode

            text, latex = unicode(self.expr), in_latex(self.expr)
        if self.folded:
            text, latex = f"{text} + log h", rf"{latex} + \log h"
        if bracket and (self.folded or self.expr is not None):
            return f"({text})", f"({latex})"
        return text, latex


def fresh(family: Family, stem: str, count: int) -> tuple[str, ...]:
    """Names stem1, stem2, … that the family does not use."""
    taken = {p.name for p in (*family.natural, *family.working, *family.fixed)}
    taken |= {str(x) for x in variables(family)}
    for prefix in (stem, f"{stem}_", f"{stem}__"):
        names = tuple(f"{prefix}{i + 1}" for i in range(count))
        if not taken & set(names):
            return names
    raise AssertionError("a family cannot take all names")


def score_probes(geometry: Geometry, subject: Subject, which: Iterable[int]) -> list[Probe]:
    """E_q[f·(T_i − μ_i)] for some of the statistics."""
    from blrgen.text.expression import latex, unicode

    family = geometry.family
    names = fresh(family, "r", len(family.natural))
    several = len(family.natural) > 1
    made = []
    for i in which:
        x, t = geometry.natural[i], family.statistics[i]
        low = str(i + 1).translate(_LOW) if several else ""
        under = f"_{i + 1}" if several else ""
        here, there = subject.words(bracket=True)
        text = f"𝔼_q[{here}·({unicode(t)} − μ{low})]"
        made.append(
            Probe(
                names[i], direction_symbol(x, names[i]), 0, "score",
                meaning=f"{text}: the loss{_and(subject)} weighted by the score",
                weight=t, text=unicode(sp.Symbol(names[i])), latex=latex(sp.Symbol(names[i])),
                formula=(text, rf"\mathbb{{E}}_q[{there}\,({latex(t)} - \mu{under})]"),
            )
        )  # fmt: skip
    return made


def _and(subject: Subject) -> str:
    return " plus log h" if subject.folded else ""


def weighted_probe(
    family: Family, name: str, function: Expr, subject: Subject, *, difference: bool
) -> Probe:
    """E_q[function·ℓ′], or E_q[function·(ℓ(k+1) − ℓ(k))]."""
    from blrgen.text.expression import latex, unicode

    here, there = subject.words(bracket=True)
    simple = here == "ℓ"
    front, front_latex = "", ""
    if function != 1:
        bare = function.is_Symbol or function.is_Function
        front = f"{unicode(function)} " if bare else f"({unicode(function)})·"
        front_latex = rf"{latex(function)}\," if bare else rf"({latex(function)})\,"
    if difference:
        x = unicode(family.variable)
        text = f"𝔼_q[{front}Δ{here}]"
        tex = rf"\mathbb{{E}}_q[{front_latex}\Delta {there}]"
        step = f"Δ{here} = {here}({x}+1) − {here}({x})" if simple else "Δ the step from k to k+1"
        words = f"the forward difference of the loss{_and(subject)}, {step}"
    else:
        text = f"𝔼_q[{front}{here}′]"
        tex = rf"\mathbb{{E}}_q[{front_latex}{there}']"
        words = f"the derivative of the loss{_and(subject)}"
    words += f", weighted by {unicode(function)}" if function != 1 else ""
    return Probe(
        name, sp.Symbol(name, real=True), 0 if difference else 1, "weighted",
        meaning=f"{text}: {words}, in expectation under q", weight=function,
        text=text, latex=tex,
    )  # fmt: skip


def implicit_probe(geometry: Geometry, name: str, i: int, subject: Subject) -> Probe:
    """E_q[ℓ′·∂x/∂λ_i] with ∂x/∂λ_i = −(∂F/∂λ_i)/q, F the distribution function."""
    from blrgen.text.expression import latex, unicode

    lam, x = geometry.natural[i], geometry.family.variable
    here, there = subject.words(bracket=True)
    text = f"𝔼_q[{here}′·∂{unicode(x)}/∂{unicode(lam)}]"
    tex = rf"\mathbb{{E}}_q[{there}'\,\partial {latex(x)}/\partial {latex(lam)}]"
    return Probe(
        name, sp.Symbol(name, real=True), 1, "implicit",
        meaning=f"{text}: the loss{_and(subject)} differentiated through a draw, "
        f"∂{unicode(x)}/∂{unicode(lam)} = −(∂F/∂{unicode(lam)})/q with F the distribution function",
        text=text, latex=tex,
    )  # fmt: skip
