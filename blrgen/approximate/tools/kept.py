"""Whether a rule keeps q as a posterior, by what its derivation did; and if not, why.

A rule that draws θ ~ q has that q: where it looks at the loss depends on the spread.  One
that draws nothing has a posterior only where what it writes down as the precision is the
curvature that the rule solves for: not where the root of it divides the mean step, not
where the scale is given and not learned, not where the entropy, which is what keeps a
spread from collapsing, is left out.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import made

if TYPE_CHECKING:
    from blrgen.core import Derivation

# What the state is that would be the precision, where q is no posterior.
_SCALE = {"precision": "scale: the average of what stands for the curvature"}


def with_posterior_said(d: Derivation) -> Derivation:
    """The derivation whose rule says why it keeps no posterior, and what bounds one it keeps."""
    d = as_candidate(d)
    why = _unkept(d)
    if not why:
        return d.with_(rule=replace(d.rule, bounded=_bounded(d)))
    facts = replace(d.facts, candidate=d.rule.posterior)
    rule = replace(d.rule, posterior=(), unkept=why)
    return _read(d.with_(rule=rule, facts=facts), _SCALE)


def as_candidate(d: Derivation) -> Derivation:
    """The derivation with mean and precision of q in the rule, as rewritings read them."""
    d = d.with_(rule=replace(d.rule, bounded=""))
    if not d.rule.unkept:
        return d
    rule = replace(d.rule, posterior=d.facts.candidate, unkept="")
    return _read(d.with_(rule=rule), {there: here for here, there in _SCALE.items()})


def _read(d: Derivation, meanings: dict[str, str]) -> Derivation:
    """The quantities under other meanings."""
    said = (replace(q, meaning=meanings.get(q.meaning, q.meaning)) for q in d.rule.quantities)
    return d.with_(rule=replace(d.rule, quantities=tuple(said)))


def _unkept(d: Derivation) -> str:
    """Why there is no posterior; empty where there is one."""
    from blrgen.text.expression import unicode

    if d.facts.free is not None and made(d, "delta"):
        return (
            "each component is put to its mean, so that no line of the update looks at the spread "
            "of q"
        )
    if d.rule.of("draw"):
        return ""
    if made(d, "square-root") and d.facts.scale:
        s = unicode(d.rule[d.facts.scale].symbol)
        return (
            f"the root of {s} divides the mean step and no θ is drawn from q, so that no line "
            f"of the update uses {s} as a precision"
        )
    if made(d, "hessian", "squared-gradient") and not made(d, "stochastic"):
        return (
            "the square of the whole gradient stands for the curvature, and at an optimum it is "
            "zero whatever the curvature is"
        )
    if made(d, "delta") and made(d, "no-shrinkage"):
        return (
            "the entropy's pull is left out and no θ is drawn from q, so that nothing holds the "
            "spread of q to that of a posterior"
        )
    precision = dict(d.rule.posterior).get("precision")
    states = {q.symbol for q in d.rule.of("state")}
    if made(d, "delta") and precision is not None and not precision.free_symbols & states:
        return (
            "the scale of q is given and not learned and no θ is drawn from q, so that its spread "
            "says nothing of the loss"
        )
    return ""


def _bounded(d: Derivation) -> str:
    """What must hold for the spread to be that of the posterior, where squares stand in for it.

    The square of a minibatch's gradient is that of M rows added up, which at an optimum add up
    to little: the square of their mean, ḡ², is about 1/M of the mean of gᵢ²; that of N/M times
    their sum, which a mean loss that comes after it makes Nḡ², is N/M times too large.
    """
    if not made(d, "hessian", "squared-gradient"):
        return ""
    flags = [flag for flag, _ in d.approximations]
    if "ess" in flags and flags.index("ess") < flags.index("hessian"):
        return (
            "squared minibatch gradients stand for the curvature: the spread is that of the "
            "posterior with one row in a minibatch, and with M rows about √M times too wide"
        )
    return (
        "squared minibatch gradients stand for the curvature: with M of N rows in a minibatch the "
        "spread is about √(N/M) times too narrow"
    )
