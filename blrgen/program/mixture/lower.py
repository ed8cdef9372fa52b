"""A derivation of a mixture as a program over axes.

    given      states, inputs and hyperparameters, states and inputs with the component first
    body       log q and its derivatives at the means (`density`), then the rule, k by k
    outs       the next states in their order

All next values are of the old q: what is known of log q is computed before any of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from blrgen.core import Derivation, Quantity
from blrgen.errors import UserError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import check
from blrgen.program.mixture.density import write_log_q
from blrgen.program.mixture.entries import Axes, Equations
from blrgen.program.mixture.words import Words
from blrgen.program.program import fresh
from blrgen.program.types import EACH, SCALAR, Type
from blrgen.program.variables import AXES
from blrgen.rule.mixture.candidate import SUM, WEIGHT

Expr = Any


@dataclass(frozen=True)
class Array:
    """A state or an input: its axes, its domain, and its first value where it need not be given."""

    name: str
    sizes: tuple[str, ...]
    domain: str
    first: str  # a number as text, "identity", "uniform", the name of a state; "": to be given
    meaning: str


@dataclass(frozen=True)
class MixtureProgram:
    """What the class of a mixture is made from."""

    program: a.Program
    states: tuple[Array, ...]
    inputs: tuple[Array, ...]
    hypers: tuple[Quantity, ...]
    size: str = "d"


def lower_mixture(d: Derivation) -> MixtureProgram:
    """The program of one step of all components."""
    _check_kind(d)
    made = _equations(d)
    if d.known:
        write_log_q(d, made, WEIGHT)
    for x in d.rule.assignments:
        _assignment(d, made, x.name, x.expr)
    states = tuple(_state(d, made, q) for q in _states(d))
    inputs = d.rule.of("input")
    return _program(d, made, states, inputs, _evened(made, inputs))


def _evened(made: Equations, inputs: tuple[Quantity, ...]) -> tuple[str, ...]:
    """Of a matrix that is given its even part is read: the names of those that are matrices."""
    names = tuple(q.name for q in inputs if q.rank == "symmetric")

    def even(x: n.Node) -> n.Node:
        if not isinstance(x, a.Ref) or x.name not in names:
            return x
        *front, row, column = x.index
        return n.mul(n.HALF, n.add(x, a.Ref(x.name, (*front, column, row))))

    made.lets[:] = [replace(x, expr=n.transform(x.expr, even)) for x in made.lets]
    return names


def lower_moves(d: Derivation) -> MixtureProgram:
    """The rule alone, k by k: what is asked of ℓ and of log q is given, expected or at a mean."""
    made = _equations(d)
    for x in d.rule.assignments:
        _assignment(d, made, x.name, x.expr)
    states = tuple(_state(d, made, q) for q in _states(d))
    asked = (*d.rule.of("input"), *(q for q in d.rule.of("known") if q.name != SUM))
    return _program(d, made, states, asked)


def places_of(d: Derivation) -> tuple[Array, ...]:
    """The states of a rule with their axes and domains."""
    made = _equations(d)
    return tuple(_state(d, made, q) for q in _states(d))


def _program(
    d: Derivation, made: Equations, states: tuple[Array, ...], asked: tuple[Quantity, ...],
    uneven: tuple[str, ...] = (),
) -> MixtureProgram:  # fmt: skip
    """The equations with what they are given, checked; `uneven` are matrices of any kind."""
    axes = made.axes
    letters = [a.Letter(x, axes.count) for x in (axes.component, axes.other)]
    letters += [a.Letter(x, axes.size) for x in axes.places]
    given = [_quantity(made, q) for q in (*_states(d), *asked, *d.rule.of("hyper", "counter"))]
    given = [replace(q, structure="dense") if q.name in uneven else q for q in given]
    outs = tuple(f"{x.name}_next" for x in states if _moves(d, x.name))
    program = a.Program(tuple(letters), tuple(given), tuple(made.lets), outs)
    check(program)
    inputs = tuple(_array(made, q, "") for q in asked)
    return MixtureProgram(program, states, inputs, d.rule.of("hyper"), axes.size)


def _states(d: Derivation) -> tuple[Quantity, ...]:
    return d.rule.of("state")


def _moves(d: Derivation, name: str) -> bool:
    return any(x.name == f"{name}_next" for x in d.rule.assignments)


def _check_kind(d: Derivation) -> None:
    """A class has what is asked at the means; expectations are integrated by `fit`."""
    asked = [p.name for p in d.known if p.at != "m"]
    if asked:
        raise UserError(
            f"no class computes {', '.join(asked)}: expectations of log q under a component",
            where=f"blrgen generate {d.family.name}",
            why="log q is a logarithm of a sum, whose expectation has no closed form",
            how="--delta, which takes it at the means, or blrgen fit --family "
            f"{d.family.name}, which integrates",
        )  # fmt: skip
    if d.loss.expr is not None:
        raise UserError(
            "a loss that is given is put in by fit", where=f"blrgen generate {d.family.name}",
            why="the class of a mixture takes g, H and l at the means",
            how=f"leave --loss out, or blrgen fit --family {d.family.name} --loss …",
        )  # fmt: skip
    if d.rule.halved or d.rule.until or d.rule.of("draw"):
        raise UserError("this rule of a mixture has no class", where=d.family.name,
                        why="it draws, halves its step or is run to a fixed point")  # fmt: skip


def _equations(d: Derivation) -> Equations:
    """Nothing written yet: the letters, and what every quantity carries."""
    taken = {q.name for q in d.rule.quantities} | {x.name for x in d.rule.assignments}
    letters = []
    for x in ("k", "j", "i", "i2", "i3"):
        letters.append(fresh(x, taken))
        taken.add(letters[-1])
    vector = bool(d.geometry.family.support.size)
    axes = Axes(letters[0], letters[1], tuple(letters[2:]) if vector else (), "K", _size(d))
    own: tuple[str, ...] = (axes.component,)
    batch = {q.name: own for q in d.rule.quantities if q.kind not in _WHOLE}
    types = {q.name: Type(*AXES[q.rank]) if vector else SCALAR for q in d.rule.quantities}
    return Equations(axes, batch, types, taken)


_WHOLE = ("hyper", "counter")


def _size(d: Derivation) -> str:
    (size,) = d.geometry.family.support.size or ("d",)
    return size


def _assignment(d: Derivation, made: Equations, name: str, expr: Expr) -> None:
    """One line of the rule for all components."""
    if name == "w":
        return
    if name == f"{WEIGHT}_next":
        _weights(d, made)
        return
    base = name.removesuffix("_next")
    kind = made.types.get(name) or made.types[base]
    k = made.axes.component
    made.batch[name], made.types[name] = (k,), kind
    own = made.own(kind)
    if set(kind.shape) - {EACH}:
        row, column, _ = made.axes.places
        entry = Words(made).value(expr, row, column)
        definite = base in d.rule and d.rule[base].domain == "SPD"
        made.put(name, (k, *own), entry, "spd" if definite else kind.structure)
        return
    made.put(name, (k, *own), Words(made).number(expr))


def _weights(d: Derivation, made: Equations) -> None:
    """π⁺ = w/Σw in logarithms: log w = log π + what stands in the exponential."""
    k = made.axes.component
    expr = next(x.expr for x in d.rule.assignments if x.name == "w")
    pi = d.rule[WEIGHT].symbol
    exponent = (expr / pi).args[0]
    log_w, total = made.name("log_w"), made.name("log_sum")
    made.put(log_w, (k,), n.add(n.Call("log", (a.ref(WEIGHT, k),)), made.entry(exponent)))
    made.put(total, (), a.Red("lse", (k,), a.ref(log_w, k)))
    made.put(f"{WEIGHT}_next", (k,), n.Call("exp", (n.Sub(a.ref(log_w, k), a.Ref(total)),)))
    assert SUM in d.rule


def _sizes(made: Equations, q: Quantity) -> tuple[str, ...]:
    own = made.own(made.types[q.name])
    return (made.axes.count, *([made.axes.size] * len(own)))


def _array(made: Equations, q: Quantity, first: str) -> Array:
    return Array(q.name, _sizes(made, q), q.domain or "(-oo, oo)", first, q.meaning)


def _state(d: Derivation, made: Equations, q: Quantity) -> Array:
    """With its first value: given for what moves θ, uniform for the weights."""
    if q.name == WEIGHT:
        return Array(q.name, _sizes(made, q), "simplex", "uniform", q.meaning)
    if q.name == d.facts.location:
        return _array(made, q, "")
    if made.types[q.name].is_symmetric:
        return _array(made, q, "identity")
    return _array(made, q, str(q.init))


def _quantity(made: Equations, q: Quantity) -> a.Quantity:
    if q.kind in _WHOLE:
        return a.Quantity(q.name)
    structure = "spd" if q.domain == "SPD" else made.types[q.name].structure
    return a.Quantity(q.name, _sizes(made, q), structure)
