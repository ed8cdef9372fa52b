"""Another name for a state: nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import Approximation

if TYPE_CHECKING:
    from blrgen.core import Derivation


def apply(d: Derivation, option: str | None) -> Derivation:
    import keyword

    from blrgen.approximate.tools.rewrite import refuse, say, set_probes
    from blrgen.errors import UserError, did_you_mean
    from blrgen.read.names import RULE_WORDS
    from blrgen.rule.quantities import _HYPER

    old, _, new = (part.strip() for part in str(option).partition(":"))
    if old not in [q.name for q in d.rule.of("state")]:
        raise UserError(f"--rename: no state {old!r}",
                        how=did_you_mean(old, [q.name for q in d.rule.of("state")]))  # fmt: skip
    if not new.isidentifier() or keyword.iskeyword(new) or not new.isascii():
        raise UserError(f"--rename: {new!r} is not a name", how="--rename s:h")
    if old.endswith("_prev"):
        raise refuse(
            "rename", f"{old} is the last {old.removesuffix('_prev')} and follows its name"
        )
    reserved = {*RULE_WORDS, *_HYPER, "theta", "mu"} - {"h", "H"}
    made = new.endswith(("_next", "_prev", "_hat"))
    if new in d.rule or new in reserved or made or keyword.iskeyword(new):
        raise refuse("rename", f"the name {new} is taken, or kept for what rules may still need")
    d = _renamed(d, old, new)
    if f"{old}_prev" in d.rule:
        d = _renamed(d, f"{old}_prev", f"{new}_prev")
    d = set_probes(d, lambda p: p)
    return say(d, "rename", option, "Another name", f"{old} is written {new} from here on")


def _renamed(d: Derivation, old: str, new: str) -> Derivation:
    """One state and its next value under another name, wherever they are kept."""
    from dataclasses import replace

    import sympy as sp

    from blrgen.approximate.tools.rewrite import next_symbol, substitute, symbol

    x = symbol(d, old)
    y = d.geometry.ring.symbol_like(x, new)
    d = substitute(d, {x: y, next_symbol(d, old): d.geometry.ring.symbol_like(x, f"{new}_next")})
    started = [
        replace(q, init=sp.sympify(q.init).subs(x, y)) if q.kind == "state" else q
        for q in d.rule.quantities
    ]
    quantities = tuple(replace(q, name=new, symbol=y) if q.name == old else q for q in started)
    assignments = tuple(
        replace(a, name=f"{new}_next") if a.name == f"{old}_next" else a for a in d.rule.assignments
    )
    d = d.with_(rule=replace(d.rule, quantities=quantities, assignments=assignments))
    location, scale = (new if x == old else x for x in (d.facts.location, d.facts.scale))
    return d.with_(facts=replace(d.facts, location=location, scale=scale))


APPROXIMATION = Approximation(
    flag="rename",
    summary="a state gets another name",
    rewrites="the name",
    requires="a state of the old name, and the new one free",
    citation="",
    apply=apply,
    options="value",
)
