"""∫ f h exp⟨λ, T⟩ over an interval, by Gauss–Legendre panels around the modes.

The largest value of the log-density is subtracted before anything is exponentiated.
An integral whose integrand does not fall off is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

from blrgen.numeric.branch import Branch
from blrgen.numeric.modes import Peak, cut_of, panel_ends, peaks_of
from blrgen.numeric.panels import extended, settle
from blrgen.numeric.task import Panels, Rule, Task, Unsettled, array

Expr = Any
Array = Any


def integrate(task: Task, branches: Sequence[Branch]) -> Rule:
    """The rule for an integral over the branches, settled for all integrands of the task."""
    peaks = peaks_of(task, branches)
    if not peaks:
        raise Unsettled("its largest value cannot be told in doubles")
    scale = max(p.height for p in peaks)
    centre = _centres(task, max(peaks, key=lambda p: p.height))
    found = [_merged(task, b, [p for p in peaks if p.branch is b]) for b in branches]
    rule = settle(task, [p for p in found if p is not None], scale, centre)
    return replace(rule, peaks=tuple(peaks))


def settled_for(task: Task, rule: Rule, f: Expr) -> Rule:
    """The rule of an integral with a further function among its integrands."""
    task = replace(task, functions=(f,), order=0)
    return extended(task, rule, _further_out(task, rule))


def _further_out(task: Task, rule: Rule) -> list[Panels]:
    """Panels beyond those of the rule, where the function has not fallen off with them."""
    found: list[Panels] = []
    branches = dict.fromkeys(p.branch for p in rule.peaks)
    top = max(p.height for p in rule.peaks)
    cut = top - cut_of(task)
    for branch in branches:
        here = [p for p in rule.peaks if p.branch == branch and len(p.ends) > 1]
        if not here:
            continue
        low, high = min(p.ends[0] for p in here), max(p.ends[-1] for p in here)
        for peak in here:
            ends = panel_ends(task, branch, peak.at, peak.height, cut)
            below = [*[e for e in ends if e < low], low]
            above = [high, *[e for e in ends if e > high]]
            for side in (below, above):
                if len(side) > 1:
                    lows, highs = array(side[:-1], task.doubles), array(side[1:], task.doubles)
                    found.append(Panels(branch, lows, highs))
            low, high = min(low, below[0]), max(high, above[-1])
    return found


def _centres(task: Task, peak: Peak) -> list[Any]:
    """The statistics at the highest mode."""
    _, t, _, _ = task.logs(peak.branch, array([peak.at], task.doubles))
    return [np.broadcast_to(x, (1,))[0] for x in t]


def _merged(task: Task, branch: Branch, peaks: list[Peak]) -> Panels | None:
    """The panels of all peaks of a branch, each cut at the ends of the others."""
    ends = sorted({e for p in peaks for e in p.ends})
    if len(ends) < 2:
        return None
    tiny = 1e-14 if task.doubles else mpmath.mpf(10) ** (5 - mpmath.mp.dps)
    kept = [ends[0]]
    kept += [e for a, e in pairwise(ends) if e - a > tiny * (1 + abs(e))]
    return Panels(branch, array(kept[:-1], task.doubles), array(kept[1:], task.doubles))
