"""A model's expressions in the index algebra; labels become letters with weights.

f(θ[z]) = Σ_k z_k f(θ[k]): a label inside an argument is read as a fresh letter k, and the
whole factor is multiplied by z[k] and summed afterwards (`Reader.closed`).  The same label
is the same letter.  Labels of labels are weights already: z[g[n]] is Σ_l g[n,l] z[l].
"""

from __future__ import annotations

from functools import reduce
from itertools import count

from blrgen.algebra.indexed.build import (
    add,
    delta,
    guard,
    headed,
    moved,
    multiplied,
    number,
    scaled,
    size,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.functions import exp, log, raised
from blrgen.algebra.indexed.matrices import inverse, logdet
from blrgen.algebra.indexed.values import LAST, NUMBER, ONE, ZERO, Expression, Index
from blrgen.errors import InternalError
from blrgen.expect.factors.names import Table, Variable, axis_of, plain_letter
from blrgen.expect.factors.translate import opened
from blrgen.read.model.values import (
    All,
    Call,
    Choose,
    Draw,
    Expr,
    Label,
    Letter,
    Literal,
    MatrixProduct,
    Negation,
    Node,
    Number,
    Power,
    Product,
    Ref,
    SizeOf,
    Statement,
    Sum,
)
from blrgen.read.model.values import Index as ModelIndex

Places = tuple[Index, ...]


class Reader:
    """Reads the arguments of one statement; remembers the labels that stand in them."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.labels: dict[tuple[str, str], tuple[Index, Expression]] = {}
        self.counter = count(1)

    def fresh(self, axis: str) -> Index:
        """A letter that no text can have."""
        return Index(axis, f"`{next(self.counter)}")

    def closed(self, e: Expression) -> Expression:
        """Σ_k z_k e for every label that was met."""
        for k, weight in self.labels.values():
            if k in e.letters:
                e = summed(multiplied(e, weight), k)
        return e

    def value(self, e: Expr, at: Places) -> Expression:
        """The expression at the letters of its shape; a number is the same at all of them."""
        at = at if e.shape or isinstance(e, Ref) else ()
        match e:
            case Number(value=q):
                return number(q)
            case SizeOf(size=s):
                return size(axis_of(s))
            case Ref():
                return self.reference(e, at)
            case Sum(terms=terms):
                return add(*[self.value(x, at) for x in terms])
            case Product(factors=factors):
                return multiplied(*[self.value(x, at) for x in factors])
            case Negation(arg=arg):
                return scaled(self.value(arg, at), -1)
            case Power(base=base, exponent=exponent):
                return raised(self.value(base, at), self.value(exponent, at))
            case MatrixProduct(left=left, right=right):
                return self.matrix_product(left, right, at)
            case Call():
                return self.call(e, at)
        raise InternalError(f"no reading of {e}")

    def matrix_product(self, left: Expr, right: Expr, at: Places) -> Expression:
        """Σ_j left[.., j] right[j, ..]."""
        j = self.fresh(axis_of(right.shape[0]))
        rows = len(left.shape) - 1
        inner = multiplied(self.value(left, (*at[:rows], j)), self.value(right, (j, *at[rows:])))
        return summed(inner, j)

    # References ---------------------------------------------------------------------------

    def reference(self, ref: Ref, at: Places) -> Expression:
        """A name at its indices; letters of `:` and of what is left of its value come from at."""
        variable = self.table.variables[ref.name]
        axes = (*variable.plates, *variable.shape)
        left = iter(at)
        places = [self.index(i, axis, left) for i, axis in zip(ref.indices, axes, strict=False)]
        places += [next(left) for _ in axes[len(ref.indices) :]]
        return self.element(variable, tuple(places))

    def index(self, i: ModelIndex, axis: str, left: object) -> Index:
        """Where an index of the text stands on an axis."""
        match i:
            case Letter():
                return plain_letter(i, self.table)
            case Literal(value=value):
                return Index(axis, NUMBER, value)
            case All():
                return next(left)  # type: ignore[call-overload, no-any-return]
            case Label():
                return self.label(i, axis)
        raise InternalError(f"no reading of index {i}")

    def label(self, label: Label, axis: str) -> Index:
        """The letter of a label, the same one for the same label."""
        inner = Reader(self.table)
        inner.counter = self.counter
        k = self.fresh(axis)
        weight = inner.closed(inner.weight(label, k))
        name = moved(weight, {k: Index(axis, "`")}).key
        letter, _ = self.labels.setdefault((axis, name), (k, weight))
        return letter

    def weight(self, label: Label, k: Index) -> Expression:
        """1 where the label says k, else 0; a bernoulli says 1 at 0 and 2 at 1."""
        variable = self.table.variables[label.ref.name]
        if not label.binary:
            return self.reference(label.ref, (k,))
        z = self.reference(label.ref, ())
        assert not variable.shape
        first, second = (delta(k, Index(k.axis, NUMBER, n)) for n in (1, 2))
        return add(multiplied(subtracted(ONE, z), first), multiplied(z, second))

    def element(self, variable: Variable, places: Places) -> Expression:
        """A symbol at its places; a deterministic one is what it is made of."""
        node = variable.node
        if node is None or node.kind != "deterministic":
            return symbol(variable.symbol, *places)
        return add(*[self.part(node, s, places) for s in node.statements], ZERO)

    def part(self, node: Node, statement: Statement, places: Places) -> Expression:
        """What a statement says of an element: guarded where it holds for some only."""
        made = statement.made
        assert not isinstance(made, Draw | Choose)
        moves: dict[Index, Index] = {}
        gate = ONE
        first = chain_axis(node)
        for position, own in enumerate(statement.indices):
            place = places[position]
            if isinstance(own, Literal):
                gate = multiplied(gate, delta(place, Index(place.axis, NUMBER, own.value)))
                continue
            moves[plain_letter(own, self.table)] = place
            if position == first:
                gate = multiplied(gate, *held(statement, place))
        # the letters of the statement first get names that no place has
        apart = {old: self.fresh(old.axis) for old in moves}
        inner = Reader(self.table)
        inner.counter = self.counter
        value = inner.value(made, rest := tuple(places[len(statement.indices) :]))
        assert len(rest) == len(made.shape) or not made.shape
        value = self.taken_over(inner, value, apart, moves)
        return multiplied(gate, value)

    def taken_over(
        self, inner: Reader, value: Expression, apart: dict[Index, Index],
        moves: dict[Index, Index],
    ) -> Expression:  # fmt: skip
        """The value with letters moved; its labels, moved too, become labels here."""
        back = {apart[old]: new for old, new in moves.items()}

        def shifted(e: Expression) -> Expression:
            return moved(moved(e, apart), back)

        value = shifted(value)
        for (axis, _), (k, weight) in inner.labels.items():
            weight = shifted(weight)
            name = moved(weight, {k: Index(axis, "`")}).key
            letter, _ = self.labels.setdefault((axis, name), (k, weight))
            value = moved(value, {k: letter})
        return value

    # Functions ----------------------------------------------------------------------------

    def call(self, e: Call, at: Places) -> Expression:
        """A function of the language: words for vectors and matrices, else a scalar one."""
        word = getattr(self, f"_{e.function}", None)
        if word is not None:
            return word(*e.args, at=at)  # type: ignore[no-any-return]
        return opened(e.function, *[self.value(a, at) for a in e.args])

    def _over(self, e: Expr) -> Places:
        return tuple(self.fresh(axis_of(s)) for s in e.shape)

    def _dot(self, a: Expr, b: Expr, at: Places) -> Expression:
        places = self._over(a if a.shape else b)
        inner = multiplied(self.value(a, places), self.value(b, places))
        return reduce(summed, places, inner)

    def _sum(self, a: Expr, at: Places) -> Expression:
        places = self._over(a)
        return reduce(summed, places, self.value(a, places))

    def _prod(self, a: Expr, at: Places) -> Expression:
        places = self._over(a)
        return exp(reduce(summed, places, log(self.value(a, places))))

    def _trace(self, a: Expr, at: Places) -> Expression:
        i, _ = self._over(a)
        return summed(self.value(a, (i, i)), i)

    def _transpose(self, a: Expr, at: Places) -> Expression:
        return self.value(a, tuple(reversed(at)))

    def _outer(self, a: Expr, b: Expr, at: Places) -> Expression:
        return multiplied(self.value(a, at[:1]), self.value(b, at[1:]))

    def _diag(self, a: Expr, at: Places) -> Expression:
        return multiplied(self.value(a, at[:1]), delta(*at))

    def _inv(self, a: Expr, at: Places) -> Expression:
        if not a.shape:
            return raised(self.value(a, ()), number(-1))
        i, j = self._over(a)
        return moved(inverse(self.value(a, (i, j)), i, j), dict(zip((i, j), at, strict=True)))

    def _logdet(self, a: Expr, at: Places) -> Expression:
        if not a.shape:
            return log(self.value(a, ()))
        i, j = self._over(a)
        return logdet(self.value(a, (i, j)), i, j)

    def _zeros(self, *sizes: Expr, at: Places) -> Expression:
        return ZERO

    def _ones(self, *sizes: Expr, at: Places) -> Expression:
        return ONE

    def _eye(self, *sizes: Expr, at: Places) -> Expression:
        return delta(*at)

    def _last(self, a: Expr, at: Places) -> Expression:
        return self.value(a, (Index(axis_of(a.shape[0]), LAST),))

    def _head(self, a: Expr, at: Places) -> Expression:
        (k,) = at
        return self.value(a, (Index(axis_of(a.shape[0]), k.name, k.shift),))


def chain_axis(node: Node) -> int | None:
    """The position where some statement of the node has a literal."""
    found = [p for s in node.statements for p, i in enumerate(s.indices) if isinstance(i, Literal)]
    return found[0] if found else None


def held(statement: Statement, place: Index) -> list[Expression]:
    """Where a statement with a letter holds: from its first element on, without some."""
    gates = [guard(place, statement.first - 1)] if statement.first > 1 else []
    spared = [delta(place, Index(place.axis, NUMBER, n)) for n in statement.without]
    return gates + [subtracted(ONE, d) for d in spared]


__all__ = ["Reader", "chain_axis", "headed", "held"]
