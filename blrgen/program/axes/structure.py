"""Half of what is symmetric, and no zeros of what is triangular.

    C[i,j]: sym = …              only j ≤ i is computed; the rest is its mirror image
    y[i] = sum(j, P[i,j] * x[j]) with P lower: only j ≤ i

Both are bounds of loops.  What only such halves read is computed by halves too.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a


def structure(program: a.Program) -> a.Program:
    """The program after `anf` with bounds on its equations."""
    kept = set(program.outs) | {y for _, y in program.writes}
    kept |= {x for put in program.assembled for _, e in put.entries for x in e.names}
    bounded = {s.name: _own(s, program.structures) for s in program.lets}
    for s in reversed(program.lets):
        if s.name not in kept and not bounded[s.name].bounds:
            bounded[s.name] = _inherited(bounded[s.name], bounded)
    return replace(program, body=a.mapped(program.body, lambda s: (bounded[s.name],)))


def _own(s: a.Let, structures: dict[str, str]) -> a.Let:
    """By the structure of the result, or of a factor of what is summed."""
    if s.structure in ("sym", "spd") and not isinstance(s.expr, a.Lin | a.Red):
        i, j = s.letters[-2:]
        return replace(s, bounds=((j, i),), mirror=True)
    if isinstance(s.expr, a.Red) and s.expr.op == "sum":
        factors = s.expr.arg.args if isinstance(s.expr.arg, n.Mul) else (s.expr.arg,)
        for f in factors:
            if isinstance(f, a.Ref) and structures.get(f.name) == "lower":
                row, column = f.index[-2:]
                if not isinstance(row, a.Ix) or not isinstance(column, a.Ix) or row == column:
                    continue
                if {row.letter, column.letter} & set(s.expr.letters):
                    return replace(s, bounds=((column.letter, row.letter),))
    return s


def _inherited(s: a.Let, bounded: dict[str, a.Let]) -> a.Let:
    """The bounds that all readers have, where they read entry by entry."""
    readers = [r for r in bounded.values() if r is not s and _reads(r, s.name)]
    if not readers or isinstance(s.expr, a.Lin) or isinstance(s.first, a.Lin):
        return s
    own = a.Ref(s.name, tuple(map(a.Ix, s.letters)))
    common = set(readers[0].bounds).intersection(*(r.bounds for r in readers))
    fits = [(x, y) for x, y in common if x in s.letters and y in s.letters]
    at_own = all(x == own for r in readers for e in r.expressions for x in a.refs(e)
                 if x.name == s.name)  # fmt: skip
    return replace(s, bounds=tuple(sorted(fits))) if fits and at_own else s


def _reads(s: a.Let, name: str) -> bool:
    return any(name in e.names for e in s.expressions)
