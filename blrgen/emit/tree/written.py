"""Small sizes written out: every entry of scratch a number, every small loop its turns.

    for i in range(2): x[i] = a[i] * s    →    x_0 = a[0] * s;  x_1 = a[1] * s

That is for loops over time, which do little at every step: numbers stay in registers, and only
what is given or handed out is in memory.  It is done where all loops inside have few turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import product

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.factors import factors
from blrgen.program import nodes as n

TURNS = 4  # at most, of a loop that is written out

Body = tuple[t.Statement, ...]


def written(body: Body, own: Callable[[str], str]) -> Body:
    """The body with its small scratch as numbers, if all of its inner loops are small.

    `own` makes a name that nothing else has.
    """
    shapes = {s.name: s.shape for s in t.statements(body) if isinstance(s, t.Make)}
    small = {x: _sizes(shape) for x, shape in shapes.items() if _is_small(shape)}
    if not small or not _is_sequence(body):
        return body
    flat = _Turns(small).body(body)
    known = {x for x in small if all(_is_plain(x, s) for s in t.statements(flat))}
    return _sums(_numbers(flat, known, own))


# -- whether ---------------------------------------------------------------------------------
def _is_small(shape: tuple[n.Node, ...]) -> bool:
    return all(isinstance(x, t.Whole) and x.value <= TURNS for x in shape)


def _sizes(shape: tuple[n.Node, ...]) -> tuple[int, ...]:
    return tuple(x.value for x in shape if isinstance(x, t.Whole))


def _is_sequence(body: Body) -> bool:
    """Whether there are loops over time, with nothing but small loops and plain steps inside."""
    long = [s for s in body if isinstance(s, t.For) and not _may_turn(s)]
    inside = [x for s in long for x in t.statements(s.body)]
    loops = [x for x in inside if isinstance(x, t.For)]
    return bool(loops) and all(map(_may_turn, loops)) and not any(s.side for s in long)


def _may_turn(loop: t.For) -> bool:
    """Whether its turns are few; one bound may be another letter."""
    ends = [x.value for e in (loop.start, loop.stop) for x in n.walk(e) if isinstance(x, t.Whole)]
    moves = {x for e in (loop.start, loop.stop) for x in e.names}
    plain = all(isinstance(e, t.Whole | t.Sum | n.Sym) for e in (loop.start, loop.stop))
    few = max(ends, default=0) <= TURNS and len(moves) <= 1
    return plain and few and isinstance(loop.start, t.Whole) and not loop.down and not loop.step


# -- loops -----------------------------------------------------------------------------------
@dataclass(frozen=True)
class _Turns:
    """Loops over small sizes, turn by turn; linear algebra on small arrays, step by step."""

    small: dict[str, tuple[int, ...]]

    def body(self, body: Body) -> Body:
        return tuple(x for s in body for x in self.statement(s))

    def statement(self, s: t.Statement) -> Body:
        if isinstance(s, t.For):
            if not isinstance(s.stop, t.Whole) or not _may_turn(s):
                return (replace(s, body=self.body(s.body)),)
            assert isinstance(s.start, t.Whole)
            turns = range(s.start.value, s.stop.value)
            return tuple(x for k in turns for x in self.body(_at(s.body, s.letter, k)))
        if isinstance(s, t.If):
            return (replace(s, body=self.body(s.body), other=self.body(s.other)),)
        if isinstance(s, t.Invoke):
            steps = factors(s, self.small)
            return (s,) if steps is None else self.body(steps)
        if isinstance(s, t.Assign) and _spans(s.target):
            return self.entries(s)
        return (s,)

    def entries(self, s: t.Assign) -> Body:
        """One number into each entry of a part of a small array."""
        assert isinstance(s.target, t.Entry)
        sizes = self.small.get(s.target.array)
        if sizes is None or any(isinstance(x, t.Entry) for x in n.walk(s.value)):
            return (s,)
        choices = [
            tuple(map(t.Whole, range(size))) if i == t.Span() else (i,)
            for i, size in zip(s.target.index, sizes, strict=True)
        ]
        return tuple(replace(s, target=replace(s.target, index=i)) for i in product(*choices))


def _spans(e: n.Node) -> bool:
    return isinstance(e, t.Entry) and t.Span() in e.index


def _at(body: Body, letter: str, place: int) -> Body:
    """The statements at one turn, with what is known of it folded."""

    def on(e: n.Node) -> n.Node:
        if e == n.Sym(letter):
            return t.Whole(place)
        e = e.rebuilt(on)
        if isinstance(e, t.Sum):
            return t.plus(e.left, e.right)
        if isinstance(e, n.Select) and isinstance(e.condition, n.Compare):
            left, right = e.condition.left, e.condition.right
            if isinstance(left, t.Whole) and isinstance(right, t.Whole):
                return e.yes if left == right else e.no
        return e

    return t.rewritten(body, on)


# -- numbers ---------------------------------------------------------------------------------
def _is_plain(array: str, s: t.Statement) -> bool:
    """Whether the statement uses the array by entries at known places alone."""
    if isinstance(s, t.Make):
        return True
    found = [x for e in t.expressions(s) for x in n.walk(e)]
    entries = [x for x in found if isinstance(x, t.Entry) and x.array == array]
    places = all(isinstance(i, t.Whole) for x in entries for i in x.index)
    return places and n.Sym(array) not in found


def _numbers(body: Body, known: set[str], own: Callable[[str], str]) -> Body:
    """Entries of these arrays as numbers."""
    names: dict[t.Entry, str] = {}

    def on(e: n.Node) -> n.Node:
        if isinstance(e, t.Entry) and e.array in known:
            if e not in names:
                places = "".join(str(i.value) for i in e.index if isinstance(i, t.Whole))
                names[e] = own(f"{e.array}_{places}")
            return t.name(names[e])
        return e.rebuilt(on)

    return t.rewritten(_without(body, known), on)


def _without(body: Body, known: set[str]) -> Body:
    """Without making these arrays, and without what an entry is given of itself."""
    out: list[t.Statement] = []
    for s in body:
        if isinstance(s, t.For):
            s = replace(s, body=_without(s.body, known))
        made = isinstance(s, t.Make) and s.name in known
        if not made and not (isinstance(s, t.Assign) and s.target == s.value):
            out.append(s)
    return tuple(out)


# -- sums ------------------------------------------------------------------------------------
@dataclass
class _Sums:
    """Statements so far, and sums that are under way: the number and its terms."""

    out: list[t.Statement] = field(default_factory=list)
    open: dict[n.Node, list[n.Node]] = field(default_factory=dict)

    def close(self, names: set[str]) -> None:
        """Write the sums that these names are, or stand in."""
        for target, terms in list(self.open.items()):
            if names.intersection(*[{x for e in (target, *terms) for x in e.names}]):
                self.out.append(t.Assign(target, n.add(*terms)))
                del self.open[target]


def _sums(body: Body) -> Body:
    """A number that starts from 0 and grows, as one sum."""
    work = _Sums()
    for s in body:
        if isinstance(s, t.For | t.If):
            work.close({x for terms in work.open for x in terms.names})
            parts = {"body": _sums(s.body)} | (
                {"other": _sums(s.other)} if isinstance(s, t.If) else {}
            )
            work.out.append(replace(s, **parts))  # type: ignore[arg-type]
        elif isinstance(s, t.Increase) and s.target in work.open:
            work.close({x for x in s.value.names} - set(s.target.names) & _made(work))
            work.open[s.target].append(s.value)
        elif isinstance(s, t.Assign) and isinstance(s.target, n.Sym) and s.value == n.ZERO:
            work.close({s.target.name})
            work.open[s.target] = []
        else:
            work.close({x for e in t.expressions(s) for x in e.names} & _made(work) | _changed(s))
            work.out.append(s)
    work.close({x for target in work.open for x in target.names})
    return tuple(work.out)


def _made(work: _Sums) -> set[str]:
    """The numbers whose sums are under way."""
    return {x for target in work.open for x in target.names}


def _changed(s: t.Statement) -> set[str]:
    """What a statement gives another value."""
    if isinstance(s, t.Assign | t.Increase):
        return {s.target.array} if isinstance(s.target, t.Entry) else set(s.target.names)
    return {x for e in t.expressions(s) for x in e.names}
