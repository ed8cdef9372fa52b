"""Blocks of rows: the loop over rows is split, and the rows of a block go innermost.

Where a reduction in the loop has two or more letters beside the rows', or has one and no given
array is read at [row, letter], a block of rows is done by every loop inside before the next
one: the innermost loops are then over rows and vectorise.  What is given row by row is copied
first, so that a column of the block lies together.

Where rows are given and there is one more letter, rows stay as they lie and are done one by one;
but if functions are called of numbers of a row, a block of rows is still taken together, and
these numbers are computed for all of its rows at once, in loops that vectorise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.axes.parallel import parallel, shared
from blrgen.program.axes.schedule import Loop, Schedule, schedule
from blrgen.program.axes.scratch import paths
from blrgen.program.program import fresh

QUICK = {"sqrt", "abs", "sign", "floor", "max", "min"}  # one instruction for many numbers


def blocked(plan: Schedule, order: Sequence[str], every: bool = False) -> Schedule:
    """The schedule with blocks where they pay; with `every`, wherever they may be."""
    names: dict[str, str] = {}
    rows: dict[str, str] = {}
    single: set[str] = set()
    for x in shared(plan):
        if not may(x, plan):
            continue
        items = {i.let.name: i for i, _, _ in paths([x]) if not i.store}
        if not _is_scattered(x) and (every or pays(x, plan)):
            names |= dict.fromkeys(items, x.letter)
        elif _calls(x):
            rows |= dict.fromkeys(items, x.letter)
            single |= {name for name, i in items.items() if i.let.at or len(i.nest) > 1}
    if not names and not rows:
        return plan
    used = taken(plan.program)
    program, more = _copied(plan.program, names) if names else (plan.program, {})
    inner = _named("{}_in", {*names.values(), *rows.values()}, used)
    along = _named("{}_row", set(rows.values()), used)
    return schedule(program, order, inner, {**rows, **names, **more}, along, frozenset(single))


def _named(pattern: str, letters: set[str], used: set[str]) -> dict[str, str]:
    """New letters beside others."""
    out: dict[str, str] = {}
    for x in sorted(letters):
        out[x] = fresh(pattern.format(x), used)
        used.add(out[x])
    return out


def may(loop: Loop, plan: Schedule) -> bool:
    """Rows that do not depend on one another, without linear algebra and ragged rows."""
    if loop.seq is not None or not parallel(loop, plan):
        return False
    ragged = any(w.under == loop.letter for w in plan.program.letters)
    items = [i.let for i, _, _ in paths([loop])]
    bounded = any(loop.letter in pair for s in items for pair in s.bounds)
    return not ragged and not bounded and not any(isinstance(s.expr, a.Lin) for s in items)


def _is_scattered(loop: Loop) -> bool:
    return any(i.let.at for i, _, _ in paths([loop]))


def _calls(loop: Loop) -> bool:
    """Whether there are inner loops, and functions called of numbers of a row besides."""
    items = [i for i, _, _ in paths([loop]) if not i.store]
    alone = [i.let for i in items if len(i.nest) == 1]
    called = {
        x.name for s in alone for e in s.expressions for x in n.walk(e) if isinstance(x, n.Call)
    }
    return len(alone) < len(items) and not called <= QUICK


def pays(loop: Loop, plan: Schedule) -> bool:
    """The rule of the module, by what the reductions' nests hold beside the rows."""
    items = [i for i, _, _ in paths([loop])]
    most = max((len(i.nest) - 1 for i in items if isinstance(i.let.expr, a.Red)), default=0)
    given = {q.name for q in plan.program.given}
    rows = any(
        r.name in given and len(r.index) > 1 and loop.letter in a.free(r)
        for i in items for e in i.let.expressions for r in a.refs(e)
    )  # fmt: skip
    return most >= 2 or (most == 1 and not rows)


def _copied(program: a.Program, names: dict[str, str]) -> tuple[a.Program, dict[str, str]]:
    """Given rows that are read in blocks, under names of their own."""
    used = taken(program)
    given = {q.name for q in program.given}
    copies: dict[a.Ref, str] = {}
    rows: dict[str, str] = {}
    before: list[a.Let] = []

    def on(e: n.Node, letter: str) -> n.Node:
        if not isinstance(e, a.Ref) or e.name not in given or not _is_row(e, letter):
            return e.rebuilt(lambda c: on(c, letter))
        letters = _letters(program, e, letter)
        own = a.Ref(e.name, tuple(map(a.Ix, letters)))
        if own not in copies:
            copies[own] = fresh(f"{e.name}_block", used)
            used.add(copies[own])
            rows[copies[own]] = letter
            before.append(a.Let(copies[own], letters, own))
        return a.Ref(copies[own], e.index)

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        return (replace(s, expr=on(s.expr, names[s.name])) if s.name in names else s,)

    body = a.mapped(program.body, let)
    return replace(program, body=(*before, *body)), rows


def _is_row(e: a.Ref, letter: str) -> bool:
    """Whether all indices are letters, the rows' and others."""
    letters = all(isinstance(i, a.Ix) for i in e.index)
    return letters and len(e.index) > 1 and a.Ix(letter) in e.index


def _letters(program: a.Program, e: a.Ref, rows: str) -> tuple[str, ...]:
    """One letter for each axis, so that all who read the rows read the same copy."""
    out: list[str] = []
    for i in e.index:
        assert isinstance(i, a.Ix)
        size = program.letter(i.letter).size
        same = [x.name for x in program.letters if x.size == size and x.name not in out]
        out.append(rows if i.letter == rows else next(x for x in same if x != rows))
    return tuple(out)
