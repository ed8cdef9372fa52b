"""q of a block in numbers: E[T], A and ⟨λ, E[T]⟩, elements by their family, chains by all paths.

What joins elements is not trusted to any recursion: labels are summed over all their values,
a Gaussian is its whole precision matrix, read off the quadratic Σ⟨λ, T⟩ by differences that
are exact, and E[T] is the mean of T over points that have its mean and covariance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from blrgen.algebra.indexed.build import add, guard, multiplied, scaled, summed, symbol
from blrgen.algebra.indexed.values import ZERO, Expression, Symbol
from blrgen.expect.blocks.block import element_measure
from blrgen.expect.blocks.values import Block, Part, Statistic
from blrgen.expect.factors.names import Table, table_of
from blrgen.geometry import kept_geometry
from blrgen.program.axes.interpret import interpret
from blrgen.program.model.blocks import member_of, of_node, variables_of
from blrgen.program.model.family import family_program, negated
from blrgen.program.model.member import Member
from blrgen.read.model.values import Model
from blrgen.value.indexed import Values

Arrays = Mapping[str, Any]
FAR, SURE = 40.0, 1e-12  # of λ that is ∞; of E[z] there


@dataclass(frozen=True)
class Law:
    """E[T] by the names of statistics, Σ A and Σ⟨λ, E[T]⟩ over elements."""

    means: dict[str, Any]
    partition: Any
    paired: Any
    natural: tuple[Any, ...] = ()  # λ of elements that are apart


def law_of(model: Model, block: Block, values: Values) -> Law:
    """q at the update, in what `values` has of all others."""
    if block.kind == "element":
        member = member_of(model, block)
        natural = [
            _even(s, values.array(p.expected, s.places))
            for s in member.statistics for p in block.parts if p.statistic == s
        ]  # fmt: skip
        return of_elements(member, natural, values)
    if block.kind == "labels":
        return _of_paths(model, block, values)
    return _of_gaussian(model, block, values)


def law_of_state(model: Model, block: Block, state: Arrays, values: Values) -> Law:
    """q with these working parameters."""
    member = member_of(model, block)
    if member.one_hot:
        return of_elements(member, [values.kind.log(state["p"])], values)
    geometry = kept_geometry(member.family)
    program = family_program(geometry, "natural")
    sizes = _sizes(member, values)
    found = _by_element(member, program, [state[x] for x in member.working],
                        member.working, sizes, values)  # fmt: skip
    turned = [p.symbol in negated(geometry) for p in member.family.natural]
    natural = [-x if t else x for x, t in zip(found, turned, strict=True)]
    return of_elements(member, natural, values)


def law_of_chain(model: Model, block: Block, state: Sequence[Any], values: Values) -> Law:
    """q of a Gaussian chain by h, J and C."""
    factors: dict[tuple[int, ...], Fraction] = {(1,): Fraction(-1, 2)}
    arrays = dict(values.arrays)
    parts = []
    for k, (p, x) in enumerate(zip(block.parts, state, strict=True)):
        own = Symbol(f"`{k}", known=True)
        arrays[own.name] = x
        e = scaled(symbol(own, *p.statistic.places), factors.get(p.statistic.positions, 1))
        if len(p.statistic.positions) == 2:  # of neighbours, which the first has not before it
            along = next(i for i in p.statistic.places if i.axis == block.axis)
            e = multiplied(e, guard(along, block.lag))
        parts.append(replace(p, expected=e))
    whole = replace(block, parts=tuple(parts))
    return _of_gaussian(model, whole, Values(arrays, values.sizes, values.kind))


def law_of_labels(model: Model, block: Block, state: Sequence[Any], values: Values) -> Law:
    """q of a chain of labels by evidence, start and moves, all of them logarithms."""
    evidence, start, moves = (np.array(x) for x in state)
    evidence[0] = evidence[0] + start
    arrays, parts = dict(values.arrays), []
    for k, p in enumerate(block.parts):
        own, places = Symbol(f"`{k}", known=True), p.statistic.places
        pair = len(p.statistic.positions) == 2
        arrays[own.name] = moves if pair else evidence
        e = symbol(own, *((places[-1], places[-2]) if pair else places))  # from where, where to
        if pair:
            along = next(i for i in places if i.axis == block.axis)
            e = multiplied(e, guard(along, block.lag))
        parts.append(replace(p, expected=e))
    whole = replace(block, parts=tuple(parts))
    return _of_paths(model, whole, Values(arrays, values.sizes, values.kind))


def law_of_joined(model: Model, block: Block, state: Sequence[Any], values: Values) -> Law:
    """q of numbers that are all coupled, by h and P: −½ P for every two of them, itself too."""
    known = {(0,): (state[0], Fraction(1)), (0, 0): (state[1], Fraction(-1, 2))}
    arrays = dict(values.arrays)
    parts: list[Part] = []
    for k, p in enumerate(block.parts):
        e = ZERO
        if p.statistic.positions in known:
            own = Symbol(f"`{k}", known=True)
            arrays[own.name], factor = known[p.statistic.positions]
            e = scaled(symbol(own, *p.statistic.places), factor)
        parts.append(replace(p, expected=e))
    whole = replace(block, parts=tuple(parts))
    return _of_gaussian(model, whole, Values(arrays, values.sizes, values.kind))


def law_of_independent(
    model: Model, block: Block, marginals: Mapping[str, Arrays], values: Values
) -> Law:
    """q of a chain under which its elements are independent, with these working parameters."""
    found: dict[str, Any] = {}
    laws = []
    for node in block.nodes:
        own = replace(of_node(model, block, node), kind="element")
        own = replace(own, parts=tuple(p for p in own.parts if len(p.statistic.positions) == 1))
        laws.append(law_of_state(model, own, marginals[node], values))
        found |= laws[-1].means
    firsts = {p.statistic.nodes[0]: p.statistic for p in block.parts
              if p.statistic.positions == (0,)}  # fmt: skip
    for p in block.parts:
        if len(p.statistic.positions) == 2:
            one, two = (
                found[firsts[x].name] for x in (p.statistic.nodes[0], p.statistic.nodes[-1])
            )
            found[p.statistic.name] = _product(p.statistic, firsts, one, two, values)
            if block.kind == "dense" and len(block.nodes) == 1:
                found[p.statistic.name] = _with_squares(p.statistic, found, block)
    return Law(found, sum(x.partition for x in laws), sum(x.paired for x in laws))


def _product(
    s: Statistic, firsts: Mapping[str, Statistic], one: Any, two: Any, values: Values
) -> Any:
    """E of two independent elements: at every place the product of their means."""
    first, second = firsts[s.nodes[0]], firsts[s.nodes[-1]]
    shifts = dict(s.shifts)
    out = values.kind.array(np.zeros([values.size(i.axis) for i in s.places]))
    count = len(first.places)
    for at in np.ndindex(*out.shape):
        here = dict(zip((i.name for i in first.places), at, strict=False))
        rest = iter(at[count:])
        other = tuple(here[i.name] + (shifts[i.name] or 0) if shifts.get(i.name) is not None
                      else next(rest) for i in second.places)  # fmt: skip
        if min(other) >= 0:
            out[at] = one[at[:count]] * two[other]
    return out


def _with_squares(s: Statistic, found: Mapping[str, Any], block: Block) -> Any:
    """Of all pairs of one node's numbers those of an element with itself: E of its square."""
    square = next(p.statistic for p in block.parts if p.statistic.positions == (1,))
    out = found[s.name].copy()
    places = tuple(i.name for i in square.places)
    for at in np.ndindex(*out.shape):
        here = dict(zip((i.name for i in s.places), at, strict=True))
        if all(here[x] == here.get(f"{x}'", here[x]) for x in places):
            out[at] = found[square.name][tuple(here[x] for x in places)]
    return out


def _even(s: Statistic, x: Any) -> Any:
    """Of a symmetric statistic the symmetric part is what counts."""
    return (x + np.swapaxes(x, -1, -2)) / 2 if s.symbol.symmetric else x


def _sizes(member: Member, values: Values) -> dict[str, int]:
    return {k: values.size(v) for k, v in member.sizes.items()}


def of_elements(member: Member, natural: Sequence[Any], values: Values) -> Law:
    """Elements by themselves, each as often as it counts."""
    measure = values.array(member.block.measure, member.element)
    natural, ends = _within_ends(natural)
    if member.one_hot:
        (c,) = natural
        partition = values.kind.log_sum_exp(c)
        means = [values.kind.shares(c)]
    else:
        geometry = kept_geometry(member.family)
        turned = [p.symbol in negated(geometry) for p in member.family.natural]
        given = [-x if t else x for x, t in zip(natural, turned, strict=True)]
        names = [p.name for p in member.family.natural]
        sizes = _sizes(member, values)
        means = _by_element(member, family_program(geometry, "mean"), given, names, sizes, values)
        program = family_program(geometry, "partition")
        (partition,) = _by_element(member, program, given, names, sizes, values)
    if ends is not None:
        means, partition = _at_ends(natural, means, partition, ends)
    pairs = zip(natural, means, strict=True)
    products = (np.asarray(x * y) for x, y in pairs)
    paired = sum(x.reshape((*np.shape(measure), -1)).sum(-1) for x in products)
    found = {s.name: x for s, x in zip(member.statistics, means, strict=True)}
    return Law(found, np.sum(measure * partition), np.sum(measure * paired), tuple(natural))


def _within_ends(natural: Sequence[Any]) -> tuple[list[Any], Any]:
    """λ with ±FAR in the place of ±∞ where it is one number, and where that was."""
    (x, *others) = natural
    single = not others and np.asarray(x).dtype.kind == "f" and np.isinf(x).any()
    if not single:
        return list(natural), None
    return [np.where(np.isinf(x), np.sign(x) * FAR, x)], np.isinf(x)


def _at_ends(
    natural: list[Any], means: list[Any], partition: Any, ends: Any
) -> tuple[list[Any], Any]:
    """Labels that are certain: E[z] is 0 or 1, and A − ⟨λ, E[z]⟩ is 0 as λ goes to ∞."""
    (x,), (y,) = natural, means
    if np.abs(y - np.round(y))[ends].max() > SURE or set(np.round(y)[ends].ravel()) - {0, 1}:
        return [np.where(ends, np.nan, y)], partition
    y = np.where(ends, np.round(y), y)
    return [y], np.where(ends, x * y, partition) if np.shape(x) == np.shape(
        partition
    ) else partition


def _by_element(
    member: Member, program: Any, arrays: Sequence[Any], names: Sequence[str],
    sizes: Mapping[str, int], values: Values,
) -> list[Any]:  # fmt: skip
    """A family's function, element by element."""
    shape = tuple(values.size(i.axis) for i in member.element)
    known = {q.name for q in program.given}
    found: list[Any] = []
    for at in np.ndindex(*shape):
        own = {k: np.asarray(x)[at] for k, x in zip(names, arrays, strict=True) if k in known}
        made = interpret(program, own, sizes, kind=values.kind)
        found.append([np.asarray(made[x]) for x in program.outs])
    return [np.array([f[k] for f in found]).reshape((*shape, *found[0][k].shape))
            for k in range(len(program.outs))]  # fmt: skip


# -- elements that are joined ----------------------------------------------------------------
def energy(model: Model, block: Block) -> Expression:
    """Σ⟨λ, T⟩ + log h, in the block's variables."""
    measure = element_measure(table_of(model), [model.node(x) for x in block.nodes])
    terms = [block.base]
    for p in block.parts:
        e = multiplied(measure, p.expected, p.statistic.value)
        for i in p.statistic.places:
            e = summed(e, i)
        terms.append(e)
    return add(*terms)


def _of_paths(model: Model, block: Block, values: Values) -> Law:
    """Σ over all values of all labels."""
    (name,) = variables_of(model, block)
    v = table_of(model).variables[name]
    shape = tuple(values.size(x) for x in v.plates)
    e, size = energy(model, block), values.size(v.shape[0])
    paths = [np.eye(size)[np.array(p).reshape(shape)] for p in _labels(block, values, shape, size)]
    seen = [values.also({name: p}) for p in paths]
    logs = np.array([x.of(e) for x in seen])
    total = values.kind.log_sum_exp(logs)
    weights = values.kind.shares(logs)
    return _law(block, values, seen, weights, total, e, logs)


def _labels(block: Block, values: Values, shape: tuple[int, ...], size: int) -> Any:
    """All values; where a ragged chain has no element the label is the first."""
    there = values.arrays.get(f"exists:{block.axis}", np.ones(shape)).reshape(-1) > 0
    for own in product(range(size), repeat=int(there.sum())):
        found = np.zeros(there.size, dtype=int)
        found[there] = own
        yield found


def _of_gaussian(model: Model, block: Block, values: Values) -> Law:
    """One large Gaussian: mode, precision, volume."""
    names = variables_of(model, block)
    table = table_of(model)
    shapes = {x: tuple(values.size(a) for a in (*table.variables[x].plates,
              *table.variables[x].shape)) for x in names}  # fmt: skip
    e, gone = energy(model, block), _gone(table, names, values)

    def at(flat: Any) -> Values:
        found, start = {}, 0
        for x, s in shapes.items():
            count = int(np.prod(s))
            found[x] = flat[start : start + count].reshape(s)
            start += count
        return values.also(found)

    n = sum(int(np.prod(s)) for s in shapes.values())
    one = np.eye(n)
    zero = at(np.zeros(n)).of(e)
    up, down = (np.array([at(s * x).of(e) for x in one]) for s in (1, -1))
    P = np.diag(2 * zero - up - down)
    for i, j in product(range(n), repeat=2):
        if i < j:
            P[i, j] = P[j, i] = up[i] + up[j] - zero - at(one[i] + one[j]).of(e)
    P += np.diag(gone)
    n_there = n - gone.sum()
    covariance = values.kind.inverse(P)
    mean = covariance @ ((up - down) / 2)
    two_pi = values.kind.call("log", 2 * values.kind.constant("pi"))
    total = at(mean).of(e) + (n_there * two_pi - values.kind.logdet(P)) / 2
    lower, diagonal = _lower(covariance)
    seen = [at(mean), *(at(mean + s * x) for x in lower.T for s in (1, -1))]
    weights = np.array([1 - diagonal.sum(), *np.repeat(diagonal / 2, 2)])
    logs = np.array([x.of(e) for x in seen])
    return _law(block, values, seen, weights, total, e, logs)


def _lower(a: Any) -> tuple[Any, Any]:
    """L and the diagonal of D in A = L D Lᵀ."""
    n = len(a)
    rest, lower = a.copy(), np.zeros_like(a)
    diagonal = np.zeros_like(a[0])
    for k in range(n):
        diagonal[k] = rest[k, k]
        lower[:, k] = rest[:, k] / rest[k, k]
        rest = rest - np.outer(lower[:, k], lower[:, k]) * diagonal[k]
    return lower, diagonal


def _gone(table: Table, names: Sequence[str], values: Values) -> Any:
    """1 for numbers of elements that a ragged row does not have: their precision is none."""
    found = []
    for x in names:
        v = table.variables[x]
        there = np.ones(tuple(values.size(a) for a in (*v.plates, *v.shape)))
        for k, axis in enumerate(v.plates):
            exists = values.arrays.get(f"exists:{axis}")
            if exists is not None:
                after = (1,) * (there.ndim - k - 1)
                there = there * exists.reshape((1,) * (k - 1) + exists.shape + after)
        found.append(1 - there.reshape(-1))
    return np.concatenate(found)


def _law(
    block: Block, values: Values, seen: Sequence[Values], weights: Any, total: Any,
    e: Expression, logs: Any,
) -> Law:  # fmt: skip
    """Means over points; ⟨λ, E[T]⟩ is the mean of the energy without log h."""
    means = {}
    for p in block.parts:
        s = p.statistic
        means[s.name] = sum(w * statistic(x, s) for w, x in zip(weights, seen, strict=True))
    base = sum(w * x.of(block.base) for w, x in zip(weights, seen, strict=True))
    return Law(means, total, weights @ logs - base)


def statistic(v: Values, s: Statistic) -> Any:
    """T at all places; 0 where it would read before the start of a chain."""
    found = np.zeros([v.size(i.axis) for i in s.places], v.kind.dtype)
    for at in np.ndindex(*found.shape):
        try:
            found[at] = v.of(s.value, {i.name: k for i, k in zip(s.places, at, strict=True)})
        except IndexError:
            found[at] = 0.0
    return found
