"""Expressions with indices as NumPy arrays whose axes are letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.meanings import COMPARE, REDUCE, Array, calls
from blrgen.program.axes.text import text
from blrgen.value.kinds import DOUBLES, Kind

Law = Callable[[Any, Array], Array]  # of a key and places
Bound = tuple[tuple[str, ...], Array]  # an array with the letters that its axes are
Ends = tuple[tuple[str, ...], dict[tuple[int, ...], int]]  # letters around, at their places the end


@dataclass
class Evaluation:
    """Arrays so far, and the letters that are bound to a place."""

    program: a.Program
    values: dict[str, Array]
    sizes: dict[str, int]
    laws: Mapping[str, Law]
    kind: Kind = DOUBLES

    def __post_init__(self) -> None:
        self.letters = {x.name: x for x in self.program.letters}
        self.bound: dict[str, int] = {}
        self.ends: dict[tuple[str, str], Ends] = {}  # of what is made, and a letter of it
        self.ragged = {x.size: x.under for x in self.program.letters if x.under}
        self.around: tuple[str, ...] = ()
        self.each: set[str] = set()  # those of them that are no recurrences
        found = (x.dtype for x in self.values.values() if x.dtype.kind == "f")
        self.real = self.kind.dtype if self.exact else np.result_type(np.float32, *found)
        for q in self.program.given:
            self.given(q)

    def given(self, q: a.Quantity) -> None:
        """The sizes that an array shows, the same for all that share them."""
        if q.name not in self.values:
            raise InternalError(f"{q.name} is not given; given: {', '.join(self.values)}")
        found = self.values[q.name]
        stored = self.stored(q.sizes)
        if not q.key and found.ndim != len(stored):
            raise InternalError(f"{q.name} has {found.ndim} axes, {len(stored)} are declared")
        for size, length in zip(stored, found.shape, strict=False):
            known = self.sizes.setdefault(size, length) if isinstance(size, str) else size
            if known != length:
                raise InternalError(f"{q.name} has {length} places on axis {size}, not {known}")

    def stored(self, sizes: Sequence[a.Size]) -> list[a.Size]:
        """The axes of the array in memory: what is ragged lies one row after the other."""
        under = [i - 1 for i, x in enumerate(sizes) if x in self.ragged]
        return [x for i, x in enumerate(sizes) if i not in under]

    def length(self, size: a.Size) -> int:
        return size if isinstance(size, int) else self.sizes[size]

    def places(self, letter: str) -> range:
        """The places over which a letter runs."""
        at = self.letters[letter]
        if at.under:
            pointers, d = self.values[at.pointers], self.bound[at.under]
            return range(int(pointers[d]), int(pointers[d + 1]))
        return range(self.length(at.size))

    @contextmanager
    def at(self, letter: str, place: int) -> Iterator[None]:
        self.bound[letter] = place
        yield
        del self.bound[letter]

    def expr(self, e: n.Node) -> Bound:
        method = getattr(self, f"of_{type(e).__name__}", None)
        if method is None:
            raise InternalError(f"nothing says what {type(e).__name__} means")
        found: Bound = method(e)
        return found

    def joined(self, f: Callable[..., Any], *parts: Bound) -> Bound:
        """f entry by entry, letters broadcast by name."""
        letters = tuple(dict.fromkeys(x for own, _ in parts for x in own))
        return letters, np.asarray(
            f(*np.broadcast_arrays(*(self.spread(p, letters) for p in parts)))
        )

    def spread(self, part: Bound, letters: Sequence[str]) -> Array:
        """The array with an axis for each of the letters, of length 1 where it has none."""
        own, value = part
        order = [own.index(x) for x in letters if x in own]
        shape = [value.shape[own.index(x)] if x in own else 1 for x in letters]
        return value.transpose(order).reshape(shape)

    def number(self, value: Any) -> Bound:
        """A number, in the dtype of the arrays."""
        return (), np.asarray(self.kind.number(value) if self.exact else float(value), self.real)

    @property
    def exact(self) -> bool:
        """Whether numbers are of another kind than doubles."""
        return self.kind is not DOUBLES

    def call(self, name: str) -> Callable[..., Any]:
        """A function of arrays."""
        return np.vectorize(partial(self.kind.call, name), [object]) if self.exact else calls(name)

    def reduce(self, op: str, x: Array, axis: int = 0) -> Array:
        """A reduction of an array."""
        if self.exact and op in ("lse", "sumlog"):
            x = self.kind.log(x) if op == "sumlog" else np.moveaxis(x, axis, -1)
            return np.asarray(np.sum(x, axis) if op == "sumlog" else self.kind.log_sum_exp(x))
        return np.asarray(REDUCE[op](x, axis))

    def of_Const(self, e: n.Const) -> Bound:
        return self.number(e.value)

    def of_Named(self, e: n.Named) -> Bound:
        return self.number(np.inf if e.name == "inf" else self.kind.constant(e.name))

    def of_Extent(self, e: a.Extent) -> Bound:
        return self.number(self.length(e.axis))

    def of_Add(self, e: n.Add) -> Bound:
        return self.joined(lambda *x: np.sum(np.stack(x), 0), *map(self.expr, e.args))

    def of_Sub(self, e: n.Sub) -> Bound:
        return self.joined(np.subtract, *map(self.expr, e.children))

    def of_Mul(self, e: n.Mul) -> Bound:
        return self.joined(lambda *x: np.prod(np.stack(x), 0), *map(self.expr, e.args))

    def of_Div(self, e: n.Div) -> Bound:
        return self.joined(np.divide, *map(self.expr, e.children))

    def of_Neg(self, e: n.Neg) -> Bound:
        return self.joined(np.negative, self.expr(e.arg))

    def of_Pow(self, e: n.Pow) -> Bound:
        return self.joined(lambda x: x**e.exponent, self.expr(e.base))

    def of_Call(self, e: n.Call) -> Bound:
        parts = [self.expr(x) for x in e.args]
        if e.name in ("max", "min"):
            best = np.maximum if e.name == "max" else np.minimum
            return self.joined(lambda *x: best.reduce(x), *parts)
        return self.joined(self.call(e.name), *parts)

    def of_Compare(self, e: n.Compare) -> Bound:
        return self.joined(COMPARE[e.operator], self.expr(e.left), self.expr(e.right))

    def of_Select(self, e: n.Select) -> Bound:
        return self.joined(np.where, *map(self.expr, e.children))

    def of_Ref(self, e: a.Ref) -> Bound:
        """The entries, or what was there before the first index."""
        before = self.before(e)
        if before is not None:
            return before
        sizes = self.program.sizes[e.name]
        free = tuple(x for x in a.free(e) if x not in self.bound)
        ends = self.ended(e)
        return free, np.asarray(self.values[e.name][self.grid(e.index, free, sizes, ends)])

    def before(self, e: a.Ref) -> Bound | None:
        """`init` of a quantity that is read one step before its recurrence begins."""
        for i in e.index:
            if isinstance(i, a.Lag) and i.letter in self.bound:
                maker = next((s for s in self.program.lets if s.name == e.name), None)
                if maker is None or maker.init is None or i.letter not in maker.letters:
                    continue
                if self.bound[i.letter] + i.by not in self.places(i.letter):
                    places = dict(zip(maker.letters, e.index, strict=True))
                    return self.expr(a.swapped(maker.init, places))
        return None

    def ended(self, e: a.Ref) -> dict[str, Bound]:
        """Where recurrences ended whose last values are read, at the places of those around."""
        letters = [i.letter for i in e.index if isinstance(i, a.Last)]
        if not letters:
            return {}
        maker = next(s for s in self.program.lets if s.name == e.name)
        at = dict(zip(maker.letters, e.index, strict=True))
        return {x: self.end((e.name, x), at) for x in letters}

    def grid(
        self,
        index: Sequence[n.Node],
        free: tuple[str, ...],
        sizes: Sequence[a.Size],
        ends: Mapping[str, Bound] | None = None,
    ) -> tuple[Array, ...]:
        """Places in memory for all values of the free letters."""
        under = [p - 1 for p, x in enumerate(sizes) if x in self.ragged]
        kept = [i for p, i in enumerate(index) if p not in under]
        stored = self.stored(sizes)
        out = []
        for i, size in zip(kept, stored, strict=True):
            place = (ends or {})[i.letter] if isinstance(i, a.Last) else self.place(i)
            low, high = np.min(place[1], initial=0), np.max(place[1], initial=0)
            if place[1].size and (low < 0 or high >= self.length(size)):
                raise InternalError(f"{text(i)} is outside of axis {size}")
            out.append(self.spread(place, free))
        return tuple(out)

    def place(self, i: n.Node) -> Bound:
        """The numbers that an index stands for."""
        if isinstance(i, a.Num):
            return (), np.asarray(i.value)
        if isinstance(i, a.At):
            free, found = self.of_Ref(i.ref)
            return free, found.astype(np.int64)
        assert isinstance(i, a.Ix | a.Lag)
        by = i.by if isinstance(i, a.Lag) else 0
        if i.letter in self.bound:
            return (), np.asarray(self.bound[i.letter] + by)
        places = self.places(i.letter)
        return (i.letter,), np.arange(places.start, places.stop) + by

    def end(self, of: tuple[str, str], at: Mapping[str, n.Node]) -> Bound:
        """Where the recurrence over a letter ended, of those around it at these places."""
        if of not in self.ends:
            raise InternalError(f"{of[1]} of {of[0]} has not run")
        outer, found = self.ends[of]
        places = [self.place(at.get(x, a.Ix(x))) for x in outer]
        if not places:
            return (), np.asarray(found[()])
        return self.joined(np.vectorize(lambda *x: found[x], otypes=[np.int64]), *places)

    def of_Is(self, e: a.Is) -> Bound:
        free, same = self.joined(np.equal, self.place(e.left), self.place(e.right))
        return free, same.astype(self.real)

    def of_Red(self, e: a.Red) -> Bound:
        return self.red(e)

    def red(self, e: a.Red, bounds: Sequence[tuple[str, str]] = ()) -> Bound:
        """A reduction; place by place of an axis under which a reduced one is ragged.

        A sum is of what is within its bounds: letters that are in order.
        """
        if e.more is not None:
            return self.joined(np.logaddexp, self.red(replace(e, more=None)), self.expr(e.more))
        if not e.letters:
            return self.expr(e.arg)
        for x in (self.letters[y].under for y in self.ragged_in(e)):
            if x not in self.bound:
                return self.apart(e, x)
        value_of = self.expr(e.arg)
        for x, y in bounds:
            inside = self.joined(np.less_equal, self.place(a.Ix(x)), self.place(a.Ix(y)))
            value_of = self.joined(lambda v, w: np.where(w, v, 0), value_of, inside)
        free, value = self.everywhere(value_of, e.letters)
        order = [free.index(x) for x in e.letters]
        rest = tuple(x for x in free if x not in e.letters)
        value = np.moveaxis(value, order, range(len(order)))
        whole = value.reshape((int(np.prod(value.shape[: len(order)])), *value.shape[len(order) :]))
        return rest, self.reduce(e.op, whole)

    def everywhere(self, part: Bound, letters: Sequence[str]) -> Bound:
        """The array at all places of the letters, also of those on which it does not vary."""
        missing = tuple(x for x in letters if x not in part[0])
        if not missing:
            return part
        lengths = [len(self.places(x)) for x in missing]
        spread = np.broadcast_to(
            self.spread(part, (*missing, *part[0])), (*lengths, *part[1].shape)
        )
        return (*missing, *part[0]), spread

    def part(self, e: a.Red) -> Bound:
        """What one index of a recurrence adds to a reduction over it."""
        if not e.letters and e.op == "sumlog":
            return self.joined(np.log, self.expr(e.arg))
        return self.red(e)

    def ragged_in(self, e: n.Node) -> list[str]:
        """The ragged letters that are reduced in the tree, but in sums over what they are under."""
        found = [x for c in e.children for x in self.rows_of(c)]
        own = e.letters if isinstance(e, a.Red) else ()
        return list(dict.fromkeys((*(x for x in own if self.letters[x].under), *found)))

    def rows_of(self, e: n.Node) -> list[str]:
        """Those of `ragged_in` whose rows are free outside of the tree."""
        over = e.letters if isinstance(e, a.Red) else ()
        return [x for x in self.ragged_in(e) if self.letters[x].under not in over]

    def apart(self, e: a.Red, x: str) -> Bound:
        """The reduction at each place of x, stacked or reduced in turn."""
        rest = a.Red(e.op, tuple(y for y in e.letters if y != x), e.arg)
        parts: list[Bound] = []
        for place in self.places(x):
            with self.at(x, place):
                parts.append(self.red(rest))
        if not parts:
            none = self.reduce(e.op, np.zeros(0, self.real))
            return ((), none) if x in e.letters else ((x,), np.zeros(0, self.real))
        letters = parts[0][0]
        stacked = np.stack([self.spread(p, letters) for p in parts])
        if x in e.letters:
            op = "sum" if e.op == "sumlog" and rest.letters else e.op  # of what are logs already
            return letters, self.reduce(op, stacked)
        return (x, *letters), stacked

    def of_Lin(self, e: a.Lin) -> Bound:
        """On the last axes; the letters of the batch come first, whatever their order."""
        matrix = [x for i in e.args[0].index[-2:] for x in a.free(i)]
        own = a.own_letters(e)
        parts = [self.expr(x) for x in e.args]
        batch = tuple(
            dict.fromkeys(x for free, _ in parts for x in free if x not in (*matrix, *own))
        )
        first = self.spread(parts[0], (*batch, *matrix))
        if e.op in ("half", "weighed"):
            root = np.linalg.cholesky(first)
            pivots = np.diagonal(root, axis1=-2, axis2=-1)[..., None, :]
            one = np.eye(root.shape[-1], dtype=root.dtype)
            first = root / pivots if e.op == "half" else one * pivots**2
        if len(e.args) > 1:
            right = self.spread(parts[1], (*batch, *own))
            vector = len(own) == 1
            right = right[..., None] if vector else right
            turned = np.swapaxes(first, -1, -2) if e.op == "ltsolve" else first
            found = self.kind.solve(turned, right)
            return (*batch, *own), found[..., 0] if vector else found
        if e.op == "logdet":
            return batch, np.asarray(self.kind.logdet(first))
        if e.op == "factor":
            return (*batch, *own), first
        found = np.linalg.cholesky(first) if e.op == "chol" else np.tril(np.linalg.inv(first))
        return (*batch, *own), found

    def of_Draw(self, e: a.Draw) -> Bound:
        """The law at the key and the linear index of the entry."""
        sizes = [self.letters[x].size for i in e.index for x in a.free(i)]
        free = tuple(
            x for x in dict.fromkeys(x for i in e.index for x in a.free(i)) if x not in self.bound
        )
        linear: Bound = ((), np.asarray(0))
        for i, size in zip(e.index, sizes, strict=True):
            length = self.length(size)
            linear = self.joined(lambda x, y, k=length: x * k + y, linear, self.place(i))
        return free, self.laws[e.law](self.values[e.key.name], self.spread(linear, free))
