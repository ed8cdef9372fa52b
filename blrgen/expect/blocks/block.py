"""A block of nodes and its full conditional: statistics, division, what joins its elements."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from blrgen.algebra.indexed.build import (
    Put,
    add,
    multiplied,
    of_atom,
    power,
    put,
    scaled,
    summed,
    symbol,
)
from blrgen.algebra.indexed.values import ONE, ZERO, Expression, Index, Symbol
from blrgen.core import Family
from blrgen.expect.blocks.divide import Division, divided, multiplied_back, remainder
from blrgen.expect.blocks.templates import Template, degree_in, holds, template
from blrgen.expect.blocks.values import Block, Factor, Part, Remainder
from blrgen.expect.factors.arguments import Reader
from blrgen.expect.factors.density import log_base_value, statistic_values
from blrgen.expect.factors.joint import variable
from blrgen.expect.factors.names import Table, axis_of, measure_of
from blrgen.expect.factors.translate import Value
from blrgen.read.model.values import Node

_SPARE = "ijlmrsuvabc"


@dataclass(frozen=True)
class Element:
    """A node's family at one element: its letters, variables, known parameters, sizes."""

    family: Family
    element: tuple[Index, ...]
    given: Mapping[str, Value]
    variables: Mapping[str, Value]
    axes: dict[str, str]


def element_of(table: Table, node: Node) -> Element:
    """One element of a node, at letters."""
    draw = table.draw(node)
    family = table.model.family(draw.family)
    axes = {name: axis_of(s) for name, s in draw.sizes}
    at = tuple(table.letter(x) for x in node.letters)
    known = table.variables[node.names[0]]
    over = place_letters(table, known.shape, at) if family.elementwise else ()
    reader = Reader(table)
    fixed = {p.name for p in family.fixed}
    given = {
        a.name: lambda places, e=a.value: reader.value(e, places)
        for a in draw.arguments
        if a.name in fixed
    }
    own = {
        str(letter): variable(table, name, (*at, *over))
        for name, letter in zip(node.names, family.variables, strict=True)
    }
    return Element(family, (*at, *over), given, own, axes)


def element_base(table: Table, node: Node) -> Expression:
    """log h of one element."""
    e = element_of(table, node)
    return log_base_value(e.family, e.given, e.variables, e.axes)


def whole_base(table: Table, node: Node) -> Expression:
    """Σ log h over a node's elements, of the family of its q."""
    found = multiplied(element_base(table, node), element_measure(table, [node]))
    for i in element_of(table, node).element:
        found = summed(found, i)
    return found


def node_templates(table: Table, node: Node) -> tuple[Template, ...]:
    """The statistics of a node's family at one element."""
    e = element_of(table, node)
    names = frozenset(node.names)
    values = statistic_values(e.family, e.given, e.variables, e.axes)
    found = []
    for position, (value, p) in enumerate(zip(values, e.family.natural, strict=True)):
        places = place_letters(table, statistic_axes(p.symbol, e.axes), e.element)
        found.append(
            template((node.name,), position, e.element, (*e.element, *places), value(places), names)
        )
    return tuple(found)


def place_letters(
    table: Table, axes: Sequence[str], taken: Sequence[Index]
) -> tuple[Index, ...]:  # fmt: skip
    """A letter for each axis: the model's own for it where that is free, else i, j, l."""
    own = [(p.letter, table.letter(p.letter).axis) for p in table.model.plates]
    used = {i.name for i in taken}
    found = []
    for axis in axes:
        free = [x for x, a in own if a == axis] + [
            x for x in _SPARE if x not in {y for y, _ in own}
        ]
        name = next(x for x in free if x not in used)
        used.add(name)
        found.append(Index(axis, name))
    return tuple(found)


def statistic_axes(symbol: object, axes: dict[str, str]) -> tuple[str, ...]:
    """The axes of a statistic: those of its natural parameter."""
    from blrgen.algebra.components import Component
    from blrgen.algebra.ranks import Ranked
    from blrgen.expect.factors.translate import Translator

    translator = Translator({}, axes)
    if isinstance(symbol, Component):
        return (translator.axis(symbol.size),)
    if isinstance(symbol, Ranked):
        return tuple(translator.axis(s) for s in symbol.shape if s != 1)
    return ()


def block_of(table: Table, factors: Sequence[Factor], nodes: Sequence[Node]) -> Block:
    """The full conditional of a block of nodes, divided and multiplied back.

    Several nodes are a block of a declared family over all of their variables where one
    divides it; else their statistics are taken together, with all pairs.
    """
    if len(nodes) > 1:
        from blrgen.expect.blocks.library import holding

        whole = holding(table, factors, nodes)
        if whole is not None:
            return whole
    templates = tuple(t for node in nodes for t in node_templates(table, node))
    own = {node.name for node in nodes}
    chosen = dict(table.q)
    base = add(*[f.base for f in factors if f.node in own and f.node not in chosen],
               *[whole_base(table, node) for node in nodes if node.name in chosen])  # fmt: skip
    families = ",".join(dict.fromkeys(table.draw(node).family for node in nodes))
    return assembled(table, factors, nodes, templates, base, families)


def assembled(
    table: Table, factors: Sequence[Factor], nodes: Sequence[Node],
    templates: tuple[Template, ...], base: Expression, family: str,
) -> Block:  # fmt: skip
    """The log joint less log h, divided by the templates and multiplied back."""
    names = frozenset(name for node in nodes for name in node.names)
    ordered = sorted(templates, key=lambda t: -t.degree)
    division = Division(tuple(ordered), names)
    joint = add(*[f.total for f in factors], scaled(base, -1))
    with_block = Expression(
        tuple((t, c) for t, c in joint.terms if any(holds(a, names) for a, _ in t.factors))
    )
    coefficients = divided(with_block, division)
    back = multiplied_back(coefficients, division.statistics)
    rest = remainder(with_block, back, names)
    measure = element_measure(table, nodes)
    parts = [
        Part(division.statistics[k], apart_from(c, measure))
        for k, c in _complete(coefficients, division, templates).items()
    ]
    kind, axis, lag = joined(parts, templates, names, table, base)
    if kind in ("banded", "labels"):  # a chain is one whole: what counts is how many there are
        moving = {x for p in parts for x, shift in p.statistic.shifts if shift}
        measure = element_measure(table, nodes, moving)
    return Block(
        tuple(n.name for n in nodes), family, tuple(nodes[0].letters), tuple(parts), base,
        tagged(rest, factors, names), kind, axis, lag, proved=not rest, measure=measure,
    )  # fmt: skip


def _complete(
    coefficients: dict[tuple[object, ...], Expression], division: Division,
    templates: Sequence[Template],
) -> dict[tuple[object, ...], Expression]:  # fmt: skip
    """Every statistic of the family in its order, also with coefficient 0; then the pairs."""
    from blrgen.expect.blocks.divide import statistic_of

    found: dict[tuple[object, ...], Expression] = {}
    for t in templates:
        key = (t.nodes, t.position)
        division.statistics.setdefault(key, statistic_of(t))
        found[key] = coefficients.get(key, ZERO)
    pairs = [k for k in coefficients if k not in found]
    return found | {k: coefficients[k] for k in sorted(pairs, key=str)}


def element_measure(
    table: Table, nodes: Sequence[Node], without: Collection[str] = ()
) -> Expression:  # fmt: skip
    """How many identical elements one element of the block stands for."""
    letters = [x for x in nodes[0].letters if x not in without]
    return multiplied(ONE, *[measure_of(table, table.model.plate(x)) for x in letters])


def apart_from(c: Expression, measure: Expression) -> Expression:
    """A coefficient of one element: divided by the counts, where the element exists."""
    if measure == ONE:
        return c
    if len(measure.terms) > 1:
        return multiplied(c, power(measure, -1))
    ((term, q),) = measure.terms
    found = scaled(c, 1 / q)
    for atom, p in term.factors:
        s = atom.symbol
        if s is not None and s.known and s.binary:  # 1 at every element that there is
            found = put(found, {s.name: _one_at(s, atom.indices)})
        else:
            found = multiplied(found, of_atom(atom, -p))
    return found


def _one_at(s: Symbol, places: tuple[Index, ...]) -> Put:
    return lambda indices: ONE if indices == places else symbol(s, *indices)


def tagged(
    rest: Expression, factors: Sequence[Factor], names: frozenset[str]
) -> tuple[Remainder, ...]:  # fmt: skip
    """The terms of a remainder by the factor that has them."""
    left = dict(rest.terms)
    found = []
    for f in factors:
        own = {t: left.pop(t) for t, _ in f.total.terms if t in left}
        if own:
            found.append(Remainder(Expression(tuple(own.items())), f.node, f.place))
    if left:
        found.append(Remainder(Expression(tuple(left.items())), ",".join(sorted(names))))
    return tuple(found)


def joined(
    parts: Sequence[Part],
    templates: Sequence[Template],
    names: frozenset[str],
    table: Table,
    base: Expression,
) -> tuple[str, str, int]:
    """(kind, axis, lag): what the pairs of a block make of it."""
    pairs = [p.statistic for p in parts if len(p.statistic.positions) > 1]
    if not pairs:
        return "element", "", 0
    moves = {(letter, s) for p in pairs for letter, s in p.shifts if s != 0}
    lag = max((abs(s) for _, s in moves if s is not None), default=0)
    letters = {letter for letter, _ in moves}
    axis = _axis(templates, next(iter(sorted(letters)), ""))
    linear = all((degree_in(p.value, names) or 9) <= 2 for p in pairs)
    if linear and _is_gaussian(templates, names, table, base):
        plates = {t.nodes: frozenset(i.name for i in t.element) for t in templates}
        apart = frozenset().union(*plates.values()) - frozenset.intersection(*plates.values())
        if apart:  # what has no such plate couples all elements along it
            return "dense", _axis(templates, min(apart)), 0
        moved_along = {letter for letter, s in moves if s is not None}
        free = {letter for letter, s in moves if s is None}
        if free and (len(moved_along) != 1 or moved_along & free):
            return "dense", _axis(templates, min(free)), 0
        if len(moved_along) <= 1:
            along = _axis(templates, next(iter(moved_along), ""))
            return ("banded" if lag else "joint"), along, lag
    one_hot = all(table.variables[x].symbol.one_hot for x in names)
    if one_hot and lag and len(letters) == 1 and not any(s is None for _, s in moves):
        return "labels", axis, lag
    return "coupled", axis, lag


def _is_gaussian(
    templates: Sequence[Template], names: frozenset[str], table: Table, base: Expression
) -> bool:
    """Whether log q is a quadratic form on the whole space, so that pairs leave it one."""
    symbols = [table.variables[x].symbol for x in names]
    free = not any(
        s.one_hot or s.binary or s.symmetric or s.lower is not None or s.upper is not None
        for s in symbols
    )
    square = all((degree_in(t.value, names) or 9) <= 2 for t in templates)
    rest = degree_in(base, names)
    return free and square and rest is not None and rest <= 2


def _axis(templates: Sequence[Template], letter: str) -> str:
    return next((i.axis for t in templates for i in t.element if i.name == letter), "")
