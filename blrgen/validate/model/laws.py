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
from blrgen.algebra.indexed.values import Expression, Symbol
from blrgen.expect.blocks.block import element_measure
from blrgen.expect.blocks.values import Block, Statistic
from blrgen.expect.factors.names import table_of
from blrgen.geometry import geometry_of
from blrgen.program.axes.interpret import interpret
from blrgen.program.model.family import family_program, negated
from blrgen.program.model.lower import member_of, variables_of
from blrgen.program.model.member import Member
from blrgen.read.model.values import Model
from blrgen.value.indexed import Values

Arrays = Mapping[str, Any]


@dataclass(frozen=True)
class Law:
    """E[T] by the names of statistics, Σ A and Σ⟨λ, E[T]⟩ over elements."""

    means: dict[str, Any]
    partition: float
    paired: float
    natural: tuple[Any, ...] = ()  # λ of elements that are apart


def law_of(model: Model, block: Block, values: Values) -> Law:
    """q at the update, in what `values` has of all others."""
    if block.kind == "element":
        member = member_of(model, block)
        natural = [
            _even(s, values.array(p.expected, s.places))
            for s in member.statistics for p in block.parts if p.statistic == s
        ]  # fmt: skip
        return _of_elements(member, natural, values)
    if block.kind == "labels":
        return _of_paths(model, block, values)
    return _of_gaussian(model, block, values)


def law_of_state(model: Model, block: Block, state: Arrays, values: Values) -> Law:
    """q with these working parameters."""
    member = member_of(model, block)
    if member.one_hot:
        return _of_elements(member, [np.log(state["p"])], values)
    geometry = geometry_of(member.family)
    program = family_program(geometry, "natural")
    sizes = _sizes(member, values)
    found = _by_element(member, program, [state[x] for x in member.working],
                        member.working, sizes, values)  # fmt: skip
    turned = [p.symbol in negated(geometry) for p in member.family.natural]
    natural = [-x if t else x for x, t in zip(found, turned, strict=True)]
    return _of_elements(member, natural, values)


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
    return _of_gaussian(model, whole, Values(arrays, values.sizes))


def _even(s: Statistic, x: Any) -> Any:
    """Of a symmetric statistic the symmetric part is what counts."""
    return (x + np.swapaxes(x, -1, -2)) / 2 if s.symbol.symmetric else x


def _sizes(member: Member, values: Values) -> dict[str, int]:
    return {k: values.size(v) for k, v in member.sizes.items()}


def _of_elements(member: Member, natural: Sequence[Any], values: Values) -> Law:
    """Elements by themselves, each as often as it counts."""
    measure = values.array(member.block.measure, member.element)
    if member.one_hot:
        (c,) = natural
        top = c.max(-1, keepdims=True)
        partition = (top + np.log(np.exp(c - top).sum(-1, keepdims=True)))[..., 0]
        means = [np.exp(c - partition[..., None])]
    else:
        geometry = geometry_of(member.family)
        turned = [p.symbol in negated(geometry) for p in member.family.natural]
        given = [-x if t else x for x, t in zip(natural, turned, strict=True)]
        names = [p.name for p in member.family.natural]
        sizes = _sizes(member, values)
        means = _by_element(member, family_program(geometry, "mean"), given, names, sizes, values)
        program = family_program(geometry, "partition")
        (partition,) = _by_element(member, program, given, names, sizes, values)
    pairs = zip(natural, means, strict=True)
    paired = sum((x * y).reshape((*np.shape(measure), -1)).sum(-1) for x, y in pairs)
    found = {s.name: x for s, x in zip(member.statistics, means, strict=True)}
    return Law(found, float(np.sum(measure * partition)), float(np.sum(measure * paired)),
               tuple(natural))  # fmt: skip


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
        made = interpret(program, own, sizes)
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
    seen = [Values({**values.arrays, name: p}, values.sizes) for p in paths]
    logs = np.array([x.of(e) for x in seen])
    total = logs.max() + np.log(np.exp(logs - logs.max()).sum())
    weights = np.exp(logs - total)
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
    e = energy(model, block)

    def at(flat: Any) -> Values:
        found, start = dict(values.arrays), 0
        for x, s in shapes.items():
            count = int(np.prod(s))
            found[x] = flat[start : start + count].reshape(s)
            start += count
        return Values(found, values.sizes)

    n = sum(int(np.prod(s)) for s in shapes.values())
    one = np.eye(n)
    zero = at(np.zeros(n)).of(e)
    up, down = (np.array([at(s * x).of(e) for x in one]) for s in (1, -1))
    P = np.diag(2 * zero - up - down)
    for i, j in product(range(n), repeat=2):
        if i < j:
            P[i, j] = P[j, i] = up[i] + up[j] - zero - at(one[i] + one[j]).of(e)
    mean = np.linalg.solve(P, (up - down) / 2)
    total = at(mean).of(e) + (n * np.log(2 * np.pi) - np.linalg.slogdet(P)[1]) / 2
    root = np.linalg.cholesky(np.linalg.inv(P)) * np.sqrt(n)
    seen = [at(mean + s * x) for x in root.T for s in (1, -1)]
    logs = np.array([x.of(e) for x in seen])
    return _law(block, values, seen, np.full(2 * n, 1 / (2 * n)), total, e, logs)


def _law(
    block: Block, values: Values, seen: Sequence[Values], weights: Any, total: float,
    e: Expression, logs: Any,
) -> Law:  # fmt: skip
    """Means over points; ⟨λ, E[T]⟩ is the mean of the energy without log h."""
    means = {}
    for p in block.parts:
        s = p.statistic
        means[s.name] = sum(w * statistic(x, s) for w, x in zip(weights, seen, strict=True))
    base = sum(w * x.of(block.base) for w, x in zip(weights, seen, strict=True))
    return Law(means, total, float(weights @ logs - base))


def statistic(v: Values, s: Statistic) -> Any:
    """T at all places; 0 where it would read before the start of a chain."""
    found = np.zeros([v.size(i.axis) for i in s.places])
    for at in np.ndindex(*found.shape):
        try:
            found[at] = v.of(s.value, {i.name: k for i, k in zip(s.places, at, strict=True)})
        except IndexError:
            found[at] = 0.0
    return found
