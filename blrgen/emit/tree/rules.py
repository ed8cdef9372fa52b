"""The kernel of a rule → a function: one pass over its arrays, or several with sums between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from blrgen.emit.pieces import in_pieces
from blrgen.emit.tree import nodes as t
from blrgen.emit.tree.arrays import array_body
from blrgen.emit.tree.careful import Careful
from blrgen.emit.tree.constants import typed
from blrgen.emit.tree.fitting import fitted
from blrgen.emit.tree.memory import Context, Memory
from blrgen.emit.tree.numpy import Arrays
from blrgen.emit.tree.printer import Expressions
from blrgen.emit.tree.stores import stored
from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.again import again
from blrgen.program.axes.anf import anf
from blrgen.program.axes.check import check
from blrgen.program.axes.schedule import schedule
from blrgen.program.axes.scratch import storage
from blrgen.program.kernels import Kernel
from blrgen.program.pieces import is_in_pieces


def over_axis(k: Kernel) -> a.Program:
    """The kernel's equations over one axis."""
    outputs = k.arrays if k.is_output else ()
    program = anf(k.program.writing(k.arrays, outputs))
    check(program)
    return program


def looped(k: Kernel) -> t.Function:
    """Loops over the elements, where what is no normal number may be 0."""
    program = over_axis(k)
    plan = schedule(again(program), [x.name for x in program.letters])
    memory = Memory(plan, storage(plan))
    body = Careful(plan, memory, _checked(k)).nodes(list(plan.body), 0, Context(), False)
    f = typed(_function(k, program, tuple(body)))
    taken = {*memory.taken, *(x for s in f.body for e in t.expressions(s) for x in e.names)}
    return replace(f, body=stored(fitted(f.body, Expressions(), taken), k.program.rule.fading))


def compiled(k: Kernel) -> tuple[t.Function, ...]:
    """All functions of a kernel: one that is too long for a loop is several, block by block."""
    return in_pieces(k, looped) if is_in_pieces(k) else (looped(k),)


def arrayed(k: Kernel) -> t.Function:
    """The same equations on whole arrays."""
    program = over_axis(k)
    f = _function(k, program, array_body(program, k.name))
    taken = {*k.program.sizes, *f.arrays}
    return replace(f, body=stored(fitted(f.body, Arrays(), taken)), quiet=k.coupled)


def _function(k: Kernel, program: a.Program, body: tuple[t.Statement, ...]) -> t.Function:
    """The function, in which an axis is as long as its first array."""
    first = k.arrays[0]
    sizes: Mapping[n.Node, n.Node] = {t.name(str(x.size)): t.Length(first) for x in program.letters}

    def change(e: n.Node) -> n.Node:
        return sizes[e] if e in sizes else e.rebuilt(change)

    return t.Function(
        k.name,
        k.arrays,
        (),
        () if k.packed else k.scalars,
        t.rewritten(body, change),
        k.summary,
        reals_of=first,
        returns=tuple(map(t.name, k.returns)),
        numbers=k.scalars if k.packed else (),
        ordered=True,
        inlined=k.by_block,
    )


def _checked(k: Kernel) -> list[str]:
    """Numbers made of hyperparameters alone, which the class holds to their ranges."""
    known = [v.name for v in k.program.rule.of("hyper", "counter")]
    for s in k.program.numbers:
        if set(n.names(s.expr)) <= set(known):
            known.append(s.name)
    return known
