"""Sums of data alone are found once: the step's loops do not see the rows then.

lam_1 = m0/v0 + tau * sum(n, x[n])   →   sums: sum_1 = sum(n, x[n]); lam_1 = m0/v0 + tau * sum_1
"""

from __future__ import annotations

from dataclasses import replace

from blrgen.program import nodes as n
from blrgen.program.axes import nodes as a
from blrgen.program.axes.moments import moments
from blrgen.program.model.given import trimmed
from blrgen.program.model.values import Draw, Method, ModelProgram, Posterior, Start
from blrgen.program.program import fresh


def with_sums(program: ModelProgram) -> ModelProgram:
    """The model program with sums of data as arrays of their own.

    A step over some rows sums over these: its sums are its own.
    """
    work = _Sums(program)
    sweep = program.sweep if program.batch else work.method(work.of_data(program.sweep))
    posteriors = tuple(work.posterior(x) for x in program.posteriors)
    start = work.start(program.start)
    more = None if program.predictive is None else work.method(program.predictive)
    draws, samples = (tuple(map(work.draw, x)) for x in (program.draws, program.samples))
    if not work.found:
        return program
    sums = Method("data_sums", work.program(), "Return sums of data that all steps need.")
    return replace(program, sweep=sweep, posteriors=posteriors, start=start, sums=sums,
                   predictive=more, draws=draws, samples=samples)  # fmt: skip


class _Sums:
    def __init__(self, program: ModelProgram) -> None:
        data = [x for x in program.arguments if x.role == "data"]
        self.rows = {s for x in data for s in x.array.sizes[:1] if isinstance(s, str)}
        self.known = {x.array.name for x in program.arguments} | {x.seen for x in data}
        self.letters: dict[str, a.Letter] = {}
        self.given: dict[str, a.Quantity] = {}
        self.taken = {x for m in program.methods for s in m.program.lets for x in (s.name,)}
        self.taken |= {q.name for m in program.methods for q in m.program.given}
        self.found: dict[str, tuple[str, a.Let]] = {}
        self.ragged = bool(program.lengths)

    def of_data(self, m: Method) -> Method:
        """The method in sums of data where it needs its rows for nothing else."""
        if self.ragged:
            return m
        return replace(m, program=moments(m.program, self.rows, self.known))

    def method(self, m: Method) -> Method:
        """The method with its sums of data given."""
        letters = {x.name: x for x in m.program.letters}
        used: dict[str, a.Quantity] = {}

        def on(e: n.Node) -> n.Node:
            if isinstance(e, a.Red) and self.is_sum(e, letters):
                name, let = self.named(e, m.program)
                sizes = tuple(letters[x].size for x in let.letters)
                used[name] = a.Quantity(name, sizes)
                return a.ref(name, *let.letters)
            return e if isinstance(e, a.Lin) else e.rebuilt(on)

        body = a.mapped(m.program.body, lambda s: (replace(s, expr=on(s.expr)),))
        made = replace(m.program, body=body, given=(*m.program.given, *used.values()))
        return replace(m, program=trimmed(made))

    def is_sum(self, e: a.Red, letters: dict[str, a.Letter]) -> bool:
        """Over rows, of data alone, with nothing left that runs over rows."""
        over = {letters[x].size for x in e.letters}
        left = {letters[x].size for x in a.free(e)}
        names = set(e.names)
        return (e.op == "sum" and bool(over & self.rows) and not left & self.rows
                and bool(names) and names <= self.known and not self.ragged)  # fmt: skip

    def named(self, e: a.Red, program: a.Program) -> tuple[str, a.Let]:
        key = repr(e)
        if key not in self.found:
            name = fresh(f"sum_{len(self.found) + 1}", self.taken)
            self.taken.add(name)
            self.found[key] = name, a.Let(name, a.free(e), e)
            self.letters |= {x.name: x for x in program.letters}
            self.given |= {q.name: q for q in program.given if q.name in self.known}
        return self.found[key]

    def posterior(self, x: Posterior) -> Posterior:
        return x if x.method is None else replace(x, method=self.method(x.method))

    def draw(self, x: Draw) -> Draw:
        return x if x.method is None else replace(x, method=self.method(x.method))

    def start(self, x: Start | None) -> Start | None:
        return None if x is None else replace(x, method=self.method(x.method))

    def program(self) -> a.Program:
        """All sums, each an equation."""
        lets = tuple(let for _, let in self.found.values())
        whole = a.Program(tuple(self.letters.values()), tuple(self.given.values()), lets,
                          tuple(x.name for x in lets))  # fmt: skip
        return trimmed(whole)
