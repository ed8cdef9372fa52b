"""Loops around one loop over rows, four turns at once.

    for j: (t = 0; for b: t += f[b] x[j,b]; s[i,j] += t)

loads f[b] for every j anew, and `for j: for b: y[b] += p[i,j] x[j,b]` loads and stores y[b].
With four j in one loop over b that is done once for the four:

    for j, by 4: (t0 = t1 = t2 = t3 = 0
                  for b: (t0 += f[b] x[j,b]; …; t3 += f[b] x[j+3,b])
                  s[i,j] += t0; …; s[i,j+3] += t3)

and what is left of j as before.  It is done where turns share something of the innermost loop,
where no turn reads what another one writes, and where that loop is one sum, or two that are stored
where the turns before store them, and calls no function: more is enough to do for one turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from blrgen.emit.tree import nodes as t
from blrgen.program import nodes as n

TURNS = 4

Body = tuple[t.Statement, ...]


def jammed(body: Body, own: Callable[[str], str]) -> Body:
    """The body with four turns at once of every loop for which that is right and pays.

    `own` makes a name that nothing else has.
    """
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.For):
            s = replace(s, body=jammed(s.body, own))
            out += _four(s, own) if _can(s) and _pays(s) else [s]
        elif isinstance(s, t.If):
            out.append(replace(s, body=jammed(s.body, own), other=jammed(s.other, own)))
        else:
            out.append(s)
    return tuple(out)


# -- whether ---------------------------------------------------------------------------------
def _inner(loop: t.For) -> t.For | None:
    """The only loop inside, if it is one over rows with sums and values alone."""
    loops = [s for s in loop.body if isinstance(s, t.For)]
    plain = t.Assign | t.Increase | t.For
    if len(loops) != 1 or not all(isinstance(s, plain) for s in loop.body):
        return None
    (inner,) = loops
    simple = all(isinstance(s, t.Assign | t.Increase) for s in inner.body)
    turning = {
        loop.letter,
        *(s.target.name for s in _flat(loop.body) if isinstance(s.target, n.Ref)),
    }
    moves = any(turning & {*e.names} for e in t.expressions(inner))
    return inner if inner.rows and simple and not moves else None


def _can(loop: t.For) -> bool:
    """Whether the turns may be taken together: none reads what another one writes."""
    if _inner(loop) is None or loop.side or loop.down or loop.step is not None:
        return False
    flat = _flat(loop.body)
    locals_ = _locals(flat)
    for s in flat:
        target = s.target
        readers = [r for x in flat for r in _read(x) if _name(r) == _name(target)]
        if _name(target) in locals_:
            continue
        if loop.letter in _index_names(target):
            if any(r != target for r in readers):
                return False
        elif readers or isinstance(s, t.Assign):
            return False
    return True


def _pays(loop: t.For) -> bool:
    """Whether the turns share an entry in the innermost loop, which is few sums without calls."""
    inner = _inner(loop)
    assert inner is not None
    together = all(isinstance(s, t.Increase) and _is_shared(s.target, loop, inner)
                   for s in inner.body)  # fmt: skip
    if len(inner.body) > (2 if together else 1):
        return False
    parts = [x for s in inner.body for e in t.expressions(s) for x in n.walk(e)]
    shared = [x for x in parts if _is_shared(x, loop, inner)]
    return bool(shared) and not any(isinstance(x, n.Call) for x in parts)


def _is_shared(e: n.Node, loop: t.For, inner: t.For) -> bool:
    """Whether it is the same entry at every turn, another one at each place of the inner loop."""
    return isinstance(e, t.Entry) and loop.letter not in e.names and inner.letter in e.names


def _flat(body: Body) -> list[t.Assign | t.Increase]:
    return [s for s in t.statements(body) if isinstance(s, t.Assign | t.Increase)]


def _locals(flat: list[t.Assign | t.Increase]) -> set[str]:
    """The numbers that every turn gives a value before it uses them."""
    found: set[str] = set()
    used: set[str] = set()
    for s in flat:
        used |= {x for r in _read(s) for x in r.names}
        if isinstance(s.target, n.Ref):
            if isinstance(s, t.Assign) and s.target.name not in used:
                found.add(s.target.name)
            used.add(s.target.name)
    return found


def _read(s: t.Assign | t.Increase) -> Iterator[n.Node]:
    """The numbers and entries that a statement reads, besides what it adds to."""
    places = s.target.index if isinstance(s.target, t.Entry) else ()
    for e in (s.value, *places):
        yield from (x for x in n.walk(e) if isinstance(x, n.Ref | t.Entry))


def _name(e: n.Node) -> str:
    return e.array if isinstance(e, t.Entry) else e.name if isinstance(e, n.Ref) else ""


def _index_names(e: n.Node) -> set[str]:
    return {x for i in e.index for x in i.names} if isinstance(e, t.Entry) else set()


# -- how -------------------------------------------------------------------------------------
def _four(loop: t.For, own: Callable[[str], str]) -> list[t.Statement]:
    """Four turns at once as often as that goes, then the turns that are left, one by one."""
    count = t.Difference(loop.stop, loop.start)
    whole = t.Times(t.Quotient(count, t.Whole(TURNS)), t.Whole(TURNS))
    stop = t.plus(loop.start, whole)
    if isinstance(loop.start, t.Whole) and isinstance(loop.stop, t.Whole):
        first, last = loop.start.value, loop.stop.value
        stop = t.Whole(first + (last - first) // TURNS * TURNS)
        if stop == loop.start:
            return [loop]
    elif loop.start == t.Whole(0):
        stop = t.Times(t.Quotient(loop.stop, t.Whole(TURNS)), t.Whole(TURNS))
    together = replace(loop, stop=stop, step=t.Whole(TURNS), body=_together(loop, own))
    rest = replace(loop, start=stop)
    return [together] if stop == loop.stop else [together, rest]


def _together(loop: t.For, own: Callable[[str], str]) -> Body:
    """Each statement four times; the last turn keeps the names of its numbers."""
    local = sorted(_locals(_flat(loop.body)))
    names = [{x: own(f"{x}_{k}") for x in local} for k in range(TURNS - 1)]
    turns = [_turn(loop.letter, k, new) for k, new in enumerate([*names, {}])]
    out: list[t.Statement] = []
    for s in loop.body:
        if isinstance(s, t.For):
            inner = [x for y in s.body for x in _merged(_times(y, turns))]
            out.append(replace(s, body=tuple(inner)))
        else:
            out += _times(s, turns)
    return tuple(out)


def _times(s: t.Statement, turns: list[Callable[[n.Node], n.Node]]) -> list[t.Statement]:
    return [x for turn in turns for x in t.rewritten((s,), turn)]


def _turn(letter: str, k: int, names: dict[str, str]) -> Callable[[n.Node], n.Node]:
    """What an expression is k turns on."""

    def on(e: n.Node) -> n.Node:
        if isinstance(e, n.Ref):
            if e.name == letter:
                return t.plus(e, t.Whole(k))
            return t.name(names.get(e.name, e.name))
        return e.rebuilt(on)

    return on


def _merged(statements: list[t.Statement]) -> list[t.Statement]:
    """Sums into the same place as one sum."""
    targets = {s.target for s in statements if isinstance(s, t.Increase)}
    if len(targets) == 1 and all(isinstance(s, t.Increase) for s in statements):
        values = [s.value for s in statements if isinstance(s, t.Increase)]
        return [t.Increase(targets.pop(), n.add(*values))]
    return statements
