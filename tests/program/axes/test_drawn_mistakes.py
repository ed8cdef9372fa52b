"""Programs drawn by seed with one mistake each: they are refused, with both sides' axes, or right.

A mistake puts another index, letter, name, operation or structure in the place of one.  What the
checker lets through has a meaning; what it refuses it refuses as a mismatch that shows what
does not fit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from blrgen.errors import InternalError
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.check import TypeMismatch, check
from blrgen.program.axes.interpret import interpret
from tests.program.axes.drawn_programs import Drawn, drawn

MUTANTS = 25  # of each program


def other_index(i: n.Node, rng: Random, p: a.Program) -> n.Node:
    """Another place."""
    letter = rng.choice(p.letters).name
    made: list[n.Node] = [
        a.Ix(letter),
        a.Num(0),
        a.Lag(letter, rng.choice((-1, 1))),
        a.Last(letter),
    ]
    made += [a.At(a.Ref(q.name, tuple(a.Ix(letter) for _ in q.sizes))) for q in p.given[:2]]
    return rng.choice(made)


def other_ref(r: a.Ref, rng: Random, p: a.Program) -> a.Ref:
    """With another name, another index, one index more or less, or two exchanged."""
    names = [*(q.name for q in p.given), *(s.name for s in p.lets), "nothing"]
    kind, index = rng.randrange(5), list(r.index)
    if kind == 0 or not index:
        return a.Ref(rng.choice(names), r.index)
    at = rng.randrange(len(index))
    if kind == 1:
        index.append(index[at])
    elif kind == 2:
        del index[at]
    elif kind == 3:
        index[at], index[0] = index[0], index[at]
    else:
        index[at] = other_index(index[at], rng, p)
    return a.Ref(r.name, tuple(index))


def other(e: n.Node, rng: Random, p: a.Program) -> n.Node:
    """A node with one mistake."""
    letters = [x.name for x in p.letters]
    if isinstance(e, a.Ref):
        return other_ref(e, rng, p)
    if isinstance(e, a.Red):
        if rng.random() < 0.3:
            return replace(e, op=rng.choice((*a.REDUCTIONS, "mean")))
        return replace(e, letters=(*e.letters[1:], rng.choice([*letters, "nowhere"])))
    if isinstance(e, a.Lin):
        return replace(e, op=rng.choice(("chol", "solve", "lsolve", "ltsolve", "linv", "logdet")))
    if isinstance(e, a.Is):
        return a.Is(other_index(e.left, rng, p), e.right)
    return e


def mistaken(d: Drawn, rng: Random) -> a.Program:
    """The program with one mistake in one equation."""
    p = d.program
    s = rng.choice(p.lets)
    kind = rng.random()
    letters = [x.name for x in p.letters]
    if kind < 0.15:
        changed = replace(s, letters=(*s.letters[1:], rng.choice([*letters, "nowhere"])))
    elif kind < 0.25:
        changed = replace(s, structure=rng.choice(("sym", "spd", "lower", "dense", "odd")))
    elif kind < 0.3:
        changed = replace(s, first=n.ONE if s.first is None else None)
    else:
        nodes = [x for x in n.walk(s.expr) if isinstance(x, a.Ref | a.Red | a.Lin | a.Is)]
        if not nodes:
            return p
        wrong = rng.choice(nodes)
        instead = other(wrong, rng, p)
        changed = replace(s, expr=_put(s.expr, wrong, instead))
    return replace(p, body=a.mapped(p.body, lambda x: (changed,) if x.name == s.name else (x,)))


def _put(e: n.Node, old: n.Node, new: n.Node) -> n.Node:
    return new if e is old else e.rebuilt(lambda c: _put(c, old, new))


def mutants(seed: int) -> Iterator[tuple[Drawn, a.Program]]:
    d, rng = drawn(seed, equations=4), Random(seed)
    for _ in range(MUTANTS if d.program.lets else 0):
        yield d, mistaken(d, rng)


@pytest.mark.parametrize("seed", range(300))
@pytest.mark.sweep(25)
def test_a_mistake_is_refused_with_both_sides_or_has_a_meaning(seed: int) -> None:
    for d, p in mutants(seed):
        try:
            check(p)
        except TypeMismatch as error:
            assert "\n  in" in str(error)
            continue
        try:
            interpret(p, d.values, d.sizes)
        except InternalError as error:  # of values, which types do not know
            assert str(error).startswith(("not ", "the last")) or "outside of axis" in str(error)
        except np.linalg.LinAlgError as error:  # what a program says is definite may not be
            assert "not positive definite" in str(error)
