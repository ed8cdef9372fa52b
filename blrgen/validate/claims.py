"""What is claimed of an emitted class beside the states after its step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import sympy as sp

from blrgen.decide.equal import equal
from blrgen.decide.functions import plain
from blrgen.decide.proof import Proof
from blrgen.validate import reference
from blrgen.validate.joined import Keys
from blrgen.validate.misfit import missing
from blrgen.validate.modes import ArrayMode, FieldMode
from blrgen.validate.symbolic.number import CannotRun, expr_of

if TYPE_CHECKING:
    from blrgen.validate.emitted_run import EmittedRun


def count_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """The counter after the step is t; nothing else is left of the step."""
    out = []
    if run.count is not None:
        t = next((expr_of(run.value(q.name)) for q in run.rule.of("counter")), sp.S.One)
        proof = equal(expr_of(run.count), t, run.mode.domains, claim="steps are counted")
        out.append(("t", proof))
    if not run.tidy:
        claim = "noise and sums are cleared after the step"
        out.append(("pending", Proof("refuted", claim, "something is left after the step")))
    return out


def first_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """The states that start as something else than the rule says."""
    program, opt, params = run.fresh()
    there = {n for n in run.matching.states if getattr(opt, n, None) is not None}
    values = run.after(opt, params, there - {run.parameters})
    out = []
    for n, value in values.items():
        init = run.rule[n].init
        if init is None:
            continue
        claim, wanted = f"the first {n}", plain(sp.sympify(init))
        if isinstance(run.mode, FieldMode):
            same = run.mode.matches(value, wanted)
            proof = Proof("random-exact" if same else "refuted", claim, f"the rule says {init}")
        else:
            proof = run.mode.compare_expr(claim, value, wanted, program)
        if not proof.proved:
            out.append((claim, proof))
    return out


def probe_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """Where `draw` says the loss is to be probed."""
    if run.probe is None:
        return []
    known = reference.expanded(run.rule)
    last = run.probes[-1]
    proofs = [(last, run.mode.compare_expr(last, run.probe, known[last], run.program))]
    normal = all(run.rule[n].distribution == "N(0, 1)" for n in run.draws)
    if run.draws and normal and isinstance(run.mode, ArrayMode):
        program, opt, _ = run.built()
        noise = _Noise([run.value(n) for n in run.draws])  # or, compiled, by a key
        probe = program.call(opt.draw, noise)
        claim = f"{last}, with noise drawn"
        proofs.append((claim, run.mode.compare_expr(claim, probe, known[last], program)))
    return proofs


def undrawn_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """A class without `draw` leaves to others where the loss is probed."""
    wanted = run.probes[-1:] or run.draws
    if not wanted or run.drawing:
        return []
    return missing(wanted, "the class has no `draw`: where the loss is probed is its caller's")


def posterior_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """Mean and standard deviation, where the emitted checks can be decided."""
    known = dict(run.rule.posterior)
    if "precision" not in known or not isinstance(run.mode, ArrayMode):
        return []
    program, opt, _ = run.built()
    if not hasattr(opt, "posterior"):
        return []
    try:
        mean, deviation = program.call(opt.posterior)
    except CannotRun:  # its check that the precision is positive depends on the state
        return []
    wanted = (("posterior mean", mean, known["mean"]),
              ("posterior deviation", deviation, 1 / sp.sqrt(known["precision"])))  # fmt: skip
    return [(n, run.mode.compare_expr(n, x, e, program)) for n, x, e in wanted]


def halved_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """Where the step is refused once, it is taken with half the step size."""
    rate = run.rule.halved
    if not rate:
        return []
    program, opt, params = run.built()
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
    run.stepped(program, opt)
    values, known = run.after(opt, params), reference.next_states(run.rule)
    half = {run.rule[rate].symbol: run.rule[rate].symbol / 2}
    out = []
    for n in run.matching.states:
        proof = run.mode.compare(n, values[n], known[n].subs(half), program)
        out.append((f"{n}, refused once", proof))
    return out


class _Noise(Keys):
    """A random generator that gives the rule's own standard normal symbols, in order."""

    def __init__(self, symbols: list[Any]) -> None:
        self.symbols = list(symbols)

    def standard_normal(self, *_: Any, **__: Any) -> Any:
        if not self.symbols:
            raise CannotRun("more noise is drawn than the rule has")
        return self.symbols.pop(0)
