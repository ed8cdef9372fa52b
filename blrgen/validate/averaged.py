"""Two draws observed one by one, then a step: estimates and inputs are averaged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.core import Quantity, Rule
from blrgen.decide.equal import equal
from blrgen.decide.functions import plain
from blrgen.decide.proof import Proof
from blrgen.validate.modes import ArrayMode
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.number import Sym

if TYPE_CHECKING:
    from blrgen.validate.emitted_run import EmittedRun
    from blrgen.validate.symbolic.run import Program

Expr = Any


def averaged_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """Two draws observed one by one, then a step: estimates and inputs are averaged."""
    if not run.draws or not isinstance(run.mode, ArrayMode):
        return []
    program, opt, params = run.built()
    if not hasattr(opt, "observe"):
        return []
    again, kept = _second(run.rule), run.kept(opt)
    _observed(run, program, opt, again)
    program.call(opt.step)
    values = run.after(opt, params)
    if run.kept(opt) != kept:
        claim = "sums are cleared after the step"
        return [("sums", Proof("refuted", claim, "something is left after the step"))]
    wanted, domains = Averaged(run.rule, run.mode), _domains(run)
    out = []
    for n in run.matching.states:
        actual = run.mode.outputs(values[n])
        claim = f"{n}_next, two draws averaged"
        if actual is None:
            out.append((n, Proof("refuted", claim, "the result has another shape")))
            continue
        proof = Proof("identity", claim)
        for i, value in enumerate(actual):
            right = wanted.next(n, i)
            proof = equal(value, right, domains, claim=claim)
            if not proof.proved:
                break
        out.append((f"{n}, two draws", proof))
    return out


def _observed(run: EmittedRun, program: Program, opt: Any, again: dict[Expr, Expr]) -> None:
    """Both draws with what is seen there, the second in symbols of its own."""
    for swap in ({}, again):
        made = [_renamed(run.value(n), swap, run.mode) for n in run.draws]
        program.call(opt.draw, **dict(zip(run.draws, made, strict=True)))
        names = run.inputs(opt.observe)
        seen = [_renamed(run.value(n), swap, run.mode) for n in names]
        program.call(opt.observe, **dict(zip(names, seen, strict=True)))


def _domains(run: EmittedRun) -> dict[Any, str]:
    """The domains of all symbols, those of the second draw as well."""
    second = {
        run.mode.elements.symbol(q, i).name + "_second": q.domain
        for q in run.rule.quantities for i in range(run.mode.count)
    }  # fmt: skip
    return {**run.mode.domains, **second}


def _second(rule: Rule) -> dict[Expr, Expr]:
    """The second draw's symbols, for what differs between draws."""
    out = {}
    for q in rule.of("draw", "input"):
        given = {k: v for k, v in q.symbol._assumptions_orig.items() if v is not None}
        out[q.symbol] = sp.Symbol(f"{q.name}_second", **given)
    return out


def _renamed(value: Any, again: dict[Expr, Expr], mode: Any) -> Any:
    """An argument with the second draw's symbols in it."""
    if not again:
        return value
    swap = {}
    for s in again:
        for i in range(mode.count):
            q = mode.quantity(s.name)
            first = mode.elements.symbol(q, i)
            swap[first] = _like(first)
    return array([Sym(x.e.xreplace(swap)) for x in value.reshape(-1)])


def _like(s: Expr) -> Expr:
    given = {k: v for k, v in s._assumptions_orig.items() if v is not None}
    return sp.Symbol(f"{s.name}_second", **given)


class Averaged:
    """Next states, element by element, with inputs and estimates averaged over two draws.

    Sums over components are written out first, so that every component has a second draw.
    """

    def __init__(self, rule: Rule, mode: ArrayMode) -> None:
        self.rule, self.mode = rule, mode
        every = [self._elements(q) for q in rule.of("draw", "input")]
        self.second = {s: _like(s) for symbols in every for s in symbols}
        self.known = {s: self._half(s) for q in rule.of("input") for s in self._elements(q)}
        self.updates: dict[str, Expr] = {}
        shown: dict[str, Expr] = {}
        for a in rule.assignments:
            e = plain(sp.sympify(a.expr))
            if a.stage == "update":
                self.updates[a.name] = _put(e, self.updates)
                continue
            shown[a.name] = _put(e, shown)
            if a.stage == "estimate":
                q = rule[a.name]
                places = enumerate(self._elements(q))
                self.known |= {s: self._half(self._at(shown[a.name], i)) for i, s in places}
        drawn = {a.name: shown[a.name] for a in rule.assignments if a.stage == "draw"}
        self.updates = {k: _put(e, drawn) for k, e in self.updates.items()}

    def _elements(self, q: Quantity) -> list[Expr]:
        symbols = (self.mode.elements.symbol(q, i) for i in range(self.mode.count))
        return list(dict.fromkeys(symbols))

    def _half(self, e: Expr) -> Expr:
        return (e + e.xreplace(self.second)) / 2

    def _at(self, e: Expr, i: int) -> Expr:
        return self.mode.elements.at(e, i)

    def next(self, state: str, i: int) -> Expr:
        """The next value of a state at an element."""
        e = self.updates.get(f"{state}_next", self.rule[state].symbol)
        return self._at(e, i).xreplace(self.known)


def _put(e: Expr, known: dict[str, Expr]) -> Expr:
    return e.xreplace({s: known[s.name] for s in e.free_symbols if s.name in known})
