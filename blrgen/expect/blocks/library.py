"""Which declared family holds a full conditional: any over variables that live where these do.

A gamma prior on a variance leaves 1/s: log s, s and 1/s are the statistics of another family.
mu ~ gaussian(1, 1/(3 tau)) and tau ~ gamma(2, 3) are one block of a family of two variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import permutations

from blrgen.core import Family, Support
from blrgen.expect.blocks.block import assembled, place_letters, statistic_axes
from blrgen.expect.blocks.templates import Template, template
from blrgen.expect.blocks.values import Block, Factor
from blrgen.expect.factors.density import pieces, statistic_values
from blrgen.expect.factors.joint import variable
from blrgen.expect.factors.names import Table
from blrgen.expect.factors.translate import Translator, Value
from blrgen.read.family import family_of, list_families, source_of
from blrgen.read.model.values import Domain, Negation, Node, Number


def holding(
    table: Table, factors: Sequence[Factor], nodes: Sequence[Node], without: Sequence[str] = ()
) -> Block | None:
    """The block in the first family that divides it without remainder; None where none does."""
    if any(n.letters != nodes[0].letters for n in nodes):
        return None
    for family in _library(sum(len(n.names) for n in nodes)):
        if family.name in without:
            continue
        for names in _assignments(family, nodes):
            block = _tried(table, factors, nodes, family, names)
            if block is not None:
                return block
    return None


@lru_cache(maxsize=8)
def _library(count: int) -> tuple[Family, ...]:
    """The families over that many variables whose statistics need no known constant."""
    found = []
    for name in list_families():
        source = source_of(name)
        variable = source.table.get("variable")
        if (len(variable) if isinstance(variable, list) else 1) != count:
            continue  # told by the text alone: what it says is read only where it may fit
        family = family_of(source)
        if not family.fixed and not family.factors:
            found.append(family)
    return tuple(sorted(found, key=lambda f: len(f.statistics)))


def _assignments(family: Family, nodes: Sequence[Node]) -> Iterator[dict[str, str]]:
    """Which of the family's variables is which of the nodes', where supports agree."""
    own = [(name, d) for n in nodes for name, d in zip(n.names, n.domains, strict=True)]
    for order in permutations(own):
        pairs = list(zip(family.variables, family.supports, order, strict=True))
        if all(_lives(s, d, family.elementwise) for _, s, (_, d) in pairs):
            yield {str(x): name for x, _, (name, _) in pairs}


def _lives(support: Support, domain: Domain, elementwise: bool) -> bool:
    """Whether a family's variable lives where a node's does."""
    if domain.kind != "interval" or domain.whole:
        return support.kind == domain.kind
    if support.kind == "vector":
        return not elementwise and len(domain.shape) == 1 and domain.lower is domain.upper is None
    if support.kind != "interval" or (domain.shape and not elementwise):
        return False
    return _end(support.lower) == _number(domain.lower) and _end(support.upper) == _number(
        domain.upper
    )


def _end(bound: object) -> object:
    """An end of a support as a fraction; None where it is infinite."""
    from fractions import Fraction

    import sympy as sp

    e = sp.sympify(bound)
    if e.is_infinite:
        return None
    return Fraction(int(e.p), int(e.q)) if e.is_Rational else e


def _number(e: object) -> object:
    if isinstance(e, Number):
        return e.value
    if isinstance(e, Negation) and isinstance(e.arg, Number):
        return -e.arg.value
    return e


def _tried(
    table: Table, factors: Sequence[Factor], nodes: Sequence[Node], family: Family,
    names: dict[str, str],
) -> Block | None:  # fmt: skip
    """The block under a family's statistics and base measure, if nothing is left."""
    from functools import reduce

    from blrgen.algebra.indexed.build import multiplied, summed
    from blrgen.algebra.indexed.values import ZERO
    from blrgen.expect.blocks.block import element_measure

    axes = _axes(table, family, names)
    at = tuple(table.letter(x) for x in nodes[0].letters)
    own: dict[str, Value] = {x: variable(table, name, at) for x, name in names.items()}
    variables = frozenset(names.values())
    values = statistic_values(family, {}, own, axes)
    node_names = tuple(n.name for n in nodes)
    found: list[Template] = []
    for position, (value, p) in enumerate(zip(values, family.natural, strict=True)):
        places = place_letters(table, statistic_axes(p.symbol, axes), at)
        e = value(places)
        found.append(template(node_names, position, at, (*at, *places), e, variables))
    log_base = pieces(family).log_base
    base = Translator(own, axes).scalar(log_base) if log_base != 0 else ZERO
    base = reduce(summed, at, multiplied(base, element_measure(table, nodes)))
    block = assembled(table, factors, nodes, tuple(found), base, family.name)
    return block if not block.remainder and block.kind == "element" else None


def _axes(table: Table, family: Family, names: dict[str, str]) -> dict[str, str]:
    """The axes of the family's sizes, from the variables' own."""
    axes: dict[str, str] = {}
    for x, support in zip(family.variables, family.supports, strict=True):
        shape = table.variables[names[str(x)]].shape
        for size, axis in zip(support.size, shape, strict=False):
            axes.setdefault(size, axis)
    return axes
