"""Sums over the same rows with the same data are one, of all that they are weighed by.

    c[n,k] = sum(j, a[k,j] * x[n,j]) - sum(i, b[k,i] * x[n,i])
    →   c[n,k] = sum(j, (a[k,j] - b[k,j]) * x[n,j])

What is data is the factor with the letter that is to be the outermost loop's.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.contracted import factors_of, terms_of
from blrgen.program.axes.order import order


def joined(program: a.Program) -> a.Program:
    """The program before `anf` with such sums as one."""
    sizes = {x.name: x.size for x in program.letters if not x.under}
    ranks = order(program)

    def let(s: a.Let) -> tuple[a.Statement, ...]:
        if s.first is not None or s.init is not None or s.at:
            return (s,)
        return (replace(s, expr=_joined(s.expr, sizes, ranks)),)

    return replace(program, body=a.mapped(program.body, let))


def _joined(e: n.Node, sizes: dict[str, a.Size], ranks: tuple[str, ...]) -> n.Node:
    """The terms, those that have the same data together where the first of them stood."""
    terms = terms_of(e)
    groups: dict[n.Node, list[tuple[n.Node, a.Red, list[n.Node]]]] = {}
    for t in terms:
        found = _weighed(t, sizes, ranks)
        if found is not None:
            data, red, weights = found
            groups.setdefault(data, []).append((t, red, weights))
    several = {data: parts for data, parts in groups.items() if len(parts) > 1}
    if not several:
        return e
    instead: dict[n.Node, n.Node] = {}
    gone: set[n.Node] = set()
    for data, parts in several.items():
        (term, first, _), *others = parts
        (letter,) = first.letters
        weights = [_weight(x, letter) for x in parts]
        instead[term] = replace(first, arg=n.mul(n.add(*weights), _renamed(data, letter)))
        gone |= {x for x, _, _ in others}
    return n.add(*(instead.get(t, t) for t in terms if t not in gone))


DATA = "@"  # the letter of a sum, where sums are compared


def _weighed(
    t: n.Node, sizes: dict[str, a.Size], ranks: tuple[str, ...]
) -> tuple[n.Node, a.Red, list[n.Node]] | None:
    """The data of a term that is a sum over one letter, its sum, and what weighs it."""
    sign, inner = (n.Const.of(-1), t.arg) if isinstance(t, n.Neg) else (n.ONE, t)
    parts = factors_of(inner)
    sums = [x for x in parts if isinstance(x, a.Red)]
    others = [x for x in parts if not isinstance(x, a.Red)]
    if len(sums) != 1 or sums[0].op != "sum" or len(sums[0].letters) != 1:
        return None
    (red,) = sums
    (letter,) = red.letters
    if letter not in sizes or any(a.free(x) for x in others):
        return None
    factors = factors_of(red.arg)
    outermost = min((*a.free(red), letter), key=ranks.index)
    data = [f for f in factors if outermost in a.free(f)]
    if len(data) != 1 or not isinstance(data[0], a.Ref) or len(factors) < 2:
        return None
    if outermost == letter or letter not in a.free(data[0]):
        return None
    weights = [f for f in factors if f is not data[0]]
    key = n.mul(_renamed_to(data[0], letter, DATA), n.Ref(str(sizes[letter])))
    return key, red, [sign, *others, *weights]


def _weight(part: tuple[n.Node, a.Red, list[n.Node]], letter: str) -> n.Node:
    """What weighs the data, at the letter of the sum that stays."""
    _, red, (sign, *weights) = part
    (own,) = red.letters
    product = n.mul(*(_renamed_to(w, own, letter) for w in weights))
    return n.neg(product) if sign != n.ONE else product


def _renamed(key: n.Node, letter: str) -> n.Node:
    """The data of a key, at a letter."""
    (data, *_) = factors_of(key)
    return _renamed_to(data, DATA, letter)


def _renamed_to(e: n.Node, old: str, new: str) -> n.Node:
    return a.swapped(e, {old: a.Ix(new)})
