"""What comes with one element of a chain: the log joint of its own statements, divided.

    log p(x_t, y_t | x_(t−1), …) = Σ_j Σ_l ⟨c_jl, T_j(x_(t−l))⟩ + what has no x

c_jl is read off by division: dividing gives coefficients at any place t', and at t' = t − l
they are those of the element l before.  What is indexed by the chain's plate is that of
element t alone, and its index goes.  The first elements have statements of their own.
"""

from __future__ import annotations

from collections.abc import Sequence

from blrgen.algebra.indexed.build import Put, add, moved, put, symbol
from blrgen.algebra.indexed.normal import collected
from blrgen.algebra.indexed.values import NUMBER, Expression, Index, Symbol, Term
from blrgen.expect.blocks.block import node_templates
from blrgen.expect.blocks.divide import Division, divided, multiplied_back, remainder
from blrgen.expect.blocks.templates import holds
from blrgen.expect.blocks.values import Block
from blrgen.expect.factors.joint import factor
from blrgen.expect.factors.names import Table
from blrgen.read.model.values import Literal, Node, Statement
from blrgen.rule.model.prepare import Prepared, refused
from blrgen.rule.model.values import Arrival

NOW = "@now"


def arrivals(p: Prepared, letter: str, blocks: Sequence[Block]) -> tuple[Arrival, ...]:
    """Those of the first elements in turn, then that of any later one."""
    starts = [i.value for n in p.model.nodes for s in n.statements for i in s.indices
              if isinstance(i, Literal)]  # fmt: skip
    return tuple(_arrival(p, letter, k, blocks) for k in (*range(1, max(starts) + 1), 0))


def _arrival(p: Prepared, letter: str, place: int, blocks: Sequence[Block]) -> Arrival:
    t = p.table.letter(letter)
    now = Index(t.axis, NUMBER, place) if place else Index(t.axis, NOW)
    total = add(*[
        moved(factor(p.table, node, s, letter).total, {t: now})
        for node in p.model.nodes if node.kind in ("latent", "observed")
        for s in node.statements if _comes(node, s, letter, place)
    ])  # fmt: skip
    names = frozenset(x for n in p.latents for x in n.names)
    templates = tuple(x for n in p.latents for x in node_templates(p.table, n))
    division = Division(tuple(sorted(templates, key=lambda x: -x.degree)), names)
    own = tuple((x, c) for x, c in total.terms if any(holds(a, names) for a, _ in x.factors))
    coefficients = divided(Expression(own), division)
    back = _inside(multiplied_back(coefficients, division.statistics))
    left = remainder(Expression(own), back, names)
    known = {(s.nodes, s.positions, s.shifts): s for b in blocks for s in
             (x.statistic for x in b.parts)}  # fmt: skip
    parts = []
    for key, c in coefficients.items():
        found = division.statistics[key]
        statistic = known[found.nodes, found.positions, found.shifts]
        for lag in range(max(b.lag for b in blocks) + 1):
            value = moved(c, {t: now.moved(-lag)})
            if value:
                parts.append((statistic, lag, _alone(p, letter, now, value)))
    rest = Expression(tuple((x, c) for x, c in total.terms if (x, c) not in own))
    return Arrival(place, tuple(parts), _alone(p, letter, now, rest), not left)


def _inside(e: Expression) -> Expression:
    """The expression at a later element: all that it refers to is there."""
    found = []
    for term, c in e.terms:
        kept = tuple((a, q) for a, q in term.factors if a.kind != "guard"
                     or all(i.name != NOW for i in a.indices))  # fmt: skip
        found.append((Term(kept, term.bound), c))
    return collected(found)


def _comes(node: Node, statement: Statement, letter: str, place: int) -> bool:
    """Whether the statement is one of the element's; all have the letter, or its number."""
    at = node.letters.index(letter) if letter in node.letters else None
    if at is None:
        return False
    own = statement.indices[at]
    if isinstance(own, Literal):
        return own.value == place
    return not place or (statement.first <= place and place not in statement.without)


def _alone(p: Prepared, letter: str, now: Index, e: Expression) -> Expression:
    """The expression in what is given with the element: without the chain's index."""
    moves = {}
    for name in e.symbols():
        position = along(p.table, name, letter)
        if position is not None:
            moves[name] = _without(p, name, position, now, e.symbols()[name])
    return put(e, moves)


def along(table: Table, name: str, letter: str) -> int | None:
    """Which index of a symbol runs along the chain."""
    own = name.split(":", 1)[1] if name.startswith("seen:") else name
    if own not in table.variables:
        return None
    node = table.variables[own].node
    letters = node.letters if node is not None else table.model.constant(own).letters
    return letters.index(letter) if letter in letters else None


def _without(p: Prepared, name: str, position: int, now: Index, s: Symbol) -> Put:
    """A symbol's expression at an element, its index along the chain left out."""

    def value(indices: tuple[Index, ...]) -> Expression:
        if indices[position] != now:
            node = p.table.variables[name.removeprefix("seen:")].node
            raise refused(
                p.model, node, f"--filter does not apply to {name}",
                f"an element needs {name} of another one, {indices[position].text}, and a step "
                "is given its own alone",
                "--conjugate takes all elements at once",
            )  # fmt: skip
        return symbol(s, *indices[:position], *indices[position + 1 :])

    return value
