"""What a rule's inputs are over the rows of data, and whether the prior is in them.

ℓ(θ) = Σᵢ ℓᵢ(θ) − log p(θ): the rule is derived for all of it.  A minibatch of M of the N rows
stands for the sum as N/M times its own.  With `ess` an input is of ℓ̄ = ℓ/N, so that the mean
over the minibatch is the estimate; with `prior` the update adds δm and δ, so that what is
handed to it is of the rows alone.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from blrgen.approximate.tools.base import made
from blrgen.approximate.tools.rewrite import chosen, shown
from blrgen.rule.quantities import probe_quantity

if TYPE_CHECKING:
    from blrgen.core import Derivation, Probe


_ALONE = "; the update adds it to the curvature alone"


def with_inputs_said(d: Derivation) -> Derivation:
    """Every input that is asked of the loss, with what is summed in it and what is not."""
    probes = {p.name: p for p in d.facts.probes}
    said = []
    for q in d.rule.quantities:
        if q.kind == "input" and q.name in probes:
            asked = probes[q.name]
            read = probe_quantity(asked, d.geometry, dict(d.candidate).get("mean"))
            over = "" if asked.of_mixture else f" ({_over_rows(d, asked)})"
            q = replace(read, meaning=read.meaning + over)
        elif q.kind == "hyper" and q.name == "delta":
            words = q.meaning.removesuffix(_ALONE)
            q = replace(q, meaning=words + (_ALONE if _in_curvature_alone(d) else ""))
        said.append(q)
    return d.with_(rule=replace(d.rule, quantities=tuple(said)))


def without_words(d: Derivation) -> Derivation:
    """The derivation as rewritings know it, without what the last of them does not add to."""
    kept = (replace(q, meaning=q.meaning.removesuffix(_ALONE)) for q in d.rule.quantities)
    return d.with_(rule=replace(d.rule, quantities=tuple(kept)))


def summed(d: Derivation) -> str:
    """In two words what the inputs are over the rows; empty where the loss is not asked."""
    if d.loss.expr is not None or not d.facts.probes:
        return ""
    if made(d, "ess"):
        return "means over rows"
    return "sums or means over rows" if _free(d) else "sums over rows"


def _in_curvature_alone(d: Derivation) -> bool:
    """Whether δ is in the rule for its curvature, and δm is left to the gradient."""
    return made(d, "hessian", "gauss-newton") and not made(d, "prior")


def _over_rows(d: Derivation, probe: Probe) -> str:
    """Both parts of what is said; of a loss that is given, only what it does not say itself."""
    if d.loss.expr is None or probe.stand_in:
        return f"{_rows(d, probe)}, {_prior(d, probe)}"
    given = "of the loss as given" + (", the mean over rows" if made(d, "ess") else "")
    return f"{given}, {_prior(d, probe)}" if made(d, "prior") else given


def _rows(d: Derivation, probe: Probe) -> str:
    """A sum or a mean, over which rows."""
    if made(d, "ess"):
        rows = "the rows of a minibatch" if probe.minibatch else "all rows"
        return f"the mean over {rows}, not times N"
    if free := _free(d):
        return free
    if probe.minibatch:
        return "the sum over all N rows, or N/M times that over the M rows of a minibatch"
    return "the sum over all rows"


def _free(d: Derivation) -> str:
    """What a factor in the gradient changes, where that is no more than one hyperparameter.

    With g → ag: u → au and s → a²s, so that u/(√s + c) is what it was with c/a for c; where
    nothing divides the gradient, the step is a times as long.
    """
    if not d.rule.unkept or chosen(d, "delta"):
        return ""
    squares = made(d, "hessian", "squared-gradient")
    if made(d, "square-root"):
        either = "the sum or the mean over rows, as only c tells them apart"
        return either if squares and chosen(d, "c") else ""
    return "" if squares else "the sum or the mean over rows, with a step size to match"


def _prior(d: Derivation, probe: Probe) -> str:
    """Whether the prior's part is in it."""
    if made(d, "prior", "current"):
        return "without a prior, as q so far is that"
    own = made(d, "prior", "total", "apart")
    if probe.order in (1, 2) and chosen(d, "delta") and (own or _in_curvature_alone(d)):
        m = shown(d.rule[str(d.facts.location)].symbol)
        part = f"δ{m}" if probe.order == 1 else "δ"
        added = own or probe.stand_in
        said = f"without the prior's {part}, which the update adds"
        return said if added else f"with the prior's {part} in it"
    if own:
        return "without the prior, whose λ₀ the update adds"
    return "with the prior's" + (" divided by N" if made(d, "ess") else "") + " in it"
