"""The named approximations of model algorithms: why, under which condition, from where."""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.expect.sites.values import Site
from blrgen.rule.model.values import Choice

_KHAN = "Khan & Rue 2023, section 5"


def exact(nodes: Sequence[str]) -> Choice:
    """ρ = 1 on a conjugate block."""
    return Choice(
        "rho = 1", tuple(nodes),
        "the log joint is linear in the block's statistics: one step of the rule is its fixed "
        "point, Bayes' rule",
        "multiplying the coefficients back leaves no remainder", f"{_KHAN}.1",
    )  # fmt: skip


def delta(nodes: Sequence[str]) -> Choice:
    """A point in place of a q."""
    return Choice(
        "delta", tuple(nodes),
        "a candidate without spread: E_q[f] is f at its mean, and the rule to its fixed point is "
        "the argmax of E[L]",
        "no prior (a flat measure in the variable as written), or named with --point", f"{_KHAN}.3",
    )  # fmt: skip


def mean_field(nodes: Sequence[str]) -> Choice:
    """q as a product over blocks."""
    return Choice(
        "mean field", tuple(nodes),
        "q is a product over blocks, so each block needs the others' expectations alone",
        "every block is conjugate given the others", "Winn & Bishop 2005",
    )  # fmt: skip


def sites(found: Sequence[Site]) -> Choice:
    """What is not conjugate, by the gradient of its expectation."""
    nodes = tuple(dict.fromkeys(x for s in found for x in s.nodes))
    return Choice(
        "gradient of the expectation", nodes,
        "what is left beside the block's statistics enters by the gradient of its expectation in "
        "q's mean parameters; the conjugate part enters exactly",
        "that expectation has a route", "Knowles & Minka 2011; Khan & Lin 2017",
    )  # fmt: skip


def minibatch(nodes: Sequence[str], axis: str) -> Choice:
    """Sums over some rows, scaled."""
    return Choice(
        "stochastic", tuple(nodes),
        f"sums over {axis} are estimated from M of its places, {axis}/M times each",
        f"the places of {axis} are independent given these nodes", "Hoffman et al. 2013",
    )  # fmt: skip


def decaying(nodes: Sequence[str]) -> Choice:
    """ρ_t that falls with the step."""
    return Choice(
        "rho = (delay + t)^(-forgetting)", tuple(nodes),
        "averages over steps: the noise of the rows that a step sees goes out",
        "1/2 < forgetting <= 1", "Robbins & Monro 1951",
    )  # fmt: skip


def draws(nodes: Sequence[str]) -> Choice:
    """Samples in place of expectations."""
    return Choice(
        "draw", tuple(nodes),
        "each block is drawn from its full conditional, whose parameters are those of rho = 1 "
        "at the values of the others",
        "every full conditional is in a family that can be drawn from", "Geman & Geman 1984",
    )  # fmt: skip
