"""An emitted class, run on numbers of a tower of prime fields against the derived updates.

Its text is executed as it stands (loops, blocks of rows, factors of matrices, log-sum-exp), on
random numbers for which exp and log have meaning (`blrgen.decide.towers`); so are the derived
expressions, by plain loops, with each q's E[T] and A from its own family.  What is equal in all
runs is equal as an expression, up to the stated chance, at the sizes that were run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from blrgen.decide.modular import Unlucky
from blrgen.decide.proof import NOT_COMPARED, Proof
from blrgen.decide.tower_kind import TOWERS
from blrgen.decide.towers import LOWEST, NoMeaning, NotANumber, choosing, random_number
from blrgen.emit.model.places import python_name
from blrgen.program.model.blocks import member_of
from blrgen.program.model.member import Member
from blrgen.program.model.values import ModelProgram
from blrgen.read.model.values import Model
from blrgen.rule.model.values import ModelDerivation
from blrgen.validate.model.covered import Seen, at_numbers, by_sign, left_out, recorded
from blrgen.validate.model.data import Drawn, Small, drawn, other_sizes
from blrgen.validate.model.emitted import Reference, slopes_of
from blrgen.validate.model.fields import Drawing, started, told
from blrgen.validate.model.laws import law_of, law_of_state
from blrgen.validate.model.some_rows import Rows, step_over
from blrgen.validate.model.stand_ins import class_on

PLAIN = Small(5, 3, (3, 2), (2, 3))
MANY = Small(8, 4, (2, 1, 1, 1), (2, 3))  # with short blocks: more than one chunk
WIDE = Small(7, 2, (2, 2), (5,))  # with short blocks: more than four at a time
KINDS = (PLAIN, MANY, WIDE, PLAIN)
FEW = 2  # rounds over local blocks, where none of them is the last by itself
MOST_INNER = 4  # rounds that were asked for
PATIENCE = 2  # other numbers, where one divides by zero
OTHER = "it is another expression"
Found = dict[str, tuple[str, str]]  # by name: what is claimed, and what is wrong with it


def prove(
    d: ModelDerivation, program: ModelProgram, source: str, seed: int = 1
) -> tuple[tuple[str, Proof], ...]:
    """The objective, every q and every point; NoMeaning where these numbers do not go through."""
    random, seen = Random(seed), Seen()
    # a comparison that has no answer: one way, the other way, at random
    answers = (lambda: False, lambda: True, *[lambda: random.random() < 0.5] * 2)
    runs, sizes = [], []
    kinds = [replace(x, rows=x.rows + x.rows % 2) for x in KINDS] if d.batch else KINDS
    for k, (answer, small) in enumerate(zip(answers, kinds, strict=True)):
        t = Trial(source, drawn(d.model, program, small=small), random, k in (1, 2), seen,
                  rounds_of(d, FEW if k == 1 else 1))  # fmt: skip
        with choosing(answer), np.errstate(all="ignore"):
            try:
                made = [(t, lucky(d, program, t))]
            except Singular:
                others = [replace(t, data=drawn(d.model, program, small=x))
                          for x in instead(d.model, small)]  # fmt: skip
                made = [(x, lucky(d, program, x)) for x in others]
        runs += [found for _, found in made]
        sizes += [_sizes_said(x.data.sizes) for x, _ in made]
    where = "; ".join(dict.fromkeys(sizes))
    exact = Proof(
        "random-exact", "", f"run on random numbers of a tower of prime fields at {where}",
        bound=f"(k/{LOWEST})^{len(kinds)}, k the larger degree", sizes=where,
    )  # fmt: skip
    proofs = []
    for name, (claim, _) in runs[0].items():
        wrong = [run[name][1] for run in runs if run[name][1]]
        proof = Proof(NOT_COMPARED, claim, wrong[0]) if wrong else replace(exact, claim=claim)
        proofs.append((name, proof))
    if missed := left_out(source, seen):
        text = f"line {missed[0]} was never run at {where}"
        proofs.append(("all lines", Proof(NOT_COMPARED, "every line was run", text)))
    if asked := by_sign(source, seen):
        text = f"line {asked[0]} asks for the sign of a number, and went one way only"
        proofs.append(("all signs", Proof(NOT_COMPARED, "every line went both ways", text)))
    if asked := at_numbers(source):
        text = f"line {asked[0]} asks whether something is a certain number, and it never was"
        proofs.append(("all numbers", Proof(NOT_COMPARED, "every number was met", text)))
    return tuple(proofs)


@dataclass(frozen=True)
class Trial:
    """A source to run: on which data, with short blocks or not; what was seen of it."""

    source: str
    data: Drawn
    random: Random
    short: bool
    seen: Seen
    rounds: int = 1  # over local blocks, in a step over some rows


def rounds_of(d: ModelDerivation, otherwise: int) -> int:
    """Rounds over local blocks: as many as were asked for, where that is a number to run."""
    if (d.inner or 0) > MOST_INNER:
        raise NoMeaning(f"{d.inner} rounds over local blocks")
    return d.inner or otherwise


class Singular(NoMeaning):
    """Where all numbers divide by zero: too few rows for what is found from them."""


def instead(model: Model, x: Small) -> tuple[Small, ...]:
    """More rows, by an even number, and longer chains.

    Sizes that all are wide need a chain longer than the widths together, and the work grows with
    the square of all numbers in it, of labels with all their paths.  So some sizes are wide in one
    run, the others in another: of labels in a short chain their number, in a longer one the rest.
    """
    more = Small(x.rows + 8, x.chain + 1, tuple(n + 2 for n in x.lengths), x.others)
    labels = _labels(model)
    if len(x.others) > 1 or not (labels or gaussian_chain(model)):
        return (more,)
    (wide,) = x.others
    if labels:
        left = other_sizes(model, x)
        few, many = (
            tuple(a if y in labels else b for y in left) for a, b in ((2, wide), (wide, 2))
        )
        return replace(more, chain=wide + 2, others=few), replace(more, chain=4, others=many)
    return (replace(more, chain=wide + 2, others=(wide, 2)),
            replace(more, chain=4, others=(2, wide)))  # fmt: skip


def _labels(model: Model) -> set[str]:
    """How many labels there are, in unknown chains of such."""
    chains = [n for n in model.nodes if n.chain is not None and n.kind != "observed"]
    return {y.shape[0].name for n in chains for y in n.domains if y.kind == "one-hot"}


def gaussian_chain(model: Model) -> bool:
    """Whether there are unknown chains, and none of labels: their paths are gone through."""
    kinds = {y.kind for n in model.nodes if n.chain is not None and n.kind != "observed"
             for y in n.domains}  # fmt: skip
    return bool(kinds) and not kinds & {"labels", "one-hot"}


def _sizes_said(sizes: Mapping[str, int]) -> str:
    """Sizes that have names."""
    named = (f"{k} = {v}" for k, v in sizes.items() if not k.isdigit())
    return ", ".join(named) or "the sizes of the text"


def lucky(d: ModelDerivation, program: ModelProgram, t: Trial) -> Found:
    """A trial on numbers by which it can divide."""
    for _ in range(PATIENCE):
        with suppress(Unlucky, NotANumber):
            return trial(d, program, t)
    raise Singular("a division by zero for all random numbers")


def trial(d: ModelDerivation, program: ModelProgram, t: Trial) -> Found:
    """One step of the class, from a random state."""
    draw, data = Drawing(t.random), t.data
    given, arrays = told(d, data, draw)
    marginal = [v for c in program.chained for v in c.variables]
    start = {v.name: started(v, data, draw) for v in (*program.variables, *marginal)}
    reference = Reference(d, Drawn(given, arrays, data.sizes, data.lengths), kind=TOWERS)
    rows = some_rows(d, t, draw)
    try:
        stands = {"_rate": lambda *_: rows.rate} if rows else {}
        kind = class_on(t.source, short=t.short, rounds=t.rounds, stands=stands)
        if program.filter is not None:
            with recorded(t.seen):
                return filtered(program, kind, given, reference)
        model = kind(**{python_name(k): x for k, x in given.items()}, start=start, seed=1)
        reference.read(model, program)
        reference.rounds = t.rounds if d.batch else 0
        reference.first()
        with recorded(t.seen):
            found = posteriors(d, program, model, reference)
            objective = model.objective() if rows else model.step()
        same = objective == reference.objective()
        if rows:
            found["objective"] = ("the objective of all rows", "" if same else OTHER)
            with recorded(t.seen):
                return found | step_over(d, program, model, reference, rows, agree)
        found |= {"objective": ("the objective before a step", "" if same else OTHER)}
        found |= blocks_after(d, program, model, reference)
        return found | points_after(d, program, reference)
    except (TypeError, ValueError, AttributeError, KeyError, IndexError) as trouble:
        raise NoMeaning(f"{type(trouble).__name__}: {trouble}") from trouble


def filtered(
    program: ModelProgram, kind: Any, given: dict[str, Any], reference: Reference
) -> Found:
    """Element by element: log p of all of them."""
    assert program.filter is not None
    reference.first()
    comes = dict(zip((x.called for x in program.filter.arriving), program.filter.places,
                     strict=True))  # fmt: skip
    model = kind(**{python_name(k): x for k, x in given.items() if k not in comes})
    each = {python_name(k): np.moveaxis(given[k], at, 0) for k, at in comes.items()}
    for t in range(len(next(iter(each.values())))):
        model.step(**{k: x[t] for k, x in each.items()})
    same = model.objective() == reference.objective()
    return {"log evidence": ("log p of all elements", "" if same else OTHER)}


def some_rows(d: ModelDerivation, t: Trial, draw: Drawing) -> Rows | None:
    """Half of the rows, in any order, of an algorithm that steps over some of them."""
    if not d.batch:
        return None
    size = t.data.sizes[d.batch]
    half = t.random.sample(range(size), size // 2)
    return Rows(tuple(half), random_number(draw.random), t.rounds)


def posteriors(
    d: ModelDerivation, program: ModelProgram, model: Any, reference: Reference
) -> Found:
    """What `posterior` gives for a block whose elements stand by themselves."""
    found: Found = {}
    blocks = {u.block.name: u.block for u in d.updates if u.block.kind == "element"}
    for p in program.posteriors:
        if p.node in blocks and p.node in reference.laws:
            member, state = member_of(d.model, blocks[p.node]), model.posterior(p.node)
            laws = reference.laws[p.node].means
            means = {name: present(x, member, reference) for name, x in laws.items()}
            if member.one_hot:
                own = {name: state["p"] for name in means}
            else:
                own = law_of_state(d.model, blocks[p.node], state, reference.values).means
                own = {name: present(x, member, reference) for name, x in own.items()}
            same = agree(means, own)
            found[f"posterior of {p.node}"] = (f"q({p.node}) at its maximum", "" if same else OTHER)
    return found


def present(x: Any, member: Member, reference: Reference) -> Any:
    """The elements that there are, one row after the other, where rows are ragged."""
    known = reference.data.arrays
    masks = [known[f"exists:{i.axis}"] for i in member.element if f"exists:{i.axis}" in known]
    return x[masks[0] > 0] if masks else x


def blocks_after(
    d: ModelDerivation, program: ModelProgram, model: Any, reference: Reference
) -> Found:
    """Each q with a state, in order; the points are the class's, and their slopes shown after."""
    found: Found = {}
    states = {v.name for v in program.variables if not v.is_point}
    states |= {u.block.name for u in d.updates for c in program.chained
               if set(u.block.nodes) == {v.name for v in c.variables}}  # fmt: skip
    after = Reference(d, reference.data, dict(reference.laws), kind=reference.kind, kept=True)
    after.read(model, program)
    for u in d.updates:
        name = u.block.name
        if name in states:
            law = law_of(d.model, u.block, reference.values)
            same = agree(law.means, after.laws[name].means)
            found[name] = (f"q({name}) after a step", "" if same else OTHER)
            reference.laws[name] = law
    reference.points |= after.points
    return found


def points_after(d: ModelDerivation, program: ModelProgram, reference: Reference) -> Found:
    """The slope of E[L] at each point."""
    found: Found = {}
    slopes = slopes_of(d)
    for v in program.variables:
        if not v.is_point:
            continue
        wrong = "no slope with a name here"
        if v.name in slopes:
            places, e = slopes[v.name]
            rest = np.asarray(reference.values.array(e, places)).reshape(-1)
            wrong = "" if all(x == 0 for x in rest) else "it is not zero"
        found[v.name] = (f"the slope of E[L] by {v.name} is zero after a step", wrong)
    return found


def agree(a: Mapping[str, Any], b: Mapping[str, Any]) -> bool:
    """Equal, entry by entry."""
    return a.keys() == b.keys() and all(
        np.shape(a[k]) == np.shape(b[k])
        and all(x == y for x, y in zip(np.ravel(a[k]), np.ravel(b[k]), strict=True))
        for k in a
    )
