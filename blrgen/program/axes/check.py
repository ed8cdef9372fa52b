"""The type checker: does every index stand where it may, and every letter end somewhere.

1. An index stands on an axis of its letter's size.
2. The free letters of a right side are among those of the left.
3. A reduced letter is free in what is reduced.
4. Linear algebra gets the structure it wants.
5. A ragged letter stands right after the one it is under.
6. What a recurrence makes is read at its letter once it is made, or a step against its
   direction, with a value for the first index.
7. The last value of a recurrence is read outside of it.
8. A letter, an axis and a quantity have names of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.text import shown, text

WANTED = {
    "chol": ("spd",), "solve": ("spd", "factor"), "logdet": ("spd", "factor"),
    "half": ("spd", "factor"), "weighed": ("spd", "factor"), "factor": ("spd",),
    "lsolve": ("lower",), "ltsolve": ("lower",), "linv": ("lower",),
}  # fmt: skip


class TypeMismatch(InternalError):
    """An equation whose axes do not fit."""


def check(program: a.Program) -> None:
    """Refuse a program whose axes do not fit, and show both sides."""
    _Checker(program).whole()


@dataclass
class _Checker:
    """What is known before the statement at hand."""

    program: a.Program
    letters: dict[str, a.Letter] = field(init=False)
    known: dict[str, tuple[a.Size, ...]] = field(init=False)
    structure: dict[str, str] = field(init=False)
    made: dict[str, tuple[str, ...]] = field(default_factory=dict)  # its letters
    made_in: dict[str, tuple[str, ...]] = field(default_factory=dict)  # the recurrences around it
    inside: tuple[str, ...] = ()  # the letters of the recurrences around the statement
    coming: dict[str, a.Let] = field(default_factory=dict)  # made in these recurrences
    where: str = ""

    def __post_init__(self) -> None:
        self.letters = {x.name: x for x in self.program.letters}
        self.known = {q.name: q.sizes for q in self.program.given}
        self.structure = {q.name: q.structure for q in self.program.given}
        self.labels = {q.name: q.labels for q in self.program.given if q.labels != ""}

    # -- statements ----------------------------------------------------------------
    def whole(self) -> None:
        p = self.program
        if len(self.letters) < len(p.letters):
            raise self.wrong("a letter is declared twice", letters=[x.name for x in p.letters])
        self.named_apart()
        for q in p.given:
            self.where = f"given {q.name}"
            self.square(q.name, q.sizes, q.structure)
        for s in p.body:
            self.statement(s)
        self.where = "outs"
        for name in (*p.outs, *(y for _, y in p.writes)):
            self.look_up(name)
        for given, made in p.writes:
            if self.look_up(given) != self.known[made]:
                raise self.wrong("what is written has other axes than the array it goes to",
                                 array=self.known[given], written=self.known[made])  # fmt: skip

    def named_apart(self) -> None:
        """Letters, axes and quantities are all names in the loops of one program."""
        p = self.program
        sizes = {size for x in p.letters if isinstance(size := x.size, str)}
        sizes |= {size for q in p.given for size in q.sizes if isinstance(size, str)}
        quantities = {*self.known, *(s.name for s in p.lets)}
        twice = {*self.letters} & sizes | {*self.letters} & quantities | sizes & quantities
        if twice:
            self.where = "the whole program"
            raise self.wrong("a name stands for two of letter, axis and quantity",
                             names=sorted(twice))  # fmt: skip

    def statement(self, s: a.Statement) -> None:
        if isinstance(s, a.Let):
            self.let(s)
            return
        if s.letter not in self.letters:
            raise self.wrong("unknown letter", letter=s.letter, known=list(self.letters))
        if s.letter in self.inside:
            raise self.wrong("a recurrence inside of one over the same letter", letter=s.letter)
        outer = self.inside, self.coming
        self.inside = (*self.inside, s.letter)
        self.coming = {**self.coming, **{x.name: x for x in a.lets(s.body)}}
        for made in a.lets(s.body):
            self.declared(made)
        for x in s.body:
            self.statement(x)
        if s.stop:
            self.stop(s)
        self.inside, self.coming = outer

    def stop(self, s: a.Seq) -> None:
        """One truth value for each index of the recurrence, and of those around it."""
        own = {x.name: x.letters for x in a.lets(s.body)}.get(s.stop, ())
        if s.letter not in own or not set(own) <= set(self.inside):
            raise self.wrong("what ends a recurrence is one truth value an index",
                             name=s.stop, declared=own, recurrences=self.inside)  # fmt: skip

    def declared(self, s: a.Let) -> None:
        """Every letter of what an equation makes is one of the program's."""
        for x in s.letters:
            if x not in self.letters:
                self.where = shown(s)
                raise self.wrong("unknown letter", letter=x, known=list(self.letters))

    def let(self, s: a.Let) -> None:
        self.where = shown(s)
        if s.name in self.known:
            raise self.wrong("a name is given a value twice", name=s.name)
        self.declared(s)
        if len(set(s.letters)) < len(s.letters):
            raise self.wrong("a letter stands twice on the left", result=s.letters)
        self.ragged(s.letters, a.Ref(s.name, s.target))
        target = set(s.letters).union(*map(a.free, s.at))
        for e in s.expressions:
            self.expr(e, s)
            self.contained(e, s, target)
        first = s.first is not None or s.init is not None
        if first and not set(self.inside) & set(s.letters):
            raise self.wrong("a first value of what is on no recurrence", result=s.letters)
        if isinstance(s.expr, a.Lin):
            own = a.own_letters(s.expr)
            if own and s.letters[-len(own) :] != own:
                raise self.wrong("the letters of a matrix are not the last ones on the left",
                                 expression=text(s.expr), its=own, result=s.letters)  # fmt: skip
        self.known[s.name] = tuple(self.letters[x].size for x in s.letters)
        self.square(s.name, self.known[s.name], s.structure)
        if s.structure != "dense" and {*s.letters[-2:]} & {*self.inside}:
            raise self.wrong("a structure of what is made index by index", structure=s.structure,
                             result=s.letters, recurrence=self.inside)  # fmt: skip
        self.structure[s.name] = self.found_structure(s)
        self.made[s.name], self.made_in[s.name] = s.letters, self.inside

    def found_structure(self, s: a.Let) -> str:
        """As stated, or what the operation makes."""
        made = {"chol": "lower", "linv": "lower"}
        op = s.expr.op if isinstance(s.expr, a.Lin) else ""
        return made.get(op, s.structure) if s.structure == "dense" else s.structure

    def contained(self, e: n.Node, s: a.Let, target: set[str]) -> None:
        """Rule 2; a sum over the letter of a recurrence adds up as it goes."""
        free = a.free(e)
        if s.at and isinstance(e, a.Red):  # what goes to equal places is added up
            free = tuple(x for x in free if x not in e.letters)
        for x in free:
            if x not in target:
                raise self.wrong(f"axis {x} is neither in the result nor reduced",
                                 expression=text(e), indexed=free, result=s.letters)  # fmt: skip
        for x in self.inside:
            inside = [y for y in n.walk(e) if isinstance(y, a.Red) and x in y.letters]
            if any(y is not s.expr for y in inside):
                raise self.wrong("a reduction over a recurrence is not an equation by itself",
                                 expression=text(inside[0]), recurrence=self.inside)  # fmt: skip

    def square(self, name: str, sizes: tuple[a.Size, ...], structure: str) -> None:
        if structure not in a.STRUCTURES:
            raise self.wrong("unknown structure", structure=structure, known=a.STRUCTURES)
        if structure != "dense" and (len(sizes) < 2 or sizes[-1] != sizes[-2]):
            raise self.wrong("a structure that only square matrices have",
                             name=name, structure=structure, declared=sizes)  # fmt: skip

    # -- expressions -----------------------------------------------------------------
    def expr(self, e: n.Node, s: a.Let) -> None:
        if isinstance(e, a.Ref):
            self.reference(e, s)
            return
        for c in e.children:
            self.expr(c, s)
        if isinstance(e, a.Ix | a.Lag | a.Last) and e.letter not in self.letters:
            raise self.wrong("unknown letter", letter=e.letter, known=list(self.letters))
        if isinstance(e, a.Red):
            self.reduction(e)
        elif isinstance(e, a.Lin):
            self.linear(e)
        elif isinstance(e, a.Is):
            self.same(e)
        elif isinstance(e, a.Draw) and not self.is_key(e.key.name):
            raise self.wrong("a draw is made from something that is no key", key=e.key.name)

    def is_key(self, name: str) -> bool:
        return any(q.name == name and q.key for q in self.program.given)

    def reference(self, e: a.Ref, s: a.Let) -> None:
        """Rule 1, and 5 to 7 for each index."""
        for i in e.index:
            self.expr(i, s)
        sizes = self.sizes_of(e.name, s)
        own = tuple(map(self.axis_of, e.index))
        fits = len(own) == len(sizes) and all(
            o == z or o is None for o, z in zip(own, sizes, strict=True)
        )
        if not fits:
            raise self.wrong("an index runs over another axis than the one it stands on",
                             expression=text(e), indexed=[f"{text(i)}: {o}" for i, o in
                             zip(e.index, own, strict=True)], declared=sizes)  # fmt: skip
        letters = [i.letter if isinstance(i, a.Ix | a.Lag) else "" for i in e.index]
        self.ragged(letters, e)
        self.placed(e, sizes)
        self.ordered(e, s)

    def sizes_of(self, name: str, s: a.Let) -> tuple[a.Size, ...]:
        if name not in self.known and name in self.coming:
            return tuple(self.letters[x].size for x in self.coming[name].letters)
        return self.look_up(name)

    def axis_of(self, i: n.Node) -> a.Size | None:
        """The axis on which an index may stand; None for a number."""
        if isinstance(i, a.Ix | a.Lag | a.Last):
            return self.letters[i.letter].size
        if isinstance(i, a.At):
            if i.ref.name not in self.labels:
                raise self.wrong("an index that holds no whole numbers",
                                 expression=text(i), labels=list(self.labels))  # fmt: skip
            return self.labels[i.ref.name]
        return None

    def ragged(self, letters: Sequence[str], e: n.Node) -> None:
        """Rule 5."""
        for p, x in enumerate(letters):
            under = self.letters[x].under if x in self.letters else ""
            if under and (p == 0 or letters[p - 1] != under):
                raise self.wrong("a ragged axis apart from the one it is under",
                                 expression=text(e), letter=x, under=under)  # fmt: skip

    def placed(self, e: a.Ref, sizes: Sequence[a.Size]) -> None:
        """Rule 5: a place in a row is a letter's."""
        ragged = {x.size for x in self.letters.values() if x.under}
        for i, size in zip(e.index, sizes, strict=True):
            if size in ragged and isinstance(i, a.Num | a.At):
                raise self.wrong("a place on a ragged axis that is no letter's",
                                 expression=text(e), place=text(i), axis=size)  # fmt: skip

    def ordered(self, e: a.Ref, s: a.Let) -> None:
        """Rules 6 and 7: at the recurrences that are around both the maker and the reader."""
        for p, i in enumerate(e.index):
            if not isinstance(i, a.Last):
                continue
            if i.letter in self.inside:
                raise self.wrong("the last value of a recurrence is read inside of it",
                                 expression=text(e), recurrence=self.inside)  # fmt: skip
            made, loops = self.made.get(e.name, ()), self.made_in.get(e.name, ())
            if i.letter not in loops or made[p] != i.letter:
                raise self.wrong("the last value of what is no recurrence over the letter",
                                 expression=text(e), made=made, recurrences=loops)  # fmt: skip
        maker = self.coming.get(e.name)
        if maker is None:
            return
        around = [(x, i) for x, i in zip(maker.letters, e.index, strict=True) if x in self.inside]
        lags = [i for x, i in around if isinstance(i, a.Lag) and i.letter == x]
        if (e.name not in self.known and not lags) or any(
            i != a.Ix(x) and i not in lags for x, i in around
        ):
            raise self.wrong("a recurrence reads what it has not made yet",
                             expression=text(e), recurrence=self.inside)  # fmt: skip
        if isinstance(maker.expr, a.Red) and set(maker.expr.letters) & set(self.inside):
            raise self.wrong("a recurrence reads a sum over itself",
                             expression=text(e), recurrence=self.inside)  # fmt: skip
        for i in lags:
            self.lagged(e, i, maker, s)

    def lagged(self, e: a.Ref, i: a.Lag, maker: a.Let, s: a.Let) -> None:
        back = 1 if self.letters[i.letter].down else -1
        if i.by != back:
            raise self.wrong("a recurrence looks one step back, against its direction",
                             expression=text(e), expected=f"{i.letter}{back:+d}")  # fmt: skip
        if s.first is None and maker.init is None:
            raise self.wrong("nothing says what comes before the first index",
                             expression=text(e), wanted=f"first(...) of {s.name} or "
                             f"init(...) of {e.name}")  # fmt: skip

    # -- nodes -------------------------------------------------------------------------
    def reduction(self, e: a.Red) -> None:
        """Rule 3."""
        free = a.free(e.arg)
        for x in e.letters:
            if x not in self.letters:
                raise self.wrong("unknown letter", letter=x, known=list(self.letters))
            if x not in free:
                raise self.wrong(f"axis {x} is reduced, but it is not there",
                                 expression=text(e), indexed=free)  # fmt: skip
        if e.more is not None and e.op != "lse":
            raise self.wrong("one number more, of what is no lse", expression=text(e), op=e.op)
        if e.op not in a.REDUCTIONS:
            raise self.wrong("unknown reduction", op=e.op, known=a.REDUCTIONS)

    def linear(self, e: a.Lin) -> None:
        """Rule 4, and that the sides are as long as the matrix."""
        if e.op not in a.LINEAR:
            raise self.wrong("unknown operation", op=e.op, known=a.LINEAR)
        sides = 1 if e.op in ("chol", "linv", "logdet", "factor") else 2
        if len(e.args) != sides:
            raise self.wrong(f"{e.op} of {len(e.args)} and not {sides}", expression=text(e))
        first = e.args[0]
        found = self.structure.get(first.name, "dense")
        if found not in WANTED[e.op]:
            raise self.wrong(f"{e.op} of a matrix that is not known to be {WANTED[e.op][0]}",
                             expression=text(e), matrix=first.name, structure=found)  # fmt: skip
        axes = [self.axis_of(i) for i in first.index[-2:]]
        letters = [x for i in first.index[-2:] for x in a.free(i)]
        if len(letters) != 2 or letters[0] == letters[1] or axes[0] != axes[1]:
            raise self.wrong("not a square matrix with two letters",
                             expression=text(e), matrix=text(first))  # fmt: skip
        own = a.own_letters(e)
        wanted = (0,) if e.op == "logdet" else (2,) if len(e.args) == 1 else (1, 2)
        if len(own) not in wanted or (own and own[0] not in letters):
            raise self.wrong("the right side shares no letter with the matrix",
                             expression=text(e), matrix=letters, its=own)  # fmt: skip

    def same(self, e: a.Is) -> None:
        if any(isinstance(i, a.Last) for i in e.children):
            raise self.wrong("the last place of a recurrence apart from its values",
                             expression=text(e))  # fmt: skip
        left, right = self.axis_of(e.left), self.axis_of(e.right)
        if left is not None and right is not None and left != right:
            raise self.wrong("places on different axes are compared",
                             expression=text(e), left=left, right=right)  # fmt: skip

    # -- messages ----------------------------------------------------------------------
    def look_up(self, name: str) -> tuple[a.Size, ...]:
        if name not in self.known:
            raise self.wrong("unknown name", name=name, known=list(self.known))
        return self.known[name]

    def wrong(self, what: str, **sides: object) -> TypeMismatch:
        """A message whose sides stand on aligned lines."""
        called = {"indexed": "indexed as"}
        rows = {"in": self.where} | {called.get(k, k): v for k, v in sides.items()}
        width = max(map(len, rows))
        lines = [f"  {k:<{width}}   {_side(v)}" for k, v in rows.items()]
        return TypeMismatch("\n".join([what, *lines]))


def _side(value: object) -> str:
    return f"({', '.join(map(str, value))})" if isinstance(value, tuple | list) else str(value)
