"""Translation validation: emitted source, run on symbols, computes the rule it was emitted for.

The class is built on symbolic parameters with symbolic hyperparameters, its states are
set to symbols, `draw` is given symbolic noise, `step` symbolic inputs; the states after
the step are held against the rule.  Rules that average over draws are run with two draws
as well.  For matrices the emitted helpers `_cholesky`, `_solve` and `_solved` keep their
documented meaning; the solvers and loops are themselves run over a prime field (`solvers`).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import sympy as sp

from blrgen.algebra.components import Component
from blrgen.core import Rule
from blrgen.emit.special import helper as special
from blrgen.errors import InternalError
from blrgen.prove import reference, solvers
from blrgen.prove.carried import attributes, carried, carried_proofs, changed
from blrgen.prove.draws import law_proofs
from blrgen.prove.equal import equal
from blrgen.prove.functions import plain
from blrgen.prove.joined import WALKED, Keys, give_joined, joined_proofs
from blrgen.prove.match import Matching
from blrgen.prove.misfit import Lacking, missing, not_run
from blrgen.prove.modes import COUNTS, ArrayMode, MatrixMode
from blrgen.prove.outline import class_name
from blrgen.prove.proof import LEVELS, Proof, Verdict
from blrgen.prove.sized import SizedMode, sizes_of
from blrgen.prove.special import meaning_of, on_symbols, special_checks
from blrgen.prove.symbolic.arrays import array, where
from blrgen.prove.symbolic.linear import NC
from blrgen.prove.symbolic.number import CannotRun, Sym, expr_of
from blrgen.prove.symbolic.run import Override, Program

Expr = Any
Part = tuple[Sequence[str], Callable[[], list[tuple[str, Proof]]]]  # names of claims, their proofs


def verify_emitted(
    source_text: str, rule: Rule, *, locate: bool = True, briefly: bool = False
) -> Verdict:
    """One proof a state (and one for where the loss is probed, when it is).

    `briefly` stops at the first refutation, leaves the emitted helpers alone and
    raises CannotRun for a source that does not run; else that is a verdict too: not compared.
    """
    try:
        return _verified(source_text, rule, locate, briefly)
    except CannotRun as error:
        if briefly:
            raise
        return not_run(source_text, rule, error)


def _verified(source_text: str, rule: Rule, locate: bool, briefly: bool) -> Verdict:
    if not reference.is_matrix(rule) and reference.is_coupled(rule):
        return _at_counts(source_text, rule, locate, briefly)
    sizes = sizes_of(source_text)
    if sizes and reference.is_matrix(rule):
        return _at_sizes(source_text, rule, SizedMode(rule, sizes))
    mode = MatrixMode(rule) if reference.is_matrix(rule) else ArrayMode(rule)
    return _in_mode(source_text, rule, mode, locate, briefly)


def _at_sizes(source_text: str, rule: Rule, mode: SizedMode) -> Verdict:
    """A file for matrices of one size: the step on numbers, and the solvers of its posterior."""
    run: EmittedRun = mode.runs(lambda: EmittedRun(source_text, rule, mode))
    parts: list[Part] = [
        (("t",), run.count_proofs),
        (run.matching.states, lambda: mode.proofs(run)),
        (("a step refused once",), lambda: mode.runs(run.halved_proofs)),
        (("draws",), run.undrawn_proofs),
        (("memory",), lambda: carried_proofs(run)),
        *_helpers(source_text, rule),
    ]
    proofs = list(_proofs(parts, briefly=False))
    words = ", ".join(sorted(run.helpers))
    return Verdict(
        tuple(proofs), notes=(f"the emitted helpers {words} keep their documented meaning",)
    )


def _at_counts(source_text: str, rule: Rule, locate: bool, briefly: bool) -> Verdict:
    """Vectors of one number of components after the other; the weakest proof of each claim."""
    found: dict[str, Proof] = {}
    notes: tuple[str, ...] = ()
    forms = (True, False) if "_either(" in source_text else (True,)
    sizes = {q.symbol.size for q in rule.of("state") if isinstance(q.symbol, Component)}
    fixed = tuple(int(x) for x in sizes if x.is_Integer)  # a family of one size only
    counts = fixed or COUNTS
    for count, first in itertools.product(counts, forms):
        mode = ArrayMode(rule, count)
        mode.first_form = first
        verdict = _in_mode(source_text, rule, mode, locate, briefly)
        if verdict.level == "refuted":
            return verdict
        for name, proof in verdict.proofs:
            both = [x for x in (found.get(name), proof) if x is not None]
            found[name] = max(both, key=lambda x: LEVELS.index(x.level))
        notes = verdict.notes
    words = " and ".join(map(str, counts))
    bound = f"with {words} components, where the sums over them are written out"
    states = {q.name for q in rule.of("state")}
    at_sizes = tuple(
        (n, replace(p, level="random-exact", bound=f"({p.bound}) {bound}" if p.bound else bound))
        if n.partition(",")[0] in states and p.proved
        else (n, p)
        for n, p in found.items()
    )
    return Verdict(at_sizes, notes=notes)


def _in_mode(source_text: str, rule: Rule, mode: Any, locate: bool, briefly: bool) -> Verdict:
    run = EmittedRun(source_text, rule, mode)
    parts: list[Part] = [
        (("t",), run.count_proofs),
        (run.probes[-1:], run.probe_proofs),
        (run.matching.states, lambda: mode.proofs(run)),
        (("two draws",), run.averaged_proofs),
        (("posterior",), run.posterior_proofs),
        (("a step refused once",), run.halved_proofs),
        (("several arrays",), lambda: joined_proofs(run)),
        (("draws",), run.undrawn_proofs),
        (("memory",), lambda: carried_proofs(run)),
    ]
    if isinstance(mode, MatrixMode) and not briefly:
        parts += _helpers(source_text, rule)
    proofs = list(_proofs(parts, briefly))
    wrong, checked = ([], []) if briefly else special_checks(source_text)
    proofs += wrong
    notes = [
        "the emitted helpers " + ", ".join(sorted(run.helpers)) + " keep their documented meaning"
    ] if run.helpers else []  # fmt: skip
    verdict = Verdict(tuple(proofs), notes=(*notes, *checked))
    if verdict.level == "refuted" and locate:
        from blrgen.prove.locate import located

        with suppress(CannotRun):
            return located(verdict, run, source_text)
    return verdict


def _helpers(source_text: str, rule: Rule) -> list[Part]:
    """What is claimed of the functions a file for matrices brings along."""
    return [
        (("the solvers",), lambda: solvers.solver_proofs(source_text)),
        (("the law of the draws",), lambda: law_proofs(source_text, rule)),
    ]


def _proofs(parts: Iterable[Part], briefly: bool) -> Iterable[tuple[str, Proof]]:
    """The rows of each part; a part that cannot be run leaves the others what they are."""
    for names, claims in parts:
        try:
            found = claims()
        except CannotRun as error:
            if briefly:
                raise
            found = missing(names, f"it could not be run on symbols ({error})")
        yield from found
        if briefly and any(p.level == "refuted" for _, p in found):
            return


class EmittedRun:
    """One step of the emitted class on symbols."""

    def __init__(self, source: str, rule: Rule, mode: Any) -> None:
        self.source, self.rule, self.mode = source, rule, mode
        self.draws = [q.name for q in rule.of("draw")]
        self.helpers: set[str] = set()
        self.probe: Any = None
        self.count: Any = None
        self.drawing = False  # whether the class has a `draw`
        self.tidy = True  # whether what is kept between steps is as it was
        self.carries: dict[str, Any] = {}  # what is kept and changes, beside the rule's states
        self.probes = [a.name for a in rule.assignments if a.stage == "draw"]
        states = tuple(q.name for q in rule.of("state"))
        self.matching = Matching((), states, ())
        self.program, self.values, _ = self.execute()

    def execute(self, override: Override | None = None) -> tuple[Program, dict[str, Any], Matching]:
        """A single step: draw once where the rule draws, then step."""
        program, opt, params = self.built(override)
        before = carried(self, opt)
        self.stepped(program, opt)
        self.carries = changed(self, opt, before)
        return program, self.after(opt, params), self.matching

    def stepped(self, program: Program, opt: Any) -> None:
        """Draw where the rule draws, then step."""
        before = self.kept(opt)
        self.drawing = hasattr(opt, "draw")
        if self.drawing and self.probes:
            several = isinstance(getattr(opt, "params", None), list)
            noise = {n: self.value(n) for n in self.draws}
            noise = {n: self.split(x) if several else x for n, x in noise.items()}
            self.probe = program.call(opt.draw, **noise)
        elif self.drawing and self.draws:
            # a vector draw is a symbol of the rule; that it has its law is another claim
            opt._pending = {n: self.value(n) for n in self.draws}
        several = isinstance(getattr(opt, "params", None), list)
        inputs = {n: self.value(n) for n in self.inputs(opt.step)}
        program.call(opt.step, **{n: self.split(x) if several else x for n, x in inputs.items()})
        self.count = getattr(opt, "t", None)
        self.tidy = self.kept(opt) == before

    def built(
        self, override: Override | None = None, many: bool = False
    ) -> tuple[Program, Any, Any]:
        """The class on symbolic parameters, its states set to symbols; `many`: in two arrays."""
        program = Program(self.source, self.mode.domains, override)
        if isinstance(self.mode, ArrayMode):
            noise = [list(np.ravel(self.value(n))) for n in self.draws]
            self.helpers |= give_joined(program, noise)
        if many:
            program.names |= WALKED
        cls = program.function(class_name(self.source))
        if cls is None:
            raise InternalError("the source has no class")
        self._give_special(program)
        if hasattr(cls, "_outside"):  # the step is compared where it stays inside
            cls._outside = lambda self, only=None: 0
            self.helpers.add("_outside")
        if isinstance(self.mode, MatrixMode | SizedMode):
            self._give_helpers(program, cls)
        elif "_between" in program.names:
            program.names["_between"] = lambda *_: None
            self.helpers.add("_between")
        params = self.value(self.parameters)
        params = self.split(params) if many else params
        hyper = {q.name: self.value(q.name) for q in self.rule.of("hyper")}
        hyper |= {s.name: Sym(s) for s in self.sizes(cls) if s.name not in hyper}
        opt = program.call(cls, params, **{k: v for k, v in hyper.items()})
        for q in self.rule.of("counter"):
            opt.t = self.value(q.name) - 1
        for n in self.matching.states:
            if n != self.parameters:
                self._set(opt, n)
        return program, opt, params

    def sizes(self, cls: Any) -> list[Expr]:
        """Sizes that no array of the rule says, where the class asks for them."""
        import inspect

        asked = inspect.signature(cls).parameters
        there = {s for a in self.rule.assignments for s in a.expr.free_symbols if s.name in asked}
        known = {q.name for q in self.rule.quantities}
        return sorted((s for s in there if s.name not in known), key=str)

    @property
    def parameters(self) -> str:
        """The state the caller's arrays hold: the first one, the first array of several ranks."""
        arrays = [q.name for q in self.rule.of("state") if q.rank != "scalar"]
        return (arrays or self.matching.states)[0]

    def value(self, name: str) -> Any:
        return self.mode.value(name)

    def inputs(self, step: Callable[..., Any]) -> list[str]:
        import inspect

        return [n for n in inspect.signature(step).parameters if n in self.rule]

    def split(self, value: Any) -> Any:
        """An array as two; a number as it is."""
        return [value[:1], value[1:]] if isinstance(value, np.ndarray) else value

    def _set(self, opt: Any, name: str) -> None:
        if not hasattr(opt, name):
            names = ", ".join(sorted(k for k in attributes(opt) if not k.startswith("_")))
            raise Lacking(f"the class keeps no {name}, a state of the rule (it keeps {names})")
        held = getattr(opt, name)
        if isinstance(held, list | tuple):
            value = self.value(name)
            parts = self.split(value) if len(held) == 2 else [value]
            for array_, part in zip(held, parts, strict=True):
                array_[...] = part
        elif isinstance(held, np.ndarray | NC):
            held[...] = self.value(name)
        else:
            setattr(opt, name, self.value(name))

    def after(self, opt: Any, params: Any) -> dict[str, Any]:
        out = {}
        for n in self.matching.states:
            held = params if n == self.parameters else getattr(opt, n)
            out[n] = held[0] if isinstance(held, list | tuple) and len(held) == 1 else held
        return out

    def _give_special(self, program: Program) -> None:
        """Special functions by what they mean; that they compute it is another claim."""
        from blrgen.program.lower import lowered

        for name in list(program.names):
            known = special(name)
            if name == "_where":
                program.names[name] = where
            elif name == "_either":  # both forms of a number are compared, one a run
                program.names[name] = lambda _, yes, no: yes if self.mode.first_form else no
            elif known is not None:
                program.names[name] = meaning_of(known)
            elif name == "_over":
                program.names[name] = lambda f, *args: f(*args)
            elif name == "_exp_added":
                program.names[name] = _exp_added
                self.helpers.add(name)
        own = ("_expectation_", "_binomial_mean_")
        if any(name.startswith(own) for name in program.names):
            for name, meaning in lowered(self.rule)[1].items():
                program.names[f"_{name}"] = on_symbols(meaning)
                if name.startswith("binomial_mean_"):
                    self.helpers.add(f"_{name}")

    def _give_helpers(self, program: Program, cls: Any) -> None:
        """The documented meaning of the helpers, for matrices of any size."""
        functions: dict[str, Callable[..., Any]] = {
            "_views": lambda name, arrays, like=None: [arrays],
            "_vector": lambda name, arrays, like=None: arrays,
            "_symmetric": lambda name, matrix, like=None: matrix,
            "_shaped_as": lambda name, x, *_: x,
            "_entries": lambda name, x, *_: x,
            "_parameter": lambda name, x: x,
            "_number": lambda name, x: x,
            "_between": lambda *_: None,
            "_finite": lambda *_: None,
            "_cholesky": lambda name, matrix: self.mode.factor(matrix),
            "_known_factor": lambda name, matrix, *_: self.mode.factor(matrix),
            "_solve": solvers.solve,
            "_solve_lower": solvers.solve_lower,
            **solvers.meanings(program),
        }
        for name, f in functions.items():
            if name in program.names:
                program.names[name] = f
                self.helpers.add(name)
        methods: dict[str, Callable[..., Any]] = {
            "_gathered": lambda self: self.params,
            "_scatter": _scatter,
        }
        for name, f in methods.items():
            if hasattr(cls, name):
                setattr(cls, name, f)

    # claims ---------------------------------------------------------------------------
    def count_proofs(self) -> list[tuple[str, Proof]]:
        """The counter after the step is t; nothing else is left of the step."""
        out = []
        if self.count is not None:
            t = next((expr_of(self.value(q.name)) for q in self.rule.of("counter")), sp.S.One)
            proof = equal(expr_of(self.count), t, self.mode.domains, claim="steps are counted")
            out.append(("t", proof))
        if not self.tidy:
            claim = "noise and sums are cleared after the step"
            out.append(("pending", Proof("refuted", claim, "something is left after the step")))
        return out

    def kept(self, opt: Any) -> dict[str, Any]:
        """What the object keeps beside states, hyperparameters and parameters."""
        looked_up = ("_inputs", "_known")  # once, while the arrays stay
        known = {*self.matching.states, "params", "t", *looked_up}
        plain = (int, dict, str, type(None))
        return {
            k: dict(v) if isinstance(v, dict) else v for k, v in attributes(opt).items()
            if k.startswith("_") and k not in known and isinstance(v, plain)
        }  # fmt: skip

    def probe_proofs(self) -> list[tuple[str, Proof]]:
        """Where `draw` says the loss is to be probed."""
        if self.probe is None:
            return []
        known = reference.expanded(self.rule)
        last = self.probes[-1]
        proofs = [(last, self.mode.compare_expr(last, self.probe, known[last], self.program))]
        normal = all(self.rule[n].distribution == "N(0, 1)" for n in self.draws)
        if self.draws and normal and isinstance(self.mode, ArrayMode):
            program, opt, _ = self.built()
            noise = _Noise([self.value(n) for n in self.draws])  # or, compiled, by a key
            probe = program.call(opt.draw, noise)
            claim = f"{last}, with noise drawn"
            proofs.append((claim, self.mode.compare_expr(claim, probe, known[last], program)))
        return proofs

    def undrawn_proofs(self) -> list[tuple[str, Proof]]:
        """A class without `draw` leaves to others where the loss is probed."""
        wanted = self.probes[-1:] or self.draws
        if not wanted or self.drawing:
            return []
        return missing(wanted, "the class has no `draw`: where the loss is probed is its caller's")

    def posterior_proofs(self) -> list[tuple[str, Proof]]:
        """Mean and standard deviation, where the emitted checks can be decided."""
        known = dict(self.rule.posterior)
        if "precision" not in known or not isinstance(self.mode, ArrayMode):
            return []
        program, opt, _ = self.built()
        if not hasattr(opt, "posterior"):
            return []
        try:
            mean, deviation = program.call(opt.posterior)
        except CannotRun:  # its check that the precision is positive depends on the state
            return []
        wanted = (("posterior mean", mean, known["mean"]),
                  ("posterior deviation", deviation, 1 / sp.sqrt(known["precision"])))  # fmt: skip
        return [(n, self.mode.compare_expr(n, x, e, program)) for n, x, e in wanted]

    def halved_proofs(self) -> list[tuple[str, Proof]]:
        """Where the step is refused once, it is taken with half the step size."""
        rate = self.rule.halved
        if not rate:
            return []
        program, opt, params = self.built()
        step: Any = program.names.get("_step")
        refused: list[bool] = []

        def first() -> bool:
            refused.append(True)
            return len(refused) == 1

        def reluctant(*given: Any) -> Any:
            if first():
                raise ValueError("outside")
            return step(*given)

        if hasattr(type(opt), "_outside"):  # the trial has been written, and is undone
            type(opt)._outside = lambda self, only=None: int(first())
        else:
            program.names["_step"] = reluctant
        self.stepped(program, opt)
        values, known = self.after(opt, params), reference.next_states(self.rule)
        half = {self.rule[rate].symbol: self.rule[rate].symbol / 2}
        out = []
        for n in self.matching.states:
            proof = self.mode.compare(n, values[n], known[n].subs(half), program)
            out.append((f"{n}, refused once", proof))
        return out

    def averaged_proofs(self) -> list[tuple[str, Proof]]:
        """Two draws observed one by one, then a step: estimates and inputs are averaged."""
        if not self.draws or not isinstance(self.mode, ArrayMode):
            return []
        program, opt, params = self.built()
        if not hasattr(opt, "observe"):
            return []
        again = _second(self.rule)
        kept = self.kept(opt)
        for k in range(2):
            made = [_renamed(self.value(n), again if k else {}, self.mode) for n in self.draws]
            program.call(opt.draw, **dict(zip(self.draws, made, strict=True)))
            names = self.inputs(opt.observe)
            seen = [_renamed(self.value(n), again if k else {}, self.mode) for n in names]
            program.call(opt.observe, **dict(zip(names, seen, strict=True)))
        program.call(opt.step)
        values = self.after(opt, params)
        if self.kept(opt) != kept:
            claim = "sums are cleared after the step"
            return [("sums", Proof("refuted", claim, "something is left after the step"))]
        wanted = averaged(self.rule, again)
        second = {
            self.mode.elements.symbol(q, i).name + "_second": q.domain
            for q in self.rule.quantities for i in range(self.mode.count)
        }  # fmt: skip
        domains = {**self.mode.domains, **second}
        out = []
        for n in self.matching.states:
            actual = self.mode.outputs(values[n])
            claim = f"{n}_next, two draws averaged"
            if actual is None:
                out.append((n, Proof("refuted", claim, "the result has another shape")))
                continue
            right = _element(self.mode, wanted[n], again, 0)
            out.append((f"{n}, two draws", equal(actual[0], right, domains, claim=claim)))
        return out


def _exp_added(top: Any, share: Any, level: Any) -> tuple[Any, Any]:
    """Σ exp(level) so far, relative to exp(0): what the largest level is does not matter."""
    return Sym(sp.S.Zero), share + Sym(sp.exp(expr_of(level)))


def _scatter(self: Any, vector: Any) -> None:
    self.params[...] = vector


class _Noise(Keys):
    """A random generator that gives the rule's own standard normal symbols, in order."""

    def __init__(self, symbols: list[Any]) -> None:
        self.symbols = list(symbols)

    def standard_normal(self, *_: Any, **__: Any) -> Any:
        if not self.symbols:
            raise CannotRun("more noise is drawn than the rule has")
        return self.symbols.pop(0)


# two draws ----------------------------------------------------------------------------------
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


def averaged(rule: Rule, again: dict[Expr, Expr]) -> dict[str, Expr]:
    """State → next value, with inputs and estimates averaged over two draws."""
    half = sp.Rational(1, 2)
    known: dict[str, Expr] = {}
    inputs = {q.symbol: half * (q.symbol + again[q.symbol]) for q in rule.of("input")}
    for a in rule.assignments:
        e = plain(sp.sympify(a.expr))
        if a.stage == "update":
            e = e.xreplace(
                {**inputs, **{s: known[s.name] for s in e.free_symbols if s.name in known}}
            )
            known[a.name] = e
            continue
        e = e.xreplace({s: known[s.name] for s in e.free_symbols if s.name in known})
        known[a.name] = half * (e + e.xreplace(again)) if a.stage == "estimate" else e
    return {q.name: known.get(f"{q.name}_next", q.symbol) for q in rule.of("state")}


def _element(mode: Any, e: Expr, again: dict[Expr, Expr], i: int) -> Expr:
    """An averaged expression for element i, both draws."""
    second = {
        again[s]: _like(mode.elements.symbol(mode.quantity(s.name), i)) for s in again
    }  # fmt: skip
    return mode.elements.at(e, i).xreplace(second)
