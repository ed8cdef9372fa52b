"""∫ f h exp⟨λ, T⟩ over an interval, by Gauss–Legendre panels around the modes.

The largest value of the log-density is subtracted before anything is exponentiated.
An integral whose integrand does not fall off is refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np

from blrgen.geometry.numbers.branch import Branch
from blrgen.geometry.numbers.landmarks import on_branch
from blrgen.geometry.numbers.modes import Peak, cut_of, panel_ends, peaks_of
from blrgen.geometry.numbers.panels import extended, settle
from blrgen.geometry.numbers.scout import Scout
from blrgen.geometry.numbers.task import Panels, Rule, Task, Unsettled, array

Expr = Any
Array = Any


def integrate(task: Task, branches: Sequence[Branch]) -> Rule:
    """The rule for an integral over the branches, settled for all integrands of the task."""
    peaks = peaks_of(task, branches)
    if not peaks:
        raise Unsettled("its largest value cannot be told in doubles")
    scale = max(p.height for p in peaks)
    centre = _centres(task, max(peaks, key=lambda p: p.height))
    scout = Scout(task, scale, centre)
    queue: list[Panels] = []
    for branch in branches:
        queue += _prepared(task, branch, [p for p in peaks if p.branch is branch], scout)
    rule = settle(task, queue, scale, centre)
    return replace(rule, peaks=tuple(peaks))


def _prepared(task: Task, branch: Branch, peaks: list[Peak], scout: Scout) -> list[Panels]:
    """The panels of a branch, with finer ones around the places that formulas name."""
    ends = sorted({e for p in peaks for e in p.ends})
    if len(ends) < 2:
        return []
    named = [u for u in on_branch(task.family, branch, task.constants) if ends[0] < u < ends[-1]]
    near: list[Any] = []
    for u in named:
        smallest = max(abs(u), 1e-3) * 1e-13
        steps = [0.0, *(math.ldexp(smallest, k) for k in range(48))]
        near += [u + sign * s for s in steps for sign in (1, -1) if s < 0.5]
    panels = _between(task, branch, ends)
    if named:
        fine = sorted({*ends, *(e for e in near if ends[0] < e < ends[-1])})
        all_of_them = _between(task, branch, fine)
        joined = scout.joined(all_of_them)
        # where much is left standing there is a spike, whose feet doubles cannot see
        spiky = len(joined.low) > len(panels.low) + 2 * len(named)
        panels = all_of_them if spiky and not task.doubles else joined
    return [panels] if task.doubles else scout.halved(panels)


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


def _between(task: Task, branch: Branch, ends: list[Any]) -> Panels:
    """The panels from each end to the next, ends that are nearly the same taken once."""
    tiny = 1e-14 if task.doubles else mpmath.mpf(10) ** (5 - mpmath.mp.dps)
    kept = [ends[0]]
    kept += [e for a, e in pairwise(ends) if e - a > tiny * (1 + abs(e))]
    return Panels(branch, array(kept[:-1], task.doubles), array(kept[1:], task.doubles))
