"""Backtracking of matrices and vectors: the step is tried with ρ, ρ/2, ρ/4 and so on.

Whether a matrix is definite is found by its Cholesky factor, which the step needs anyway;
the components of a vector share one step size, and are looked at.  With ρ = 0 every state
stays where it is, inside, so that the halving ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from blrgen.core import Derivation

Expr = Any
RATE = "rho"


def halved(d: Derivation, option: str | None) -> Derivation:
    """The rule as it is, with the step size that is halved until the step stays inside."""
    from dataclasses import replace

    from blrgen.approximate.tools.rewrite import chosen, refuse, say
    from blrgen.rule.lines import equations_of

    if not chosen(d, RATE):
        raise refuse("backtracking", "ρ is no longer in the rule", "put --backtracking before it")
    parameters = d.family.working or d.family.natural
    if not any(p.domain.kind in ("spd", "-spd") or _ended(p.domain) for p in parameters):
        raise refuse(
            "backtracking", f"no parameter of {d.family.name} has an end that a step could cross"
        )
    moving = leaves(d)
    if moving:
        raise refuse(
            "backtracking",
            f"with ρ = 0 the rule, as it has been rewritten, moves {moving}: halving need not end",
            "put --backtracking before everything but --delta, --stochastic, --coordinates and "
            "--retraction",
        )
    d = d.with_(rule=replace(d.rule, halved=RATE))
    return say(
        d, "backtracking", option, "Backtracking",
        f"the step is tried with ρ, ρ/2, ρ/4, … until {_inside(d)}; with ρ = 0 nothing moves",
        equations=equations_of(d.rule, d.geometry),
    )  # fmt: skip


def check_halved(d: Derivation, flag: str) -> None:
    """Refuse what would leave nothing to halve, or a step that halving does not shorten."""
    from blrgen.approximate.tools.rewrite import refuse

    if d.rule.halved not in d.rule:
        raise refuse(
            flag, "--backtracking halves ρ, which would no longer be in the rule",
            "leave one of the two out",
        )  # fmt: skip
    moving = leaves(d)
    if moving:
        raise refuse(
            flag, f"--backtracking halves ρ, and with ρ = 0 the rule would still move {moving}",
            "leave one of the two out",
        )  # fmt: skip


def _inside(d: Derivation) -> str:
    """What is looked at after a trial."""
    from blrgen.algebra.ring import Matrix

    if isinstance(d.geometry.ring, Matrix):
        return (
            "every matrix that must be definite has a Cholesky factor and every number is "
            "between its ends"
        )
    return "every component and number is finite and between its ends"


def _ended(domain: Any) -> bool:
    import sympy as sp

    ends = (domain.lower, domain.upper)
    return domain.kind == "interval" and not all(sp.sympify(b).is_infinite for b in ends)


def leaves(d: Derivation) -> str:
    """A state that moves when ρ is 0, as it is shown; nothing when none does."""
    from blrgen.algebra.words import normal
    from blrgen.approximate.tools.rewrite import shown, symbol
    from blrgen.rule.expand import expanded

    rho = symbol(d, RATE)
    known: dict[Expr, Expr] = {}
    for name, value in expanded(d.rule).items():
        new = d.geometry.ring.symbol_like(symbol(d, name), f"{name}_next")
        still = normal(normal(value.subs(rho, 0).xreplace(known)))
        known[new] = symbol(d, name)
        if normal(still - symbol(d, name)) != 0:
            return str(shown(symbol(d, name)))
    return ""
