"""Blocks of rows: the loop over rows is split, in one of two ways.

By columns: the rows of a block go innermost, into every loop, so that each vectorises; what is
given row by row is copied first, so that a column of the block lies together.  That pays where
a reduction has two or more letters beside the rows', or has one and no given array is read at
[row, letter].  By rows: what has other letters keeps its rows outside, and what has none is
done for a block of rows at once.  That pays where functions are called of it, and is so where
random numbers are drawn for each row: a block of them is made at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.axes.parallel import parallel, shared
from blrgen.program.axes.schedule import Block, Loop, Schedule, schedule
from blrgen.program.axes.scratch import paths
from blrgen.program.axes.share import CHEAP
from blrgen.program.program import fresh

COLUMNS, ROWS = "columns", "rows"


def blocked(plan: Schedule, order: Sequence[str], every: str = "") -> Schedule:
    """The schedule with blocks where they pay; or all that may be, in one of the two ways."""
    columns: dict[str, str] = {}
    rows: dict[str, str] = {}
    blocks: dict[str, Block] = {}
    passes: list[list[a.Let]] = []
    used = taken(plan.program)
    for x in shared(plan):
        way = (every if may(x, plan, every) else "") if every else best(x, plan)
        way = ROWS if draws(x) and may(x, plan, ROWS) else way
        if not way:
            continue
        if x.letter not in blocks:
            names = [fresh(f"{x.letter}_{word}", used) for word in ("in", "at")]
            used.update(names)
            blocks[x.letter] = Block(*names)
        chosen = columns if way == COLUMNS else rows
        own = [i.let for i, _, _ in paths([x]) if not i.store]
        chosen.update(dict.fromkeys((s.name for s in own), x.letter))
        passes += [own] if way == COLUMNS else []
    if not columns and not rows:
        return plan
    program, more = _copied(plan.program, columns, passes)
    program, gathered = _gathered(program, rows)
    return schedule(program, order, blocks, {**columns, **more}, {**rows, **gathered})


def best(loop: Loop, plan: Schedule) -> str:
    """The way that pays, if one does."""
    if may(loop, plan, COLUMNS) and by_columns(loop, plan):
        return COLUMNS
    return ROWS if may(loop, plan, ROWS) and by_rows(loop) else ""


def may(loop: Loop, plan: Schedule, way: str) -> bool:
    """Rows that do not depend on one another, without linear algebra and ragged rows."""
    if loop.seq is not None or not parallel(loop, plan):
        return False
    ragged = any(w.under == loop.letter for w in plan.program.letters)
    found = [i for i, _, _ in paths([loop])]
    items = [i.let for i in found]
    scattered = way == COLUMNS and any(i.let.at and len(i.nest) > 1 for i in found)
    bounded = any(loop.letter in pair for s in items for pair in s.bounds)
    linear = any(isinstance(s.expr, a.Lin) for s in items)
    return not (ragged or scattered or bounded or linear)


def draws(loop: Loop) -> bool:
    """Whether random numbers are drawn, which is done for a block at once."""
    return any(isinstance(i.let.expr, a.Draw) for i, _, _ in paths([loop]))


def by_columns(loop: Loop, plan: Schedule) -> bool:
    """Whether reductions have many letters, or none of the rows is given."""
    items = [i for i, _, _ in paths([loop])]
    most = max((len(i.nest) - 1 for i in items if isinstance(i.let.expr, a.Red)), default=0)
    given = {q.name for q in plan.program.given}
    rows = any(
        r.name in given and len(r.index) > 1 and loop.letter in a.free(r)
        for i in items for e in i.let.expressions for r in a.refs(e)
    )  # fmt: skip
    return most >= 2 or (most == 1 and not rows)


def by_rows(loop: Loop) -> bool:
    """Whether functions are called of rows, in a loop that has other loops inside."""
    items = [i for i, _, _ in paths([loop])]
    calls = [x for i in items if len(i.nest) == 1 for x in n.walk(i.let.expr)
             if isinstance(x, n.Call) and x.name not in CHEAP]  # fmt: skip
    return bool(calls) and any(len(i.nest) > 1 for i in items)


def _copied(
    program: a.Program, names: dict[str, str], passes: list[list[a.Let]]
) -> tuple[a.Program, dict[str, str]]:
    """Given rows that are read in blocks, under names of their own; labels are read as they lie.

    Each pass over rows has a copy of its own, so that no more is kept than one block.
    """
    used = taken(program)
    given = {q.name for q in program.given if not q.labels}
    made = {s.name for s in program.lets}
    number = {s.name: k for k, own in enumerate(passes) for s in own}
    after = [_needed(own) & made for own in passes]
    copies: dict[tuple[int, a.Ref], str] = {}
    rows: dict[str, str] = {}

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        if s.name not in names:
            return (s,)
        before: list[a.Let] = []
        letter, pass_ = names[s.name], number[s.name]

        def on(e: n.Node) -> n.Node:
            if not isinstance(e, a.Ref) or e.name not in given or not _is_row(e, letter):
                return e.rebuilt(on)
            letters = _letters(program, e, letter)
            places = zip(e.index, letters, strict=True)
            own = a.Ref(e.name, tuple(i if x == letter else a.Ix(x) for i, x in places))
            if (pass_, own) not in copies:
                name = copies[pass_, own] = fresh(f"{e.name}_block", used)
                used.add(name)
                rows[name] = letter
                before.append(a.Let(name, letters, own, after=tuple(sorted(after[pass_]))))
            index = tuple(a.Ix(letter) if letter in a.free(i) else i for i in e.index)
            return a.Ref(copies[pass_, own], index)

        expr = on(s.expr)
        return *before, replace(s, expr=expr)

    return replace(program, body=a.mapped(program.body, let)), rows


def _needed(own: list[a.Let]) -> set[str]:
    """What a pass over rows reads, beside what it makes: it comes after all of that."""
    names = {r.name for s in own for e in (*s.expressions, *s.at) for r in a.refs(e)}
    return names - {s.name for s in own}


def _gathered(program: a.Program, names: dict[str, str]) -> tuple[a.Program, dict[str, str]]:
    """What rows read by labels, as equations of their own: gathers keep loops from vectorising."""
    used = taken(program)
    made: dict[str, str] = {}
    copies: dict[a.Ref, str] = {}

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        if s.name not in names or s.letters != (names[s.name],) or isinstance(s.expr, a.Red):
            return (s,)
        before: list[a.Let] = []

        def on(e: n.Node) -> n.Node:
            if not isinstance(e, a.Ref) or not any(isinstance(i, a.At) for i in e.index):
                return e if isinstance(e, a.Ref) else e.rebuilt(on)
            if e not in copies:
                copies[e] = fresh(f"{e.name}_{s.letters[0]}", used)
                used.add(copies[e])
                made[copies[e]] = s.letters[0]
                before.append(a.Let(copies[e], s.letters, e))
            return a.Ref(copies[e], tuple(map(a.Ix, s.letters)))

        expr = on(s.expr)
        return *before, replace(s, expr=expr)

    return replace(program, body=a.mapped(program.body, let)), made


def _is_row(e: a.Ref, letter: str) -> bool:
    """Whether all indices are letters, the rows' and others; one may be a label of each row."""
    others = [i for i in e.index if letter not in a.free(i)]
    rows = [i for i in e.index if letter in a.free(i)]
    plain = all(isinstance(i, a.Ix) for i in others) and 0 < len(others) == len({*others})
    alone = len(rows) == 1 and a.free(rows[0]) == (letter,)
    return plain and alone and isinstance(rows[0], a.Ix | a.At)


def _letters(program: a.Program, e: a.Ref, rows: str) -> tuple[str, ...]:
    """One letter for each axis, so that all who read the rows read the same copy."""
    out: list[str] = []
    for i in e.index:
        if rows in a.free(i):
            out.append(rows)
            continue
        assert isinstance(i, a.Ix)
        size = program.letter(i.letter).size
        same = [x.name for x in program.letters if x.size == size and x.name not in out]
        out.append(next(x for x in same if x != rows))
    return tuple(out)
