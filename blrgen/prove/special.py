"""Emitted special functions: what they mean in a proof, and whether they compute that.

In a run on symbols a call of `_digamma` is ψ; that the emitted text computes ψ, to the
last few digits, is checked on numbers and said beside the proof: it is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from blrgen.emit.special import Helper
from blrgen.prove.proof import Proof
from blrgen.prove.symbolic.arrays import elementwise
from blrgen.prove.symbolic.number import Sym, expr_of


def meaning_of(known: Helper) -> Callable[..., Any]:
    """The helper on expressions and arrays of them."""
    meaning = known.meaning
    one = elementwise(lambda x: Sym(meaning(expr_of(x))))
    two = elementwise(lambda x, y: Sym(meaning(expr_of(x), expr_of(y))))
    three = elementwise(lambda x, y, z: Sym(meaning(expr_of(x), expr_of(y), expr_of(z))))
    return {1: one, 2: two}.get(len(known.ranges), three)


def special_checks(source: str) -> tuple[list[tuple[str, Proof]], list[str]]:
    """Refutations of helpers that are wrong, and what was checked of those that are not."""
    from blrgen.emit.special.checked import checks

    wrong, right = [], []
    for found in checks(source):
        claim = f"{found.name} is {found.says} in {found.dtype}"
        if found.passed:
            right.append(
                f"{claim}: at most {found.error:.1f} roundings off at {found.points} points "
                "(numeric)"
            )
            continue
        detail = f"{found.error:.3g} roundings off, more than {found.allowed:g}"
        at = tuple((n, repr(x)) for n, x in zip(("x", "y", "z"), found.point, strict=False))
        proof = Proof(
            "refuted", claim, detail, point=at, left=repr(found.value), right=found.wanted
        )
        wrong.append((found.name, proof))
    return wrong, right
