"""A whole program → compiled functions, and one that calls them in their order.

The loops that rows are shared out of are a function each, and what stands between two of them is
one more.  The last function is not compiled: it makes memory, calls the others and hands out
what they have written.  So each loop is compiled once, by itself, and threads are ordinary ones
that run the same compiled function on chunks of the rows.

Where a recurrence has short axes inside, or matrices are small, a compiler should know how small:
loops of three turns cost more than what they do.  So sizes come as lengths of tuples, which are
part of an argument's type; those of long axes are empty, and the size is read off an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.constants import typed
from blrgen.emit.tree.functions import Functions, Part
from blrgen.emit.tree.memory import Context
from blrgen.emit.tree.reads import names_in
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.once import is_once
from blrgen.program.axes.schedule import Item, Loop, Schedule
from blrgen.program.axes.scratch import paths

BY_ROWS = "_by_rows"
LENGTH = "_length"


def staged(plan: Schedule, name: str) -> tuple[t.Function, ...]:
    """The functions of a scheduled program; the last one is the program, which returns its outs."""
    return _Staged(plan, name, returns=True).whole()


@dataclass(frozen=True)
class _Stage:
    """A part of the program under way: of rows, or what stands between two such."""

    name: str
    body: tuple[t.Statement, ...]
    rows: Part | None = None
    inner: frozenset[str] = frozenset()  # sizes that should be known if they are small

    @property
    def adds(self) -> tuple[str, ...]:
        return self.rows.adds if self.rows is not None else ()

    @property
    def ends(self) -> tuple[str, ...]:
        """The arguments that say which rows."""
        if self.rows is None:
            return ()
        return f"{self.rows.letter}_lo", f"{self.rows.letter}_hi"

    @cached_property
    def used(self) -> set[str]:
        return names_in(self.body)

    @cached_property
    def assigned(self) -> set[str]:
        """The numbers that are made in it."""
        found = (s.target for s in t.statements(self.body) if isinstance(s, t.Assign | t.Increase))
        return {x.name for x in found if isinstance(x, n.Ref)}


class _Staged(Functions):
    """Stages in their order, and the function that calls them."""

    def whole(self) -> tuple[t.Function, ...]:
        stages: list[_Stage] = []
        between: list[t.Statement] = []
        loops: list[Loop | Item] = []
        scalars = {q.name for q in self.program.given if not q.sizes}
        for x in self.plan.body:
            if isinstance(x, Item) and not x.store and is_once(x.let, scalars):
                self.once += self.build.item(x, Context(), False)
                scalars.add(x.let.name)
            elif isinstance(x, Item):
                between += self.build.item(x, Context(), False)
            elif x in self.parallel:
                between = self.closed(between, stages, loops)
                self.outlined(x)
                part = self.parts[-1]
                stages.append(_Stage(part.name, tuple(part.body), part, self.inner([x])))
            else:
                between += self.build.loop(x, 0, Context())
                loops.append(x)
        self.closed(between, stages, loops)
        return self.together(stages)

    def closed(
        self, between: list[t.Statement], stages: list[_Stage], loops: list[Loop | Item]
    ) -> list[t.Statement]:
        """What has come since the last rows becomes a stage; the next begins empty."""
        if between:
            count = sum(x.rows is None for x in stages) + 1
            name = self.memory.own(f"{self.name}_part_{count}")
            stages.append(_Stage(name, tuple(between), None, self.inner(loops)))
        loops.clear()
        return []

    def inner(self, loops: Sequence[Loop | Item]) -> frozenset[str]:
        """Sizes of what is inside of recurrences, but not along them, and of matrices in loops."""
        found: set[str] = set()
        along: set[a.Size] = set()
        for item, path, _ in paths(loops):
            at = next((k for k, (x, _, _) in enumerate(path) if x.seq is not None), None)
            if at is None and isinstance(item.let.expr, a.Lin):
                at = len(path) - 1
            if at is None:
                continue
            outer = {x.letter for x, _, _ in path[: at + 1]}
            along |= {self.memory.letters[x].size for x in outer if x in self.memory.letters}
            letters = {*item.nest, *item.let.letters, *letters_in(item.let.expr)} - outer
            sizes = (x for x in letters if x in self.memory.letters)
            found |= {str(self.memory.letters[x].size) for x in sizes
                      if not self.memory.letters[x].under
                      and isinstance(self.memory.letters[x].size, str)}  # fmt: skip
        return frozenset(found - {str(x) for x in along})

    def together(self, stages: list[_Stage]) -> tuple[t.Function, ...]:
        """All functions: memory is made where it is used, or by the last one for several."""
        scratch = self.scratch()
        users = {x: [s for s in stages if x in s.used or x in s.adds] for x in scratch}
        shared = [x for x, found in users.items()
                  if len(found) > 1 or any(x in s.adds for s in found)]  # fmt: skip
        made = [self.stage(s, stages, [x for x in scratch if users[x] == [s] and x not in shared])
                for s in stages]  # fmt: skip
        return (*made, self.caller(stages, made, shared))

    # -- one stage ---------------------------------------------------------------------------
    def stage(self, s: _Stage, stages: list[_Stage], own: list[str]) -> t.Function:
        """A compiled function of arrays, whole numbers and numbers, in this order."""
        used, scratch = s.used, self.scratch()
        given = [q.name for q in self.program.given if q.sizes]
        outs = [*self.program.outs, *(x.name for x in self.program.assembled)]
        read = [x for x in (*given, *outs, *scratch) if x in used and x not in (*own, *s.adds)]
        arrays = [*dict.fromkeys(read), *self.in_order(s)]
        body = (*self.head(s, arrays, own), *s.body)
        sizes, wholes = self.sizes(body, arrays)
        lengths = tuple(sorted(s.inner & {*wholes, *(x for y in sizes for x in written(y))}))
        body = (*sizes, *map(known, lengths), *body)
        numbers = self.numbers_of(s, stages)
        once = self.needed(names_in(body)) if s.rows is None else ()
        read_once = {x for y in once for e in t.expressions(y) for x in e.names}
        keys = [q.name for q in self.program.given if q.key and q.name in used]
        reals = [q.name for q in self.program.given
                 if not q.sizes and not q.key and q.name in used | read_once]  # fmt: skip
        reals += [x for x in numbers if x not in self.memory.ends]
        wholes += [*keys, *(x for x in numbers if x in self.memory.ends)]
        made_here = tuple(map(t.name, self.handed_on(s, stages)))
        f = t.Function(s.name, tuple(arrays), (*s.ends, *wholes), tuple(reals), body,
                       self.said(s), reals_of=self.reals_of(arrays), once=once, apart=True,
                       returns=made_here, gives="Any" if made_here else "",
                       lengths=tuple(map(length_of, lengths)))  # fmt: skip
        return typed(replace(f, body=self.quick(f.body, made_here)))

    def head(self, s: _Stage, arrays: list[str], own: list[str]) -> list[t.Statement]:
        """The stage's own memory, and the rows that are its share."""
        kept = self.scratch()
        head: list[t.Statement] = [self.made(x, kept[x]) for x in own]
        if self.memory.words in s.used:
            head.append(t.Make(self.memory.words, (t.name("WORDS"),), "word"))
        if s.rows is not None and self.slices(s.rows.loop):
            part = t.Span(*map(t.name, s.ends))
            rows = [x for x in self.build.first_axis(s.rows.loop) if x in arrays]
            head += [t.View(x, t.Entry(x, (part,))) for x in rows]
        return head

    def in_order(self, s: _Stage) -> list[str]:
        """The sums of rows, before the largest values of rows."""
        if s.rows is None:
            return []
        op = self.operations(s.rows.loop)
        return sorted(s.adds, key=lambda x: op[x] == "max")

    def said(self, s: _Stage) -> str:
        return self.summary(s.rows) if s.rows is not None else "Do what stands between the rows."

    # -- numbers that several stages have ------------------------------------------------
    def numbers_of(self, s: _Stage, stages: list[_Stage]) -> list[str]:
        """Those that others make, and for rows those made of given numbers alone."""
        own = s.assigned
        found = [x for y in stages if y is not s for x in self.crossing(y) if x in s.used - own]
        if s.rows is not None:
            found += [x for x in self.once_names() if x in s.used]
        return list(dict.fromkeys(found))

    def handed_on(self, s: _Stage, stages: list[_Stage]) -> list[str]:
        """The numbers made here that a later stage reads."""
        later = stages[stages.index(s) + 1 :]
        return [x for x in self.crossing(s) if any(x in y.used - y.assigned for y in later)]

    def crossing(self, s: _Stage) -> list[str]:
        """The numbers of a stage that have a name in all of the program."""
        if s.rows is not None:
            return []
        kept = self.memory.storages.items()
        known = {self.memory.values[x] for x, y in kept if not y.kept}
        known -= {self.memory.values[x] for x in self.memory.outside}
        return sorted(x for x in s.assigned if x in known or x in self.memory.ends)

    def once_names(self) -> list[str]:
        targets = (s.target for s in self.once if isinstance(s, t.Assign))
        return [x.name for x in targets if isinstance(x, n.Ref)]

    def needed(self, used: Iterable[str]) -> tuple[t.Statement, ...]:
        """Of the numbers that are made once those that are used, with what they are made of."""
        wanted, out = set(used), list[t.Statement]()
        for s in reversed(self.once):
            assert isinstance(s, t.Assign) and isinstance(s.target, n.Ref)
            if s.target.name in wanted:
                out.insert(0, s)
                wanted |= set(s.value.names)
        return tuple(out)

    # -- all of it ---------------------------------------------------------------------------
    def caller(self, stages: list[_Stage], made: list[t.Function], shared: list[str]) -> t.Function:
        """The function that makes memory and calls the others."""
        kept = self.scratch()
        out: list[t.Statement] = [self.made(x, kept[x]) for x in shared]
        out += map(self.handed_out, self.program.outs)
        lengths = dict.fromkeys(x for f in made for x in f.lengths)
        out += [t.Assign(t.name(x), t.Apply("_as_length", (t.name(size_of(x)),))) for x in lengths]
        out += [self.call(s, f) for s, f in zip(stages, made, strict=True)]
        given = [q.name for q in self.program.given if q.sizes]
        sizes, wholes = self.sizes(tuple(out), given)
        once = self.needed(names_in(out))
        used = names_in(out) | names_in(once)
        numbers = [q for q in self.program.given if not q.sizes and q.name in used]
        wholes += [q.name for q in numbers if q.key]
        reals = [q.name for q in numbers if not q.key]
        f = t.Function(self.name, tuple(given), tuple(wholes), tuple(reals), (*sizes, *out),
                       "Do all of it.", False, self.reals_of(given), self.returned(),
                       gives="Any", once=once, called=True)  # fmt: skip
        return typed(f)

    def call(self, s: _Stage, f: t.Function) -> t.Statement:
        """One stage; of rows all at once or chunks of them on several threads."""
        if s.rows is None:
            call = t.Apply(f.name, tuple(map(t.name, (*f.arrays, *f.wholes, *f.lengths, *f.reals))))
            if not f.returns:
                return t.Invoke(f.name, call.args, False)
            found = f.returns[0] if len(f.returns) == 1 else t.Several(f.returns)
            return t.Assign(found, call)
        op = self.operations(s.rows.loop)
        plain = [x for x in f.arrays if x not in s.adds]
        sums, largest = ([x for x in s.adds if (op[x] == "max") == y] for y in (False, True))
        tuples = (t.Apply("", tuple(map(t.name, x))) for x in (plain, sums, largest))
        size, least = self.memory.size(s.rows.letter), t.Whole(self.least(s.rows.loop))
        numbers = map(t.name, (*f.wholes[2:], *f.lengths, *f.reals))
        return t.Invoke(BY_ROWS, (t.name(f.name), size, least, *tuples, *numbers))


def length_of(size: str) -> str:
    """The name of the tuple as long as the axis."""
    return f"{size}{LENGTH}"


def size_of(length: str) -> str:
    """The axis that a tuple is as long as."""
    return length.removesuffix(LENGTH)


def known(size: str) -> t.Statement:
    """The size by the length of its tuple, unless that is empty."""
    length = t.Apply("len", (t.name(length_of(size)),))
    there = n.Compare(">", length, t.Whole(0))
    return t.Assign(t.name(size), n.Select(there, length, t.name(size)))


def written(s: t.Statement) -> tuple[str, ...]:
    """The name that a statement gives a value."""
    return (s.target.name,) if isinstance(s, t.Assign) and isinstance(s.target, n.Ref) else ()


def letters_in(e: n.Node) -> set[str]:
    """All letters of an expression, those that it reduces or takes too."""
    found = {x.letter for x in n.walk(e) if isinstance(x, a.Ix | a.Lag)}
    return found | {y for x in n.walk(e) if isinstance(x, a.Red) for y in x.letters}
