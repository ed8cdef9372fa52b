"""The density: statistics, base measure, log-partition."""

from __future__ import annotations

from typing import Any

import sympy as sp

from blrgen.show.geometry.rows import Row, Writer, low
from blrgen.show.page import Formula
from blrgen.text.layout import Name, arrange


def density(w: Writer) -> list[Row]:
    """T, h, log q and A."""
    from blrgen.geometry.integrate import exponent_of

    g = w.geometry
    family = g.family
    statistics = [
        w.named(f"T{low(w.index(k))}", "T" + (f"_{{{w.index(k)}}}" if w.index(k) else ""), t)
        for k, t in enumerate(family.statistics)
    ]
    base = w.named("h", "h", family.base_measure)
    log_q = w.equal("log_q_", exponent_of(family, g.ring) - sp.Symbol("A_", real=True))
    return [
        Row(
            "Density",
            (*statistics, base, log_q),
            "q = h exp(⟨λ, T⟩ − A(λ)): statistics T and base measure h",
            "sample",
            "declared",
        ),
        Row(
            "Log-partition",
            (w.equal("A_", g.log_partition), *_letters(w)),
            _reason(g),
            "natural",
            g.evidence["log_partition"].split(":")[0],
        ),
    ]


def _letters(w: Writer) -> list[Formula]:
    """What the letters of the page stand for."""
    found = list(w.shorter.items())[:1]
    return [
        Formula(
            Name((x.base if x.is_Pow else x).name),
            "=",
            arrange(sp.sqrt(e) if x.is_Pow else e, w.reading),
        )
        for e, x in found
    ]


def _reason(g: Any) -> str:
    """The rule that gave A, and what was checked of it."""
    _, _, detail = g.evidence["log_partition"].partition(": ")
    because = g.integral.because
    return because if detail in ("", g.integral.method) else f"{because}: {detail}"
