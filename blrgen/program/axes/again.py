"""What loops after a finished sum need is computed again in them.

    e[i] = exp(x[i]); s = sum(i, e[i]); p[i] = e[i] / s
    →   e[i] = exp(x[i]); s = sum(i, e[i]); e_2[i] = exp(x[i]); p[i] = e_2[i] / s

So nothing of the size of an axis is kept between two passes over it.  The level of an equation
is how many passes come before its own: a sum is one above what it adds up, everything else
where the highest of what it reads is.
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program.axes import nodes as a
from blrgen.program.axes.anf import taken
from blrgen.program.program import fresh


def again(program: a.Program) -> a.Program:
    """The program after `anf`, whose arrays are each made in every pass that reads them."""
    return _Again(program).whole()


class _Again:
    """The level of each equation, and the passes in which each array is read."""

    def __init__(self, program: a.Program) -> None:
        self.program, self.taken = program, taken(program)
        self.lets = {s.name: s for s in program.lets}
        self.written = {*program.outs, *(y for _, y in program.writes)}
        self.levels: dict[str, int] = {}
        for s in self.lets.values():
            inside = max((self.levels.get(x, 0) for x in s.expr.names), default=0)
            self.levels[s.name] = inside + _is_sum(s)
        self.last = max(self.levels.values(), default=0)

    def whole(self) -> a.Program:
        """The equations pass by pass; what is written is made in the last one."""
        passes = self.passes()
        names: dict[tuple[str, int], str] = {}
        for x, found in passes.items():
            for k in sorted(found, reverse=x in self.written):
                names[x, k] = fresh(x, self.taken) if any(y == x for y, _ in names) else x
                self.taken.add(names[x, k])
        body: list[a.Statement] = []
        for k in range(self.last + 1):
            own = {x: name for (x, at), name in names.items() if at == k}
            sums = [x for x, s in self.lets.items() if self.levels[x] == k and _is_sum(s)]
            numbers = [x for x, s in self.lets.items() if not s.letters and not _is_sum(s)]
            after = (*sums, *(x for x in numbers if self.levels[x] == k))
            for s in sorted(self.lets.values(), key=lambda s: bool(s.letters) or _is_sum(s)):
                if s.name in own or (not s.letters and self.place(s) == k):
                    expr = a.renamed(s.expr, own)
                    late = after if s.letters or _is_sum(s) else ()
                    body.append(replace(s, name=own.get(s.name, s.name), expr=expr, after=late))
        return replace(self.program, body=tuple(body))

    def place(self, s: a.Let) -> int:
        """The pass in which a number is made."""
        return self.levels[s.name] - _is_sum(s)

    def passes(self) -> dict[str, set[int]]:
        """For every array the passes in which it is read."""
        found: dict[str, set[int]] = {x: set() for x, s in self.lets.items() if s.letters}
        for x in found.keys() & self.written:
            found[x].add(self.last)
        for s in reversed(self.lets.values()):
            at = found[s.name] if s.letters else {self.place(s)}
            for x in found.keys() & set(s.expr.names):
                found[x] |= at
        return found


def _is_sum(s: a.Let) -> bool:
    return isinstance(s.expr, a.Red)
