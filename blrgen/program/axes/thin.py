"""Long and thin matrices are multiplied along their long side.

    G[a,b] = sum(i, U[a,i] * W[i,b])   →   W_turned[b,i] = W[i,b];
                                           G[a,b] = sum(i, U[a,i] * W_turned[b,i])

Where G and an identity are a matrix that is solved with, the axis that is summed over is as a
rule the longer one: loops along it are worth their beginning, and the matrix that stands across
is turned once.  Of rows of data, an axis that no quantity has twice, nothing is copied, and nothing
where the loop over it is outside of all others anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def thin(program: a.Program, order: Sequence[str]) -> a.Program:
    """The program after `anf`, for loops in that order, with matrices turned for such products."""
    structures, used = program.structures, taken(program)
    made = {s.name: s.letters for s in program.body if isinstance(s, a.Let) and not s.at}
    whole = {*made, *(q.name for q in program.given if len(q.sizes) == 2)}
    may = {x for x in whole if structures[x] == "dense"}
    inside = (s for s in _solved(program) if order.index(s.letters[0]) < _place(s, order))
    across = (_across(s, program) for s in inside)
    found = [r for down in across if all(r.name in may for r in down) for r in down]
    turned: dict[str, a.Let] = {}
    for r in found:
        if r.name not in turned:
            name = fresh(f"{r.name}_turned", used)
            used.add(name)
            turned[r.name] = a.Let(name, _letters(r)[::-1], r)
    return replace(program, body=_placed(program, turned)) if turned else program


def _solved(program: a.Program) -> list[a.Let]:
    """The squares that with an identity are a definite matrix which is solved with."""
    linear = [x for s in program.lets for x in n.walk(s.expr) if isinstance(x, a.Lin)]
    plain = [s for s in program.body if isinstance(s, a.Let)]
    matrices = [s.expr for s in plain for x in linear if x.args[0].name == s.name]
    one = [e for e in matrices if any(isinstance(x, a.Is) for x in n.walk(e))]
    parts = {x for e in one for x in e.names}
    return [s for s in plain if s.name in parts and len(s.letters) == 2]


def _place(s: a.Let, order: Sequence[str]) -> int:
    """Where the letter of a sum stands."""
    return (
        min((order.index(x) for x in s.expr.letters), default=-1)
        if isinstance(s.expr, a.Red)
        else -1
    )


def _placed(program: a.Program, turned: dict[str, a.Let]) -> tuple[a.Statement, ...]:
    """The equations, turned matrices as soon as they can be made, and read where that is better."""
    made = {s.name for s in program.body if isinstance(s, a.Let)}
    out: list[a.Statement] = [s for x, s in turned.items() if x not in made]
    for s in program.body:
        if isinstance(s, a.Let):
            across = _across(s, program)
            others = () if isinstance(s.expr, a.Red | a.Lin) else _own(s)
            down = [r for r in (*across, *others) if r.name in turned]
            s = replace(s, expr=_read(s.expr, down, turned))
            out += [s, turned[s.name]] if s.name in turned else [s]
        else:
            out.append(s)
    return tuple(out)


def _across(s: a.Let, program: a.Program) -> list[a.Ref]:
    """What a product that is a square passes over by columns; nothing if one has to stay."""
    e = s.expr
    if not isinstance(e, a.Red) or e.op != "sum" or len(e.letters) != 1 or len(s.letters) != 2:
        return []
    if s.at or s.bounds or s.first is not None or s.init is not None:
        return []
    (k,), size = e.letters, {x.name: x.size for x in program.letters}
    square = len({size[x] for x in s.letters}) == 1 and size[k] != size[s.letters[0]]
    rows = not any(x.count(size[k]) > 1 for x in program.sizes.values())
    read = [r for r in a.refs(e.arg) if k in a.free(r) and len(r.index) > 1]
    down = [r for r in read if r.index[-1] != a.Ix(k)]
    fits = all(len(r.index) == 2 and r.index[0] == a.Ix(k) and _letters(r) for r in down)
    ragged = any(program.letter(x).under for x in (*s.letters, k))
    return down if square and not rows and not ragged and fits and len(read) > 1 else []


def _own(s: a.Let) -> list[a.Ref]:
    """What an equation of entries reads with its letters turned."""
    return [r for r in a.refs(s.expr) if len(r.index) == 2 and _letters(r) == s.letters[::-1]]


def _letters(r: a.Ref) -> tuple[str, ...]:
    """The letters of a reference that has nothing else."""
    found = tuple(x for i in r.index for x in a.free(i) if isinstance(i, a.Ix))
    return found if len(found) == len(r.index) == len(set(found)) else ()


def _read(e: n.Node, down: Sequence[a.Ref], turned: dict[str, a.Let]) -> n.Node:
    if isinstance(e, a.Ref) and e in down:
        return a.Ref(turned[e.name].name, e.index[::-1])
    return e if isinstance(e, a.Ref) else e.rebuilt(lambda c: _read(c, down, turned))
