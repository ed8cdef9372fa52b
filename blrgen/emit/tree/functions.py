"""A whole program → its functions.

Each parallel loop is a function of the rows it does, which adds to its sums; one more function
runs them: it cuts rows into chunks, gives each sums of its own, and adds these up in the order
of the chunks.  How many chunks there are depends on sizes alone, so that results do not depend
on threads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.apart import apart
from blrgen.emit.tree.constants import typed
from blrgen.emit.tree.equations import START
from blrgen.emit.tree.jammed import jammed
from blrgen.emit.tree.kernels import Body
from blrgen.emit.tree.lengths import measured
from blrgen.emit.tree.loads import loaded
from blrgen.emit.tree.memory import BLOCK, Context, Memory
from blrgen.emit.tree.reads import names_in, without_unread
from blrgen.emit.tree.sizes import Sized
from blrgen.emit.tree.views import rows_taken
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.once import is_once
from blrgen.program.axes.parallel import shared, sums
from blrgen.program.axes.schedule import Item, Loop, Schedule
from blrgen.program.axes.scratch import paths, storage

CHUNKS = 16  # at most
PLAIN_ROWS, FEWEST_ROWS = 32768, 1024  # of a loop without inner loops that are worth a thread
EACH = 8  # times fewer rows for each letter inside
RAGGED_ROWS = 64  # of a loop with rows of different lengths, likewise
SUMMED = 1 << 19  # numbers in all chunks' sums together, at which there may be four at least


def functions(plan: Schedule, name: str, returns: bool = False) -> tuple[t.Function, ...]:
    """The functions of a scheduled program; the last one is the program.

    It writes what is handed out to arrays of the caller, or with `returns` makes and returns it.
    """
    return Functions(plan, name, returns).whole()


@dataclass
class Part:
    """A function under way: its name, its body, and the arrays that it adds to."""

    name: str
    body: list[t.Statement]
    loop: Loop
    adds: tuple[str, ...]

    @property
    def letter(self) -> str:
        return self.loop.letter


class Functions(Sized):
    """The functions under way, their memory, and what they call."""

    def __init__(self, plan: Schedule, name: str, returns: bool) -> None:
        self.plan, self.name, self.program = plan, name, plan.program
        self.returns = returns
        storages = storage(plan)
        self.parallel = shared(plan)
        added = [x for loop in self.parallel for x in sums(loop, plan)]
        outside = frozenset(x for x in added if not storages[x].kept)
        self.memory = Memory(plan, storages, outside)
        self.build = Body(plan, self.memory)
        self.parts: list[Part] = []
        self.once: list[t.Statement] = []

    def whole(self) -> tuple[t.Function, ...]:
        driver: list[t.Statement] = []
        scalars = {q.name for q in self.program.given if not q.sizes}
        for x in self.plan.body:
            if isinstance(x, Item) and not x.store and is_once(x.let, scalars):
                self.once += self.build.item(x, Context(), False)
                scalars.add(x.let.name)
            elif isinstance(x, Item):
                driver += self.build.item(x, Context(), False)
            elif x in self.parallel:
                self.outlined(x)
                driver.append(t.Invoke(self.parts[-1].name, (), False))
            else:
                driver += self.build.loop(x, 0, Context())
        return self.finished(driver)

    # -- one parallel loop -------------------------------------------------------------
    def outlined(self, loop: Loop) -> None:
        self.build.outlined = loop
        body = self.build.loop(loop, 0, Context())
        self.build.outlined = None
        number = f"_{len(self.parts) + 1}" if len(self.parallel) > 1 else ""
        body = [self.bounded(s, loop) for s in body]
        adds = tuple(self.memory.values[x] for x in sums(loop, self.plan))
        self.parts.append(Part(f"{self.name}_rows{number}", body, loop, adds))

    def bounded(self, s: t.Statement, loop: Loop) -> t.Statement:
        """The outermost loop, over a part of its rows."""
        if not isinstance(s, t.For) or s.letter not in (loop.letter, f"{loop.letter}0"):
            return s
        low, high = t.name(f"{loop.letter}_lo"), t.name(f"{loop.letter}_hi")
        if not self.slices(loop):
            return replace(s, start=low, stop=high) if s.step is None else _block_ends(s, low, high)
        stop = t.Difference(high, low)
        return replace(s, stop=stop) if s.step is None else _block_ends(s, t.Whole(0), stop)

    def slices(self, loop: Loop) -> bool:
        """Whether all that is read at the letter is read at its own place in the first axis.

        And nowhere else: of a part of the rows the other ones are not there.
        """
        letter = loop.letter
        if any(w.under == letter for w in self.program.letters):
            return False
        rows, others = set[str](), set[str]()
        for i, _, _ in paths([loop]):
            for e in (*i.let.expressions, *i.let.at):
                for x in n.walk(e):
                    if isinstance(x, a.Is | a.Draw) and letter in a.free(x):
                        return False
                    if isinstance(x, a.Ref):
                        own = [p for p, y in enumerate(x.index) if letter in a.free(y)]
                        if own not in ([], [0]) or (own and x.index[0] != a.Ix(letter)):
                            return False
                        (rows if own else others).add(x.name)
            own = [p for p, y in enumerate(i.let.target) if letter in a.free(y)]
            if own not in ([], [0]):
                return False
            rows |= {i.let.name} if own else set()
        return not rows & others

    # -- functions ---------------------------------------------------------------------
    def finished(self, driver: list[t.Statement]) -> tuple[t.Function, ...]:
        """Scratch where it is used, arguments, sizes."""
        used = [names_in(p.body) for p in self.parts]
        given = [q.name for q in self.program.given if q.sizes]
        outs = [*self.program.outs, *(x.name for x in self.program.assembled
                                      if x.name not in given)]  # fmt: skip
        scratch = self.scratch()
        own: list[list[str]] = []
        for p, names in zip(self.parts, used, strict=True):
            others = [names_in(driver), *(x for x in used if x is not names)]
            own.append([x for x in scratch if x in names and x not in p.adds
                        and not any(x in y for y in others)])  # fmt: skip
        local = {x for found in own for x in found}
        shared = [x for x in scratch if x not in local]
        made: list[t.Function] = []
        for p, names, mine in zip(self.parts, used, own, strict=False):
            arrays = [x for x in (*given, *outs, *shared) if x in names or x in p.adds]
            made.append(self.kernel(p, arrays, mine))
        if self.returns:
            driver = [*map(self.handed_out, self.program.outs), *driver]
            outs = []
        return (*made, self.driver(driver, [*given, *outs], shared, made))

    def handed_out(self, out: str) -> t.Make:
        """Memory for a result; what is known to be 0 of a triangle is not written."""
        shape = self.memory.shape(self.memory.made[out].letters)
        fill = n.ZERO if self.program.structures[out] == "lower" else None
        letters = self.memory.made[out].letters
        kind = "truth" if out in self.memory.truths else "real"
        return t.Make(out, shape if letters else (), kind, fill)

    def returned(self) -> tuple[n.Node, ...]:
        """What is handed out, numbers as numbers."""
        if not self.returns:
            return ()
        letters = {x: self.memory.made[x].letters for x in self.program.outs}
        return tuple(t.name(x) if letters[x] else t.Entry(x, ()) for x in self.program.outs)

    def scratch(self) -> dict[str, tuple[str, ...]]:
        """Arrays that are neither given nor handed out, with their letters."""
        out: dict[str, tuple[str, ...]] = {}
        for name, s in self.memory.storages.items():
            value = self.memory.values[name]
            if (s.kept or name in self.memory.outside) and not self.memory.is_out(name):
                out[value] = s.kept
                if s.two:
                    out[self.memory.earlier(name)] = s.kept
        return out | self.memory.works

    def made(self, name: str, kept: tuple[str, ...]) -> t.Make:
        memory = self.memory
        kept_truths = memory.truths & memory.values.keys()
        truths = {y for x in kept_truths for y in (memory.values[x], memory.earlier(x))}
        kind = "truth" if name in truths else "real"
        return t.Make(name, self.memory.shape(kept), kind)

    def kernel(self, p: Part, arrays: list[str], scratch: list[str]) -> t.Function:
        low, high = f"{p.letter}_lo", f"{p.letter}_hi"
        kept = self.scratch()
        head: list[t.Statement] = [self.made(x, kept[x]) for x in scratch]
        if self.memory.words in names_in(p.body):
            head.append(t.Make(self.memory.words, (t.name("WORDS"),), "word"))
        if self.slices(p.loop):
            part = t.Span(t.name(low), t.name(high))
            rows = [x for x in self.build.first_axis(p.loop) if x in arrays]
            head += [t.View(x, t.Entry(x, (part,))) for x in rows]
        body = (*head, *measured(p.body, self.lengths(arrays)))
        sizes, wholes = self.sizes(body, arrays)
        used = names_in(body)
        numbers = [q for q in self.program.given if not q.sizes and q.name in used]
        wholes += [q.name for q in numbers if q.key]
        reals = [q.name for q in numbers if not q.key]
        made = {s.target for s in t.statements(body) if isinstance(s, t.Assign)}
        wholes += [x for x in sorted(self.memory.ends & used) if t.name(x) not in made]
        reals += [x for x in self.numbers(p.loop) if x in used]
        f = t.Function(p.name, tuple(arrays), (low, high, *wholes), tuple(reals), (*sizes, *body),
                       self.summary(p), reals_of=self.reals_of(arrays))  # fmt: skip
        return typed(replace(f, body=self.quick(f.body)))

    def numbers(self, loop: Loop) -> list[str]:
        """Numbers that are made outside of the loop."""
        inside = {i.let.name for i, _, _ in paths([loop])}
        made = self.memory.storages.items()
        apart = [x for x, s in made if not s.kept and x not in inside]
        return [self.memory.values[x] for x in apart if x not in self.memory.outside]

    def quick(
        self, body: tuple[t.Statement, ...], returns: tuple[n.Node, ...] = ()
    ) -> tuple[t.Statement, ...]:
        """The body in the form that is fastest: each step is a module."""
        for step in (jammed, loaded, apart, rows_taken):
            body = step(body, self.memory.own)
        return without_unread(body, {x for e in returns for x in e.names}, self.memory.ends)

    def summary(self, p: Part) -> str:
        adds = f", adding to {', '.join(p.adds)}" if p.adds else ""
        return f"Do the rows from {p.letter}_lo to before {p.letter}_hi{adds}."

    def driver(
        self,
        body: list[t.Statement],
        arrays: list[str],
        shared: list[str],
        kernels: list[t.Function],
    ) -> t.Function:
        kept = self.scratch()
        out: list[t.Statement] = [self.made(x, kept[x]) for x in shared]
        called = iter(zip(self.parts, kernels, strict=True))
        for s in body:
            if isinstance(s, t.Invoke) and s.function in {k.name for k in kernels}:
                out += self.called(*next(called))
            else:
                out.append(s)
        out = list(measured(tuple(out), self.lengths(arrays)))
        sizes, wholes = self.sizes(tuple(out), arrays)
        used = names_in(out) | names_in(self.once)
        numbers = [q for q in self.program.given if not q.sizes and q.name in used]
        wholes += [q.name for q in numbers if q.key]
        reals = [q.name for q in numbers if not q.key]
        f = t.Function(self.name, tuple(arrays), tuple(wholes), tuple(reals), (*sizes, *out),
                       "Do all of it.", bool(kernels), self.reals_of(arrays), self.returned(),
                       gives="Any" if self.returned() else "", once=tuple(self.once))  # fmt: skip
        return typed(replace(f, body=self.quick(f.body)))

    def called(self, p: Part, k: t.Function) -> list[t.Statement]:
        """All rows at once, or chunks of them at the same time where there are enough."""
        size = self.memory.size(p.letter)
        chunks, rows = (t.name(self.memory.own(x)) for x in ("chunks", "chunk_rows"))
        op = self.operations(p.loop)
        zeros = [t.Assign(t.Entry(x, self.everything(x)), START[op[x]]) for x in p.adds]
        start = t.Integer(t.Whole(0))
        one = t.Invoke(k.name, self.arguments(k, start, size, {}), False)
        each = t.Quotient(t.plus(size, t.plus(chunks, t.Whole(-1))), chunks)
        blocks = t.Quotient(t.plus(each, t.Whole(BLOCK - 1)), t.Whole(BLOCK))
        several = (
            t.Assign(rows, t.Times(blocks, t.Whole(BLOCK))),
            *self.side_by_side(p, k, chunks, rows),
        )
        return [
            *zeros,
            t.Assign(chunks, self.count(p, size)),
            t.If(n.Compare("<", chunks, t.Whole(2)), (one,), several),
        ]

    def side_by_side(self, p: Part, k: t.Function, chunks: n.Ref, rows: n.Ref) -> list[t.Statement]:
        """Each chunk adds to sums of its own, which are added up in their order."""
        size, op = self.memory.size(p.letter), self.operations(p.loop)
        chunk = t.name(self.memory.own("chunk"))
        first = t.Times(t.Integer(chunk), rows)
        low, high = t.Least((size, first)), t.Least((size, t.plus(first, rows)))
        own = {x: self.memory.own(f"{x}_parts") for x in p.adds}
        out: list[t.Statement] = []
        for x in p.adds:
            shape = (chunks, *self.memory.shape(self.kept_of(x)))
            out.append(t.Make(own[x], shape, fill=START[op[x]]))
        parts = {x: t.Entry(own[x], (chunk,)) for x in p.adds}
        call = t.Invoke(k.name, self.arguments(k, low, high, parts), False)
        out.append(t.For(chunk.name, t.Whole(0), chunks, (call,), side=True))
        for x in p.adds:
            join = "_joined_max" if op[x] == "max" else "_joined_sum"
            out.append(t.Invoke(join, (t.name(x), t.name(own[x]))))
        return out

    def count(self, p: Part, size: n.Node) -> n.Node:
        """How many chunks: by the rows, and fewer where there is much to add up."""
        few: tuple[n.Node, ...] = (
            t.Whole(CHUNKS), t.Quotient(size, t.Whole(self.least(p.loop)))
        )  # fmt: skip
        lengths: list[n.Node] = [t.Length(x) for x in p.adds if self.kept_of(x)]
        if lengths:
            added = t.Greatest((t.Whole(1), reduce(t.plus, lengths)))
            few = (*few, t.Greatest((t.Whole(4), t.Quotient(t.Whole(SUMMED), added))))
        return t.Least(few)

    def least(self, loop: Loop) -> int:
        """How many rows are worth a thread."""
        if any(x.under == loop.letter for x in self.program.letters):
            return RAGGED_ROWS
        rows = set(self.memory.base) | {loop.letter}
        inner = max(len(set(i.nest) - rows) for i, _, _ in paths([loop]))
        return max(FEWEST_ROWS, PLAIN_ROWS // int(EACH**inner))

    def operations(self, loop: Loop) -> dict[str, str]:
        out = {}
        for i, _, _ in paths([loop]):
            if isinstance(i.let.expr, a.Red):
                op = i.let.expr.op
                out[self.memory.values[i.let.name]] = "sum" if op == "sumlog" else op
        return out

    def kept_of(self, array: str) -> tuple[str, ...]:
        names = {self.memory.values[x]: x for x in self.memory.storages}
        return self.memory.storages[names[array]].kept

    def everything(self, array: str) -> tuple[n.Node, ...]:
        return tuple(t.Span() for _ in self.memory.shape(self.kept_of(array)))

    def arguments(
        self, k: t.Function, low: n.Node, high: n.Node, parts: dict[str, t.Entry]
    ) -> tuple[n.Node, ...]:
        arrays = [parts.get(x, t.name(x)) for x in k.arrays]
        return (*arrays, low, high, *map(t.name, k.wholes[2:]), *map(t.name, k.reals))

    def reals_of(self, arrays: list[str]) -> str:
        """An array whose numbers are real."""
        whole = {x.pointers for x in self.program.letters}
        for x in arrays:
            q = self.memory.given.get(x)
            real = q is None or (q.labels == "" and not q.key and x not in whole)
            if real and x not in self.memory.truths:
                return x
        return ""


def _block_ends(s: t.For, low: n.Node, high: n.Node) -> t.For:
    """The blocks of a part of the rows."""
    first, *rest = s.body
    assert isinstance(first, t.Assign)
    rows = t.Least((t.Whole(BLOCK), t.Difference(high, t.name(s.letter))))
    return replace(s, start=low, stop=high, body=(t.Assign(first.target, rows), *rest))
