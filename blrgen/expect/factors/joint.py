"""The log joint of a model: one factor a statement, summed over its plates.

A factor is Σ over plates of measure · seen · Σ_k weight_k · log p(x | arguments at k):
`measure` counts identical elements of a ragged or counted plate, `seen` is 0 where an
observation is missing, weights are those of labels and of the branches of a choice.
"""

from __future__ import annotations

from functools import reduce

from blrgen.algebra.indexed.build import (
    add,
    moved,
    multiplied,
    scaled,
    subtracted,
    summed,
    symbol,
)
from blrgen.algebra.indexed.functions import plain
from blrgen.algebra.indexed.values import NUMBER, ZERO, Expression, Index, Symbol
from blrgen.expect.blocks.values import Factor
from blrgen.expect.factors.arguments import Reader, chain_axis, held
from blrgen.expect.factors.density import LogFactor, log_factor
from blrgen.expect.factors.discrete import discrete_opened
from blrgen.expect.factors.names import Table, axis_of, measure_of, plain_letter, table_of
from blrgen.expect.factors.translate import Places, Value
from blrgen.read.model.domains import support_domain
from blrgen.read.model.values import (
    Choose,
    Domain,
    Draw,
    Expr,
    Letter,
    Model,
    Node,
    Number,
    Point,
    Statement,
)


def log_joint(model: Model) -> tuple[Factor, ...]:
    """The factors of all drawn nodes, in the order of the text."""
    table = table_of(model)
    return tuple(
        factor(table, node, statement)
        for node in model.nodes
        if node.kind in ("latent", "observed")
        for statement in node.statements
    )


def factor(table: Table, node: Node, statement: Statement, at: str = "") -> Factor:
    """log p of one statement; of the letter `at` it is one element's, and no sum."""
    reader = Reader(table)
    made = statement.made
    if isinstance(made, Choose):
        own = _chosen(reader, node, statement, made)
    else:
        assert isinstance(made, Draw)
        own = drawn(reader, node, statement, made)
    opened = [discrete_opened(reader.closed(e)) for e in own]
    parts = [_over_plates(table, node, statement, e, at) for e in opened]
    return Factor(node.name, parts[0], parts[1], statement.place)


def places_of(table: Table, node: Node, statement: Statement) -> Places:
    """Where the statement's elements stand on the node's plates."""
    axes = table.variables[node.names[0]].plates
    return tuple(
        plain_letter(i, table) if isinstance(i, Letter) else Index(axis, NUMBER, i.value)
        for i, axis in zip(statement.indices, axes, strict=True)
    )


def _over_plates(
    table: Table, node: Node, statement: Statement, e: Expression, at: str = ""
) -> Expression:
    """Σ over the statement's letters but `at`, with what exists, counts and is seen."""
    places = places_of(table, node, statement)
    if node.missing:
        seen = Symbol(f"seen:{node.names[0]}", known=True, binary=True)
        e = multiplied(e, symbol(seen, *places))
    first = chain_axis(node)
    for position, place in reversed(list(enumerate(places))):
        plate = table.model.plate(node.letters[position])
        if plate.letter == at:
            continue
        measure = measure_of(table, plate)
        if place.literal:
            e = multiplied(e, moved(measure, {table.letter(plate.letter): place}))
            continue
        gates = held(statement, place) if position == first else []
        e = summed(multiplied(e, measure, *gates), place)
    return e


def drawn(
    reader: Reader, node: Node, statement: Statement, draw: Draw
) -> tuple[Expression, Expression]:
    """(log p, its log h) of one distribution, labels still open."""
    table = reader.table
    family = table.model.family(draw.family)
    at = places_of(table, node, statement)
    axes = {name: axis_of(s) for name, s in draw.sizes}
    shape = table.variables[node.names[0]].shape
    over = tuple(reader.fresh(axis) for axis in shape) if family.elementwise else ()
    given = {a.name: argument(reader, a.value, over) for a in draw.arguments}
    own: dict[str, Value] = {}
    for name, letter in zip(node.names, family.variables, strict=True):
        own[str(letter)] = variable(table, name, (*at, *over))
    found: LogFactor = log_factor(family, given, own, axes)
    total, base = found.total, found.log_base
    return reduce(summed, over, total), reduce(summed, over, base)


def argument(reader: Reader, e: Expr, over: Places) -> Value:
    """An argument as an array; of an elementwise family it is taken at the open letters."""
    return lambda places: reader.value(e, over or places)


def variable(table: Table, name: str, at: Places) -> Value:
    """A node's variable as an array at one element."""
    known = table.variables[name]
    return lambda places: symbol(known.symbol, *at, *places)


def _chosen(
    reader: Reader, node: Node, statement: Statement, choose: Choose
) -> tuple[Expression, Expression]:
    """Σ_k weight_k log p_k: the distribution that the label says."""
    label = choose.label
    shape = reader.table.variables[label.ref.name].shape
    k = reader.fresh(shape[-1] if shape and not label.binary else str(len(choose.branches)))
    inner = Reader(reader.table)
    inner.counter = reader.counter
    weight = inner.closed(inner.weight(label, k))
    total, base = ZERO, ZERO
    for position, branch in enumerate(choose.branches, 1):
        own = moved(weight, {k: Index(k.axis, NUMBER, position)})
        if isinstance(branch, Point):
            found = point(reader, node, statement, branch), ZERO
        else:
            found = drawn(reader, node, statement, branch)
            found = add(found[0], reached(reader, node, statement, branch)), found[1]
        total = add(total, multiplied(own, found[0]))
        base = add(base, multiplied(own, found[1]))
    return total, base


def reached(reader: Reader, node: Node, statement: Statement, draw: Draw) -> Expression:
    """log [x between the ends of the branch's values]: 0, or −∞, where another gives more."""
    made = statement.made
    assert isinstance(made, Choose)
    mine = domain_of(reader.table.model, draw)
    total = ZERO
    for side, sign in (("lower", 1), ("upper", -1)):
        end = getattr(mine, side)
        if end is None or not any(
            beyond(reader.table.model, other, side, end) for other in made.branches
        ):
            continue
        at = places_of(reader.table, node, statement)
        over = tuple(reader.fresh(axis) for axis in reader.table.variables[node.names[0]].shape)
        x = variable(reader.table, node.names[0], (*at, *over))(())
        room = scaled(subtracted(x, reader.value(end, over)), sign)
        total = add(total, reduce(summed, over, plain("log_reaches", room)))
    return total


def domain_of(model: Model, draw: Draw) -> Domain:
    """Where the branch's values are."""
    values = {a.name: a.value for a in draw.arguments}
    return support_domain(model.family(draw.family).supports[0], dict(draw.sizes), values)


def beyond(model: Model, other: Draw | Point, side: str, end: Expr) -> bool:
    """Whether another branch may give a value that lies beyond this end."""
    its = other.value if isinstance(other, Point) else getattr(domain_of(model, other), side)
    if its == end:
        return False
    if isinstance(its, Number) and isinstance(end, Number):
        return its.value < end.value if side == "lower" else its.value > end.value
    return True


def point(reader: Reader, node: Node, statement: Statement, mass: Point) -> Expression:
    """log [x = c], a function of data: 0, or −∞."""
    at = places_of(reader.table, node, statement)
    over = tuple(reader.fresh(axis) for axis in reader.table.variables[node.names[0]].shape)
    x = variable(reader.table, node.names[0], (*at, *over))(())
    c = reader.value(mass.value, over)
    return reduce(summed, over, plain("log_indicator", subtracted(x, c)))
