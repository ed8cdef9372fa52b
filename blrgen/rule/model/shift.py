"""What can be moved without changing anything: data and points by the same amount.

log p(x + c, μ + c) = log p(x, μ) of x[n] ~ N(μ[z[n]], S[z[n]]): steps on data far from 0 are those
on the same data near 0, moved.  Nothing of the size of c then cancels in sums of squares.
Found by putting in x + c and μ + c: E[log joint] is left as it is, as an identity.
"""

from __future__ import annotations

from dataclasses import dataclass

from blrgen.algebra.indexed.build import Put, add, put, subtracted, symbol
from blrgen.algebra.indexed.values import Symbol
from blrgen.expect.factors.names import axis_of
from blrgen.read.model.values import Domain, Node
from blrgen.rule.model.values import ModelDerivation


@dataclass(frozen=True)
class Shift:
    """Data and points that move together, by a number for each place of the last `axes`."""

    data: str
    points: tuple[str, ...]
    axes: int


def shifts(d: ModelDerivation) -> tuple[Shift, ...]:
    """Each observed variable that can be moved together with points, alone."""
    found = []
    for node in d.model.nodes:
        if node.kind == "observed" and node.letters and len(node.names) == 1 and _free(node):
            one = _shift_of(d, node)
            found += [one] if one is not None else []
    return tuple(found)


def _shift_of(d: ModelDerivation, node: Node) -> Shift | None:
    """By as many numbers as the points allow; None where nothing moves with it."""
    own = _axes(d, node)
    moving = {x for u in d.points for x in u.names}
    points = [p for p in d.model.nodes if moving & set(p.names) and len(p.names) == 1 and _free(p)]
    ragged = {axis_of(p.size) for p in d.model.plates if p.outer}
    for p in points:
        other = _axes(d, p)
        for count in reversed(range(len(own))):
            last = own[len(own) - count :]
            if ragged & {*last[:1]}:  # rows of different lengths have no places in common
                continue
            if other[len(other) - count :] == last and _invariant(d, (node, p), count):
                return Shift(node.name, (p.name,), count)
    return None


def _axes(d: ModelDerivation, node: Node) -> tuple[str, ...]:
    plates = (axis_of(d.model.plate(x).size) for x in node.letters)
    return (*plates, *(axis_of(s) for s in node.domains[0].shape))


def _free(node: Node) -> bool:
    """Whether its values are any numbers."""
    domain: Domain = node.domains[0]
    ends = (domain.lower, domain.upper)
    return domain.kind == "interval" and ends == (None, None) and not domain.whole


def _invariant(d: ModelDerivation, nodes: tuple[Node, ...], count: int) -> bool:
    """Whether E[log joint] is the same where all of these are moved."""
    amount = Symbol("`c", known=True)
    known = {s.name: s for e in (d.expected_joint,) for s in e.symbols().values()}
    if any(x.name not in known for x in nodes):
        return False

    def moved(own: Symbol) -> Put:
        return lambda at: add(symbol(own, *at), symbol(amount, *at[len(at) - count :]))

    values = {x.name: moved(known[x.name]) for x in nodes}
    return not subtracted(put(d.expected_joint, values), d.expected_joint)
