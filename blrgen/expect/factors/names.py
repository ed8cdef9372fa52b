"""The symbols of a model: axes, signs, constraints, what is known.

Every variable and constant has its plates' axes first, then those of its value.  A labels
constant is one-hot: it has the axis of what it labels behind the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from blrgen.algebra.indexed.values import ONE, Expression, Index, Symbol
from blrgen.read.model.values import (
    Const,
    Domain,
    Draw,
    Expr,
    Letter,
    Model,
    Negation,
    Node,
    Number,
    Plate,
    Size,
)


@dataclass(frozen=True)
class Variable:
    """A name of the model: its symbol, the axes of its plates, the axes of its value."""

    symbol: Symbol
    plates: tuple[str, ...]
    shape: tuple[str, ...]
    node: Node | None = None  # None of a constant


@dataclass(frozen=True)
class Table:
    """All of a model's names, by name; and the axes of its letters."""

    model: Model
    variables: dict[str, Variable]
    q: tuple[tuple[str, Draw], ...] = ()  # of nodes whose q is in another family than the prior

    def draw(self, node: Node) -> Draw:
        """The family that a node's q is in."""
        return dict(self.q).get(node.name, node.draws[0])

    def letter(self, name: str, shift: int = 0) -> Index:
        """A plate's letter as an index."""
        return Index(axis_of(self.model.plate(name).size), name, shift)


def axis_of(size: Size) -> str:
    """The axis is the size's name; a ragged one's is the name without its outer letter."""
    return size.name if size.per else str(size)


def table_of(model: Model) -> Table:
    """The symbols of a model's constants and variables."""
    found: dict[str, Variable] = {}
    table = Table(model, found)
    for constant in model.constants:
        found[constant.name] = _constant(model, constant)
    for node in model.nodes:
        for name, domain in zip(node.names, node.domains, strict=True):
            found[name] = _variable(table, node, name, domain)
    return table


def _axes(model: Model, letters: Iterable[str]) -> tuple[str, ...]:
    return tuple(axis_of(model.plate(x).size) for x in letters)


def _constant(model: Model, constant: Const) -> Variable:
    domain = constant.domain
    plates = _axes(model, constant.letters)
    if domain.kind == "labels":
        assert domain.labels is not None
        one_hot = Symbol(constant.name, known=True, one_hot=True, total=ONE)
        return Variable(one_hot, plates, (axis_of(domain.labels),))
    shape = tuple(axis_of(s) for s in domain.shape)
    return Variable(symbol_of(constant.name, domain, known=True), plates, shape)


def _variable(table: Table, node: Node, name: str, domain: Domain) -> Variable:
    model = table.model
    known = node.kind == "observed"
    symbol = symbol_of(name, domain, known, _total(table, node, domain))
    shape = tuple(axis_of(s) for s in domain.shape)
    return Variable(symbol, _axes(model, node.letters), shape, node)


def symbol_of(
    name: str, domain: Domain, known: bool = False, total: Expression | None = None
) -> Symbol:
    """What a domain says of a name; an entry 0 of a closed simplex is the program's matter."""
    zero, one = Fraction(0), Fraction(1)
    match domain.kind:
        case "simplex":
            return Symbol(name, known, lower=zero, upper=one, total=ONE)
        case "one-hot":
            return Symbol(name, known, one_hot=True, total=ONE)
        case "counts":
            return Symbol(name, known, lower=zero, closed=True, total=total)
        case "spd":
            return Symbol(name, known, symmetric=True)
        case "finite":
            return Symbol(name, known, binary=set(domain.points) == {zero, one})
    ends = (_number(domain.lower), _number(domain.upper))
    binary = domain.whole and ends == (zero, one)
    open_ends = (end is None or is_open for end, is_open in zip(
        ends, (domain.lower_open, domain.upper_open), strict=True))  # fmt: skip
    return Symbol(name, known, binary=binary, lower=ends[0], upper=ends[1],
                  closed=not all(open_ends))  # fmt: skip


def _number(e: Expr | None) -> Fraction | None:
    """The end of an interval as a number; None where it is infinite or no number."""
    if isinstance(e, Number):
        return e.value
    if isinstance(e, Negation) and isinstance(e.arg, Number):
        return -e.arg.value
    return None


def _total(table: Table, node: Node, domain: Domain) -> Expression | None:
    """What counts sum to, in "@1", "@2", … for the plates of the node."""
    if domain.kind != "counts" or domain.upper is None:
        return None
    from blrgen.expect.factors.arguments import Reader

    reader = Reader(table)
    found = reader.value(domain.upper, ())
    if reader.labels:
        return None
    from blrgen.algebra.indexed.build import moved

    letters = [table.letter(x) for x in node.letters]
    return moved(found, {i: Index(i.axis, f"@{k}") for k, i in enumerate(letters, 1)})


def measure_of(table: Table, plate: Plate) -> Expression:
    """How many identical elements a place stands for: 1, the counts, or whether it exists."""
    from blrgen.algebra.indexed.build import symbol
    from blrgen.expect.factors.arguments import Reader

    if plate.times is not None:
        return Reader(table).value(plate.times, ())
    if not plate.outer:
        return ONE
    axis = axis_of(plate.size)
    exists = Symbol(f"exists:{axis}", known=True, binary=True)
    letters = [table.letter(x) for x in (*plate.outer, plate.letter)]
    return symbol(exists, *letters)


def plain_letter(letter: Letter, table: Table) -> Index:
    """A letter of a statement as an index."""
    return table.letter(letter.name, letter.shift)
