"""Between two members of the family: KL, cross-entropy, Rényi."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.show.geometry.rows import Row, Shown, Writer, primed
from blrgen.show.page import Formula
from blrgen.text.layout import Compare, Node, Words, arrange
from blrgen.text.names import latex_name, unicode_name
from blrgen.text.table import width
from blrgen.text.terminal import Terminal

Expr = Any
_WIDE = 72  # characters of a Rényi divergence that is written as one fraction
_LONG = 100  # operations of one that is still written out


def divergences(w: Writer) -> list[Row]:
    """KL, cross-entropy and Rényi, in working parameters where there are any."""
    d = w.geometry.divergence
    working = bool(w.geometry.family.working)
    shown = primed(d.prime.items())
    space = "working" if working else "natural"
    kl = d.kl_in_working if working else d.kl
    cross = d.cross_entropy_in_working if working else d.cross_entropy
    rows = [
        Row(
            "Kullback–Leibler divergence",
            (w.named("KL(q‖q′)", r"\mathrm{KL}(q\,\|\,q')", kl, shown),),
            "⟨λ − λ′, μ⟩ − A(λ) + A(λ′), the Bregman divergence of A; "
            "primes belong to the second density",
            space,
            d.level,
        ),
        Row(
            "Cross-entropy",
            (w.named("H(q, q′)", "H(q, q')", cross, shown),),
            "A(λ′) − ⟨λ′, μ⟩ − 𝔼_q[log h] = 𝓗(q) + KL(q‖q′)",
            space,
            d.level,
        ),
    ]
    return [*rows, _renyi(w, shown, space)]


def _renyi(w: Writer, shown: Shown, space: str) -> Row:
    d = w.geometry.divergence
    formulas = (_renyi_formula(w, shown, space),)
    conditions = tuple(_inside(w, e, domain, shown) for e, domain in d.renyi_condition.members)
    because = (
        "(A(αλ + (1 − α)λ′) − αA(λ) − (1 − α)A(λ′))/(α − 1); it tends to KL as α → 1, and at "
        "α = ½ it is twice the Bhattacharyya distance. "
    ).replace("α", unicode_name(d.alpha.name))
    because += (
        "It is finite where the mixed parameter is in the natural domain, as it always is between "
        "0 and 1"
        if conditions
        else "The natural domain is the whole space: every order is allowed"
    )
    return Row("Rényi divergence", (*formulas, *conditions), because, space, d.level)


def _renyi_formula(w: Writer, shown: Shown, space: str) -> Formula:
    """D_α when it is short, (α − 1)D_α as a sum when that is, else the general form."""
    d = w.geometry.divergence
    e = d.renyi_in_working if space == "working" else d.renyi
    a, latex = unicode_name(d.alpha.name), latex_name(d.alpha.name)
    whole = w.named(f"D_{a}(q‖q′)", rf"D_{{{latex}}}(q\,\|\,q')", e, shown)
    if width(Terminal(whole.names, w.reading).text(whole.right)) <= _WIDE:
        return whole
    left = (f"({a} − 1) D_{a}(q‖q′)", rf"({latex} - 1)\, D_{{{latex}}}(q\,\|\,q')")
    if w.geometry.ring.elementwise and sp.count_ops(e) <= _LONG:
        return w.named(*left, d.renyi_sum, shown)
    names = [sp.Symbol(f"A{k}_", real=True) for k in range(3)]
    known: Shown = (
        ("A0_", (f"A({a}λ + (1 − {a})λ′)", rf"A({latex}\lambda + (1 - {latex})\lambda')")),
        ("A1_", ("A(λ)", r"A(\lambda)")),
        ("A2_", ("A(λ′)", r"A(\lambda')")),
    )
    return w.named(*left, names[0] - d.alpha * names[1] - (1 - d.alpha) * names[2], known)


def _inside(w: Writer, mixed: Expr, domain: Any, shown: Shown) -> Formula:
    """Where the mixed parameter must be: between its ends, or definite."""
    if domain.kind != "interval":
        where = domain.kind.upper().replace("-", "−")
        if domain.lower is not None:
            where = "its domain at the other mixed parameters"
        return Formula(_node(w, mixed), "∈", Words(where), notation=shown)
    low, high = (sp.sympify(e) for e in (domain.lower, domain.upper))
    if high.is_infinite:
        return Formula(_node(w, mixed), ">", _node(w, low), notation=shown)
    if low.is_infinite:
        return Formula(_node(w, mixed), "<", _node(w, high), notation=shown)
    both = Compare("<", _node(w, mixed), _node(w, high))
    return Formula(_node(w, low), "<", both, notation=shown)


def _node(w: Writer, e: Expr) -> Node:
    return arrange(e, w.reading)
