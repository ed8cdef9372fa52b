"""How much of every value is kept.

A value keeps exactly the letters of those of its own loops that not all of its readers share:
made and used in the same loops it is a number.  A sum keeps what lies inside of its outermost
reducing loop.  What is read one step back in a recurrence has room for one index, or for two
where it is written before all of the earlier one has been read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from blrgen.program.axes import nodes as a
from blrgen.program.axes.schedule import Item, Loop, Schedule, is_earlier

Path = tuple[tuple[Loop, bool, int], ...]  # loops from outside, whether at the first index, place


@dataclass(frozen=True)
class Storage:
    """The letters that a value keeps, in the order of its axes; a block's letter is the last."""

    kept: tuple[str, ...]
    lagged: str = ""  # the letter of the recurrence that reads it one step back
    two: bool = False


def storage(plan: Schedule) -> dict[str, Storage]:
    """For every equation's name."""
    return _Keeping(plan).whole()


def paths(body: Sequence[Loop | Item], around: Path = ()) -> Iterator[tuple[Item, Path, int]]:
    """Every item with the loops around it and its place in the innermost one."""
    for p, x in enumerate(body):
        if isinstance(x, Item):
            yield x, around, p
            continue
        for first, inside in ((True, x.first or []), (False, x.body)):
            yield from paths(inside, (*around, (x, first, p)))


def reducing(item: Item, base: dict[str, str]) -> int:
    """How many loops are outside of the outermost one over which the item reduces."""
    e = item.let.expr
    over = set(e.letters) if isinstance(e, a.Red) else set()
    return next((p for p, x in enumerate(item.nest) if base.get(x, x) in over), len(item.nest))


class _Keeping:
    def __init__(self, plan: Schedule) -> None:
        self.plan = plan
        self.base = plan.base
        self.places = list(paths(plan.body))
        self.makers: dict[str, list[tuple[Item, Path, int]]] = {}
        self.readers: dict[str, list[tuple[Item, Path, int, list[a.Ref]]]] = {}
        for item, path, p in self.places:
            if not item.store:
                self.makers.setdefault(item.let.name, []).append((item, path, p))
            for name, read in self.reads(item).items():
                self.readers.setdefault(name, []).append((item, path, p, read))

    def whole(self) -> dict[str, Storage]:
        return {name: self.of(name) for name in self.makers}

    def of(self, name: str) -> Storage:
        letters = self.makers[name][0][0].let.letters
        kept: set[str] = set()
        lagged, two = "", False
        for maker, path, p in self.makers[name]:
            kept |= self.always(maker)
            for reader, other, q, read in self.readers.get(name, ()):
                for r in read:
                    if is_earlier(r, maker, reader):
                        lagged = next(i.letter for i in r.index if isinstance(i, a.Lag))
                        kept |= self.across(maker, lagged)
                        if not self.apart(path, other):
                            two = two or self.overlaps(maker, path, p, reader, other, q, r)
                    elif not self.apart(path, other):
                        kept |= self.unshared(maker, path, other, r)
        rows = dict.fromkeys(self.base[x] for x in self.base if x in kept)
        order = [x for x in letters if x in kept and x != lagged]
        order += [self.plan.blocks[x].inner for x in rows if x not in order]
        return Storage(tuple(order), lagged, two)

    def reads(self, reader: Item) -> dict[str, list[a.Ref]]:
        """What the equation reads, by name."""
        own = [reader.let.expr, *reader.let.at]
        own += [] if reader.let.where is None else [reader.let.where[1]]
        own += [] if reader.let.init is None else [reader.let.init]
        found: dict[str, list[a.Ref]] = {}
        for r in (r for e in own for r in a.refs(e)):
            found.setdefault(r.name, []).append(r)
        return found

    def always(self, maker: Item) -> set[str]:
        """What no loop can share: letters inside of a reducing loop, or of linear algebra."""
        s = maker.let
        if s.at:
            return set(s.letters)
        own = set(a.own_letters(s.expr)) if isinstance(s.expr, a.Lin) else set()
        if isinstance(s.expr, a.Draw):  # for a block at once
            own = {self.plan.blocks[x].inner for x in s.letters if x in self.plan.blocks}
        p = reducing(maker, self.base)
        inside = {x for x in maker.nest[p:] if self.base.get(x, x) in s.letters}
        return own | inside

    def across(self, maker: Item, letter: str) -> set[str]:
        """What is read at the next index of a recurrence keeps all that is inside of it."""
        inside = maker.nest[maker.nest.index(letter) + 1 :]
        return {x for x in inside if x in maker.let.letters}

    def apart(self, path: Path, other: Path) -> bool:
        """Whether one stands at the first index of a recurrence and the other at later ones."""
        return any(x is y and f != g for (x, f, _), (y, g, _) in zip(path, other, strict=False))

    def unshared(self, maker: Item, path: Path, other: Path, r: a.Ref) -> set[str]:
        """The letters of the maker's loops in which the reader does not stand."""
        around = {x for x, _, _ in other}
        last = {i.letter for i in r.index if isinstance(i, a.Last)}
        loops = [x.letter for x, _, _ in path if x not in around and x.letter not in last]
        return {x for x in loops if self.base.get(x, x) in maker.let.letters}

    def overlaps(
        self, maker: Item, path: Path, p: int, reader: Item, other: Path, q: int, r: a.Ref
    ) -> bool:
        """Whether the earlier value is read after some of the new one is written."""
        common = 0
        for (x, f, _), (y, g, _) in zip(path, other, strict=False):
            if x is not y or f != g:
                break
            common += 1
        depth = common
        inside = [x.letter for x, _, _ in path[:common]]
        inside = inside[inside.index(r_lag(r)) + 1 :]
        at = dict(zip(maker.let.letters, r.index, strict=True))
        if any(at.get(x) != a.Ix(x) for x in inside):
            return True
        writes = path[depth][2] if depth < len(path) else p
        read = other[depth][2] if depth < len(other) else q
        if isinstance(maker.let.expr, a.Red) and reducing(maker, self.base) < depth:
            return True
        return read > writes or (read == writes and reader is not maker)


def r_lag(r: a.Ref) -> str:
    """The letter of whose recurrence an earlier value is read."""
    return next(i.letter for i in r.index if isinstance(i, a.Lag))
