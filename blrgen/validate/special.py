"""Emitted special functions: what they mean in a proof, and whether they compute that.

In a run on symbols a call of `_digamma` is ψ; that the emitted text computes ψ, to the
last few digits, is checked on numbers and said beside the proof: it is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from blrgen.decide.proof import Proof
from blrgen.emit.special import Helper
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.number import Sym, expr_of


def meaning_of(known: Helper) -> Callable[..., Any]:
    """The helper on expressions and arrays of them."""
    return on_symbols(known.meaning)


def on_symbols(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """A function of expressions, on arrays of them, element by element."""

    def apply(*args: Any) -> Any:
        arrays = [np.asarray(a, dtype=object) for a in args]
        shapes = [a.shape for a in arrays if a.shape]
        if not shapes:
            return Sym(meaning(*map(expr_of, args)))
        full = [np.broadcast_to(a, shapes[0]).reshape(-1) for a in arrays]
        values = [Sym(meaning(*map(expr_of, row))) for row in zip(*full, strict=True)]
        return array(values).reshape(shapes[0])

    return apply


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
