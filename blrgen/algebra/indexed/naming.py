"""Names for bound indices: one text for all ways to name them.

The term is split into components connected by bound indices.  In a component each bound
index gets a colour, refined by the atoms it stands in and the colours beside it, until
nothing splits; inside a tie every member is tried first and the least text wins.  The
components are then sorted by their texts and the names counted through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from blrgen.algebra.indexed.moving import move_atom
from blrgen.algebra.indexed.values import Atom, Index, Range

Factors = list[tuple[Atom, Fraction]]
Order = tuple[str, ...]  # bound names, in the order in which they are counted


def named(factors: Factors, ranges: Mapping[str, Range]) -> tuple[Factors, tuple[Range, ...]]:
    """The same product under canonical names of its bound indices."""
    if not ranges:
        return sorted(factors, key=_written), ()
    parts = [_ordered(atoms, [ranges[n] for n in names])
             for atoms, names in _components(factors, ranges)]  # fmt: skip
    order = [n for _, names in sorted(parts) for n in names]
    fresh = _names(factors, ranges)
    target = {ranges[n].index: Index(ranges[n].axis, next(fresh)) for n in order}
    moved = [(move_atom(a, target), p) for a, p in factors]
    bound = tuple(
        Range(r.axis, target[r.index].name, r.low, r.high) for r in (ranges[n] for n in order)
    )
    return sorted(moved, key=_written), bound


def _written(factor: tuple[Atom, Fraction]) -> tuple[str, Fraction]:
    return factor[0].key, factor[1]


def _names(factors: Factors, ranges: Mapping[str, Range]) -> Iterator[str]:
    """_1, _2, …, with a prime for every level of functions, none of them free here.

    A function's own bound indices stand at a lower level: no name inside is one outside.
    """
    taken = {i.name for a, _ in factors for i in a.letters if i.name not in ranges}
    primes = "'" * max((a.height for a, _ in factors), default=0)
    count = 0
    while True:
        count += 1
        if f"_{count}{primes}" not in taken:
            yield f"_{count}{primes}"


def _components(
    factors: Factors, ranges: Mapping[str, Range]
) -> list[tuple[Factors, list[str]]]:  # fmt: skip
    """Groups of factors that share bound indices, with the names of these."""
    groups: list[tuple[Factors, set[str]]] = []
    for factor in factors:
        names = {i.name for i in factor[0].letters if i.name in ranges}
        if not names:
            continue
        joined: Factors = [factor]
        apart = []
        for atoms, others in groups:
            if names & others:
                joined, names = [*atoms, *joined], names | others
            else:
                apart.append((atoms, others))
        groups = [*apart, (joined, names)]
    return [(atoms, [n for n in ranges if n in names]) for atoms, names in groups]


def _ordered(factors: Factors, ranges: list[Range]) -> tuple[str, Order]:
    """(text, names in order) of a component: the least text over all ties."""
    first = {r.name: f"{r.axis}<{r.low},{r.high}>" for r in ranges}
    return min(_leaves(factors, ranges, _refined(factors, ranges, _ranked(first))))


def _leaves(
    factors: Factors, ranges: list[Range], colours: dict[str, int]
) -> list[tuple[str, Order]]:
    """Every order that the colours leave open, with its text."""
    classes: dict[int, list[str]] = {}
    for name, colour in colours.items():
        classes.setdefault(colour, []).append(name)
    tied = next((c for c in sorted(classes) if len(classes[c]) > 1), None)
    if tied is None:
        order = tuple(sorted(colours, key=colours.__getitem__))
        return [(_text(factors, ranges, order), order)]
    found = []
    for name in classes[tied]:
        split = {n: 2 * c + (c == tied and n != name) for n, c in colours.items()}
        found += _leaves(factors, ranges, _refined(factors, ranges, split))
    return found


def _refined(factors: Factors, ranges: list[Range], colours: dict[str, int]) -> dict[str, int]:
    """Colours split by the atoms in which an index stands, until nothing splits."""
    while len(set(colours.values())) < len(colours):
        signs = {r.name: f"{colours[r.name]:04d}{_sign(factors, ranges, colours, r)}"
                 for r in ranges}  # fmt: skip
        finer = _ranked(signs)
        if len(set(finer.values())) == len(set(colours.values())):
            return finer
        colours = finer
    return colours


def _sign(factors: Factors, ranges: list[Range], colours: Mapping[str, int], own: Range) -> str:
    """The atoms that hold an index, all others shown by their colours."""
    shown = {r.index: Index(r.axis, f"?{colours[r.name]}") for r in ranges}
    shown[own.index] = Index(own.axis, "*")
    inside = [f"{move_atom(a, shown).key}^{p}" for a, p in factors if own.index in a.letters]
    return "&".join(sorted(inside))


def _ranked(signs: Mapping[str, str]) -> dict[str, int]:
    ranks = {s: k for k, s in enumerate(sorted(set(signs.values())))}
    return {n: ranks[s] for n, s in signs.items()}


def _text(factors: Factors, ranges: list[Range], order: Order) -> str:
    by_name = {r.name: r for r in ranges}
    shown = {by_name[n].index: Index(by_name[n].axis, f"?{k}") for k, n in enumerate(order)}
    atoms = sorted(f"{move_atom(a, shown).key}^{p}" for a, p in factors)
    runs = [f"{by_name[n].axis}<{by_name[n].low},{by_name[n].high}>" for n in order]
    return ";".join(runs) + "|" + "*".join(atoms)
