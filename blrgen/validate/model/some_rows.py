"""A step over some rows on numbers of a tower: what it is of the rows as often as N/M says.

Σ over M rows times N/M, where N = 2 M, is the sum over a data set that has each of these rows
twice.  So the step is held against the update of all rows of that data set, which knows of no
scale, blended with what was before; ρ is a random number.  Local blocks go through as many
rounds as the class is told to: one, or a few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from blrgen.decide.tower_kind import TOWERS
from blrgen.decide.towers import NoMeaning, Tower
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.names import axis_of
from blrgen.program.model.blocks import member_of
from blrgen.program.model.values import ModelProgram
from blrgen.rule.model.rows import inside_rows, sums_by_name
from blrgen.rule.model.values import ModelDerivation
from blrgen.validate.model.data import Drawn
from blrgen.validate.model.emitted import Reference, slopes_of
from blrgen.validate.model.laws import Law, law_of, of_elements

Found = dict[str, tuple[str, str]]
OTHER = "it is another expression"


@dataclass(frozen=True)
class Rows:
    """Half of the rows, the part ρ, and how often local blocks are visited."""

    half: tuple[int, ...]
    rate: Tower
    rounds: int


def halved(data: Drawn, d: ModelDerivation, rows: Rows) -> Drawn:
    """The data with each row of a step twice, and without the others."""
    twice = [*rows.half, *rows.half]
    arrays = dict(data.arrays)
    for name, axes in axes_of(d).items():
        if d.batch in axes and name in arrays:
            arrays[name] = np.take(arrays[name], twice, axis=axes.index(d.batch))
    lengths = dict(data.lengths)
    for axis in inside_rows(d.model, d.batch):
        lengths[axis] = tuple(lengths[axis][k] for k in twice)
    return replace(data, arrays=arrays, lengths=lengths)


def axes_of(d: ModelDerivation) -> dict[str, tuple[str, ...]]:
    """The axes of plates of everything that is known, with where it is seen and is there."""
    found: dict[str, tuple[str, ...]] = {}
    known: list[tuple[tuple[str, ...], tuple[str, ...]]]
    known = [((c.name,), c.letters) for c in d.model.constants]
    known += [(n.names, n.letters) for n in d.model.nodes if n.kind == "observed"]
    for names, letters in known:
        axes = tuple(axis_of(d.model.plate(x).size) for x in letters)
        found |= {x: axes for name in names for x in (name, f"seen:{name}")}
    for p in d.model.plates:
        if p.outer:
            outer = axis_of(d.model.plate(p.outer[-1]).size)
            found[f"exists:{axis_of(p.size)}"] = (outer, axis_of(p.size))
    return found


def step_over(
    d: ModelDerivation, program: ModelProgram, model: Any, before: Reference, rows: Rows,
    agree: Callable[[Any, Any], bool],
) -> Found:  # fmt: skip
    """One step of the class over half of the rows, against twice these rows."""
    found: Found = {}
    there = replace(before, data=halved(before.data, d, rows), laws=dict(before.laws))
    if d.points:
        sums = averages(d, program, model, before, found, agree)
        there.first()
        model.step(np.array(rows.half))
        return found | points_by(d, program, model, (there, rows.rate), sums, agree)
    there.first()
    model.step(np.array(rows.half))
    after = Reference(d, before.data, dict(before.laws), kind=before.kind)
    after.read(model, program)
    for u in d.updates:
        if not u.local:
            name = u.block.name
            there.laws[name] = partly(d, u.block, before, there, rows.rate)
            same = agree(there.laws[name].means, after.laws[name].means)
            found[name] = (f"q({name}) after a step over some rows", "" if same else OTHER)
    return found


def partly(d: ModelDerivation, b: Block, before: Reference, there: Reference, rate: Tower) -> Law:
    """(1 − ρ) λ + ρ λ'."""
    if b.kind != "element":
        raise NoMeaning("a part of the way of elements that are joined")
    was, new = before.laws[b.name].natural, law_of(d.model, b, there.values).natural
    mixed = [(1 - rate) * x + rate * y for x, y in zip(was, new, strict=True)]
    return of_elements(member_of(d.model, b), mixed, there.values)


def averages(
    d: ModelDerivation, program: ModelProgram, model: Any, before: Reference, found: Found,
    agree: Callable[[Any, Any], bool],
) -> dict[str, Any]:  # fmt: skip
    """What the averaged statistics start from: the E-step of all rows."""
    sums = {}
    for e, array in zip(d.sums, program.averaged, strict=True):
        sums[e.target] = np.asarray(model.state[array.name])
        whole = before.values.array(e.value, e.places)
        same = agree({"": whole}, {"": sums[e.target]})
        found[f"start of {e.target}"] = (
            f"{e.target} starts as the sum over all rows", "" if same else OTHER
        )  # fmt: skip
    return sums


def points_by(
    d: ModelDerivation, program: ModelProgram, model: Any, step: tuple[Reference, Tower],
    sums: dict[str, Any], agree: Callable[[Any, Any], bool],
) -> Found:  # fmt: skip
    """Each average after a step, and the slope of E[L] at each point in terms of them."""
    found: Found = {}
    there, rate = step
    for e, array in zip(d.sums, program.averaged, strict=True):
        rows = there.values.array(e.value, e.places)
        wanted = (1 - rate) * sums[e.target] + rate * rows
        now = np.asarray(model.state[array.name])
        same = agree({"": wanted}, {"": now})
        found[e.target] = (f"{e.target} after a step over some rows", "" if same else OTHER)
        there.sites[e.target] = now
    slopes, named = slopes_of(d), sums_by_name(d)
    after = Reference(d, there.data, sites=there.sites, kind=TOWERS)
    after.read(model, program)
    for v in program.variables:
        wrong = "no slope with a name here"
        if v.name in slopes:
            places, g = slopes[v.name]
            try:
                rest = after.values.array(named.of(g), places)
                wrong = "" if all(x == 0 for x in np.ravel(rest)) else "it is not zero"
            except KeyError as other:
                wrong = f"it holds {other.args[0]}, which is no average"
        found[v.name] = (f"the slope of E[L] by {v.name} in the averages is zero", wrong)
    return found
