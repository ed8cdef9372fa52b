"""Programs over named axes: equations with indices, and the recurrences that are in them.

An axis letter runs over an axis; a quantity has an ordered tuple of axes.  Arithmetic, calls
and comparisons are those of `blrgen.program.nodes`, entry by entry; here is what has indices.
Loops, accumulators and scratch are found from the equations and never stated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from blrgen.program.nodes import Node, transform
from blrgen.program.nodes import Ref as Ref

Size = str | int

REDUCTIONS = ("sum", "max", "lse", "sumlog")
LINEAR = ("chol", "solve", "lsolve", "ltsolve", "linv", "logdet", "factor", "half", "weighed")
STRUCTURES = ("dense", "sym", "spd", "lower", "factor")


@dataclass(frozen=True)
class Letter:
    """An index with its axis: 0 ≤ letter < size, or `pointers[under]` to `pointers[under + 1]`.

    With `down` a recurrence over the letter runs from the last index to the first.
    """

    name: str
    size: Size
    under: str = ""
    pointers: str = ""
    down: bool = False


@dataclass(frozen=True)
class Quantity:
    """A given array: its axes in order, and what is known of it.

    `labels` is the axis whose places it names where it holds whole numbers; a `key` is what
    draws are made from.
    """

    name: str
    sizes: tuple[Size, ...] = ()
    structure: str = "dense"
    labels: Size = ""
    key: bool = False


@dataclass(frozen=True)
class Ix(Node):
    """A letter where it stands."""

    letter: str


@dataclass(frozen=True)
class Num(Node):
    """A place known by its number."""

    value: int


@dataclass(frozen=True)
class Lag(Node):
    """The place `by` away from the letter's: t − 1, or u + 1 of what runs down."""

    letter: str
    by: int


@dataclass(frozen=True)
class Last(Node):
    """The place at which the letter's recurrence ended."""

    letter: str


@dataclass(frozen=True)
class At(Node):
    """The place that an entry of whole numbers names."""

    ref: Ref


@dataclass(frozen=True)
class Extent(Node):
    """How many places an axis has, as a number."""

    axis: str


@dataclass(frozen=True)
class Is(Node):
    """1 where two places are the same, 0 elsewhere: a one-hot row, an identity."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Red(Node):
    """Σ, max, log Σ exp or Σ log over letters; log Σ exp of one number `more` where it is there.

    Passes make `last`: the value at the place where a recurrence over the letters ended.
    """

    op: str
    letters: tuple[str, ...]
    arg: Node
    more: Node | None = None


@dataclass(frozen=True)
class Lin(Node):
    """Linear algebra on the last letters of its arguments, batched over the others.

    chol(A) L of L Lᵀ = A; solve(A, b) A⁻¹ b; lsolve(L, b) L⁻¹ b; ltsolve(L, b) L⁻ᵀ b;
    linv(L) L⁻¹; logdet(A) log |A|; with L's diagonal 1 and A = L D Lᵀ half(A, b) L⁻¹ b and
    weighed(A, b) D⁻¹ b; factor(A) A, in the form that solve, logdet and these need.  A matrix
    takes two letters, b one or two; the result carries the letters of the last argument in
    their places, and b one of the matrix's.
    """

    op: str
    args: tuple[Ref, ...]


@dataclass(frozen=True)
class Draw(Node):
    """A number of the law that is a function of the key and the entry's place alone."""

    law: str
    key: Ref
    index: tuple[Node, ...]


@dataclass(frozen=True)
class Let:
    """name[letters] = expr for all values of the letters.

    In a recurrence, `first` is its value at the first index and `init` the value that is
    read one step before that.

    Passes add: `at` says where the entry goes if not at its letters, and equal places are
    added up; of each pair (i, j) in `bounds` only i ≤ j is computed, and with `mirror` the
    other triangle of the last two axes is the same; it is computed once all those in `after`
    are there.
    """

    name: str
    letters: tuple[str, ...]
    expr: Node
    structure: str = "dense"
    first: Node | None = None
    init: Node | None = None
    at: tuple[Node, ...] = ()
    bounds: tuple[tuple[str, str], ...] = ()
    mirror: bool = False
    after: tuple[str, ...] = ()
    where: tuple[str, Ref] | None = None

    @property
    def expressions(self) -> tuple[Node, ...]:
        """What is on its right side."""
        return tuple(e for e in (self.expr, self.first, self.init) if e is not None)

    @property
    def target(self) -> tuple[Node, ...]:
        """The indices of its left side."""
        return self.at or tuple(Ix(x) for x in self.letters)


@dataclass(frozen=True)
class Seq:
    """The body index by index over a letter, until the truth value named `stop` holds.

    Passes make loops over `each` place alone: such a one is no recurrence, and begins nothing.
    """

    letter: str
    body: tuple[Statement, ...]
    stop: str = ""
    each: bool = False


Statement = Let | Seq


@dataclass(frozen=True)
class Assembled:
    """An array that is put together from single values: at each index an expression."""

    name: str
    sizes: tuple[Size, ...]
    entries: tuple[tuple[tuple[Node, ...], Node], ...]


@dataclass(frozen=True)
class Program:
    """One entry point: what is given, its equations, and what of them is handed out.

    `writes` are pairs (given, made): arrays that are overwritten when all is done.
    """

    letters: tuple[Letter, ...]
    given: tuple[Quantity, ...]
    body: tuple[Statement, ...]
    outs: tuple[str, ...] = ()
    writes: tuple[tuple[str, str], ...] = ()
    assembled: tuple[Assembled, ...] = ()

    def letter(self, name: str) -> Letter:
        return next(x for x in self.letters if x.name == name)

    def arranged(self, letters: Iterable[str]) -> tuple[str, ...]:
        """The letters with each ragged one right after the one it is under."""
        out: list[str] = []
        for x in letters:
            under = self.letter(x).under
            out.insert(out.index(under) + 1 if under in out else len(out), x)
        return tuple(out)

    def flat(self, letters: Sequence[str]) -> tuple[str, ...]:
        """The axes in memory: rows of different lengths lie one after the other."""
        unders = [*(self.letter(x).under for x in letters[1:]), ""]
        return tuple(x for x, after in zip(letters, unders, strict=False) if x != after)

    @property
    def lets(self) -> tuple[Let, ...]:
        """All equations, those inside of recurrences too."""
        return tuple(lets(self.body))

    @property
    def sizes(self) -> dict[str, tuple[Size, ...]]:
        """The axes of every quantity."""
        of = {x.name: x.size for x in self.letters}
        made = {s.name: tuple(of[x] for x in s.letters) for s in self.lets}
        put = {x.name: x.sizes for x in self.assembled}
        return put | {q.name: q.sizes for q in self.given} | made

    @property
    def structures(self) -> dict[str, str]:
        """What is known of the last two axes of every quantity."""
        given = {q.name: q.structure for q in self.given}
        return given | {s.name: s.structure for s in self.lets}


def ref(name: str, *index: str | int | Node) -> Ref:
    """name[index]: letters by their names, places by their numbers."""

    def made(i: str | int | Node) -> Node:
        return Ix(i) if isinstance(i, str) else Num(i) if isinstance(i, int) else i

    return Ref(name, tuple(map(made, index)))


def lets(body: tuple[Statement, ...]) -> Iterator[Let]:
    """The equations of a body and of the recurrences in it."""
    for s in body:
        if isinstance(s, Let):
            yield s
        else:
            yield from lets(s.body)


def placed(
    body: tuple[Statement, ...], around: tuple[Seq, ...] = ()
) -> list[tuple[Let, tuple[Seq, ...]]]:
    """All equations in their order with the recurrences around them."""
    out: list[tuple[Let, tuple[Seq, ...]]] = []
    for s in body:
        out += [(s, around)] if isinstance(s, Let) else placed(s.body, (*around, s))
    return out


def recurrences(body: tuple[Statement, ...]) -> list[Seq]:
    """The recurrences of a body and those in them."""
    return [x for s in body if isinstance(s, Seq) for x in (s, *recurrences(s.body))]


def mapped(
    body: tuple[Statement, ...], change: Callable[[Let], tuple[Statement, ...]]
) -> tuple[Statement, ...]:
    """The body with every equation replaced by others in its place."""
    out: list[Statement] = []
    for s in body:
        if isinstance(s, Let):
            out += change(s)
        else:
            out.append(replace(s, body=mapped(s.body, change)))
    return tuple(out)


def free(node: Node) -> tuple[str, ...]:
    """The letters on which an expression depends, in order of first use."""
    if isinstance(node, Ix | Lag):
        return (node.letter,)
    if isinstance(node, Red):
        own = tuple(x for x in free(node.arg) if x not in node.letters)
        return own if node.more is None else tuple(dict.fromkeys((*own, *free(node.more))))
    if isinstance(node, Lin):
        found = [x for a in node.args for x in free(a)]
        return tuple(dict.fromkeys(x for x in found if x not in consumed(node)))
    return tuple(dict.fromkeys(x for c in node.children for x in free(c)))


def own_letters(lin: Lin) -> tuple[str, ...]:
    """The letters on which the result's entries stand, besides the batch.

    Of a right side they begin at the one that it shares with the matrix.
    """
    matrix = [x for i in lin.args[0].index[-2:] for x in free(i)]
    if lin.op == "logdet":
        return ()
    index = [x for i in lin.args[-1].index for x in (free(i) or ("",))]
    start = next((p for p, x in enumerate(index) if x in matrix), len(index))
    return tuple(index[start:])


def consumed(lin: Lin) -> set[str]:
    """The letters that the operation takes and does not give back."""
    matrix = {x for i in lin.args[0].index[-2:] for x in free(i)}
    return matrix - set(own_letters(lin))


def refs(node: Node) -> tuple[Ref, ...]:
    """Every reference in the tree, those inside of indices too."""
    return node.refs


def swapped(node: Node, places: Mapping[str, Node]) -> Node:
    """The expression with letters that are not reduced in it replaced by other places.

    A lag of a letter that becomes another letter is that letter's lag.
    """
    if isinstance(node, Red):
        inside = {k: v for k, v in places.items() if k not in node.letters}
        return node.rebuilt(lambda c: swapped(c, places if c is node.more else inside))
    if isinstance(node, Ix):
        return places.get(node.letter, node)
    if isinstance(node, Lag) and node.letter in places:
        new = places[node.letter]
        if isinstance(new, Ix):
            return Lag(new.letter, node.by)
        if isinstance(new, Num):
            return Num(new.value + node.by)
    return node.rebuilt(lambda c: swapped(c, places))


def renamed(node: Node, names: dict[str, str]) -> Node:
    """The expression with quantities under other names."""

    def change(x: Node) -> Node:
        return Ref(names[x.name], x.index) if isinstance(x, Ref) and x.name in names else x

    return transform(node, change)
