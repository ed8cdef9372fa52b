"""A program in which some values are given from outside instead of made.

    r[n,k] = exp(lp[n,k] - lse[n])
    nk[k] = sum(n, r[n,k])              →   given r[N,K]: nk[k] = sum(n, r[n,k])

What only these values needed is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from blrgen.program.axes import nodes as a
from blrgen.program.axes.dead import dead
from blrgen.program.model.values import Array
from blrgen.program.nodes import Node, walk


def given(program: a.Program, names: Sequence[str], outs: Sequence[str]) -> a.Program:
    """The program that makes `outs` where `names` are given."""
    sizes, structures = program.sizes, program.structures
    more = tuple(a.Quantity(x, sizes[x], structures[x]) for x in names)
    body = a.mapped(program.body, lambda s: () if s.name in names else (s,))
    whole = replace(program, given=(*program.given, *more), body=body, outs=tuple(outs), writes=())
    return trimmed(dead(whole))


def handing_out(program: a.Program, outs: Sequence[str]) -> a.Program:
    """The program with other outs, and without what these do not need."""
    copies = {x: copied(program, x) for x in outs if x in {q.name for q in program.given}}
    named = tuple(copies[x].name if x in copies else x for x in outs)
    body = (*program.body, *copies.values())
    return trimmed(dead(replace(program, body=body, outs=named, writes=())))


def copied(program: a.Program, name: str) -> a.Let:
    """A given array as an equation of its own, which can be handed out."""
    letters: list[str] = []
    for size in program.sizes[name]:
        free = (x.name for x in program.letters if x.size == size and x.name not in letters)
        letters.append(next(free))
    index = tuple(map(a.Ix, letters))
    return a.Let(f"{name}_now", tuple(letters), a.Ref(name, index))


def trimmed(program: a.Program) -> a.Program:
    """The program without letters and given arrays that nothing reads."""
    read = {x for s in program.lets for e in (*s.expressions, *s.at) for x in e.names}
    letters = {x for s in program.lets for x in s.letters}
    letters |= {x for s in program.lets for e in (*s.expressions, *s.at) for x in a.free(e)}
    letters |= {
        x for s in program.lets for e in s.expressions for x in _reduced(e)
    }  # fmt: skip
    found = [x for x in program.letters if x.name in letters]
    letters |= {x.under for x in found}
    counted = {y.axis for s in program.lets for e in s.expressions for y in walk(e)
               if isinstance(y, a.Extent)} - {x.size for x in found}  # fmt: skip
    letters |= {next(x.name for x in program.letters if x.size == y) for y in sorted(counted)}
    kept = tuple(x for x in program.letters if x.name in letters)
    read |= {x.pointers for x in kept}
    return replace(program, letters=kept, given=tuple(q for q in program.given if q.name in read))


def _reduced(e: object) -> set[str]:
    assert isinstance(e, Node)
    out: set[str] = set()
    for x in walk(e):
        if isinstance(x, a.Red):
            out |= set(x.letters)
        elif isinstance(x, a.Lin):
            out |= {y for r in x.args for y in a.free(r)}
    return out


def quantity(x: Array) -> a.Quantity:
    """A given array."""
    structure = "spd" if x.domain == "SPD" else "dense"
    return a.Quantity(x.name, x.sizes, structure, x.labels)
