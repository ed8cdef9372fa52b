"""Emitted functions that run kernels on stretches of arrays, run on symbols.

The noise functions give the rule's own symbols: that is their documented meaning.  How arrays,
stretches and blocks are walked is run as it is written, with blocks of one element, so that
every part of it is passed through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from blrgen.decide.equal import equal
from blrgen.decide.proof import Proof
from blrgen.validate import reference
from blrgen.validate.modes import ArrayMode
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.number import CannotRun, Sym
from blrgen.validate.symbolic.stand_ins import Generator

if TYPE_CHECKING:
    from blrgen.validate.emitted_run import EmittedRun
    from blrgen.validate.symbolic.run import Program

# so that every part of a walk is passed through
WALKED = {"THREADED": 1, "BLOCK": 1, "PORTION": 1}
NOISE = ("_standard_normal_block", "_logistic_block", "_uniform_block")


class Keys(Generator):
    """A random generator that gives keys of noise."""

    def integers(self, *_: Any, **__: Any) -> int:
        return 0


def give_joined(program: Program, noise: list[list[Any]]) -> set[str]:
    """Give noise its meaning, and threads; `noise` has the elements of each draw."""
    if "get_num_threads" in program.names:
        program.names["get_num_threads"] = lambda: 3
    made = {name for name in NOISE if name in program.names}
    for name in made:
        program.names[name] = _filler(noise)
    return made


def _filler(noise: list[list[Any]]) -> Any:
    def filled(out: Any, _: Any, key: Any, stream: int, first: int, *law: Any) -> None:
        if stream >= len(noise):
            raise CannotRun("more noise is drawn than the rule has")
        for i in range(min(out.size, len(noise[stream]) - first)):
            out[i] = noise[stream][first + i]

    return filled


def joined_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """The same step on two arrays, and with threads, on stretches of one element."""
    if not isinstance(run.mode, ArrayMode) or "get_num_threads" not in run.program.names:
        return []
    out = _alike(run, "joined", "of several arrays", run.built(many=True))
    program, opt, params = run.built()
    program.names |= WALKED
    out += _alike(run, "with threads", "of one array with threads", (program, opt, params))
    return out + _again(run)


def _alike(
    run: EmittedRun, name: str, how: str, built: tuple[Program, Any, Any]
) -> list[tuple[str, Proof]]:
    """The states after a step that goes another way."""
    program, opt, params = built
    run.stepped(program, opt)
    values, known = run.after(opt, params), reference.next_states(run.rule)
    out = []
    for n in run.matching.states:
        claim = f"{n}_next, {how}"
        if run.mode.same(_flat(values[n]), _flat(run.values[n])):
            out.append((f"{n}, {name}", Proof("identity", claim, "the same expressions")))
            continue
        proof = run.mode.compare_expr(claim, _flat(values[n]), known[n], program)
        out.append((f"{n}, {name}", proof))
    return out


def _again(run: EmittedRun) -> list[tuple[str, Proof]]:
    """A step that draws again in the same pass: the states, and where the next draw is."""
    if not run.draws or not run.probes or "_both_anew" not in run.program.names:
        return []
    program, opt, params = run.built(many=True)
    program.call(opt.draw, **{n: run.split(run.value(n)) for n in run.draws})
    inputs = {n: run.split(run.value(n)) for n in run.inputs(opt.step)}
    again = [[Sym(x) for x in _second(run, n)] for n in run.draws]
    run.helpers |= give_joined(program, again)
    probe = program.call(opt.step, **inputs, rng=Keys())
    values, known = run.after(opt, params), reference.next_states(run.rule)
    out = []
    for n in run.matching.states:
        claim = f"{n}_next, drawing again"
        proof = run.mode.compare_expr(claim, _flat(values[n]), known[n], program)
        out.append((f"{n}, drawing again", proof))
    return [*out, _next_probe(run, _flat(probe))]


def _second(run: EmittedRun, name: str) -> list[Any]:
    import sympy as sp

    return [sp.Symbol(f"{name}_again_{i}", real=True) for i in range(run.mode.count)]


def _next_probe(run: EmittedRun, probe: Any) -> tuple[str, Proof]:
    """θ⁺ is the probe point of the next states, with the next draw's noise."""
    last = run.probes[-1]
    at, known = reference.expanded(run.rule)[last], reference.next_states(run.rule)
    claim = f"{last} of the next draw"
    elements, found = run.mode.elements, run.mode.outputs(probe)
    proof = Proof("identity", claim)
    for i, actual in enumerate(found or []):
        swap = {
            elements.symbol(run.rule[n], i): elements.at(known[n], i) for n in run.matching.states
        }
        swap |= {elements.symbol(run.rule[n], i): _second(run, n)[i] for n in run.draws}
        wanted = elements.at(at, i).xreplace(swap)
        proof = equal(actual, wanted, run.mode.domains, claim=claim)
        if not proof.proved:
            break
    if found is None:
        proof = Proof("refuted", claim, "the result has another shape")
    return last, proof


def _flat(value: Any) -> Any:
    """One array of what may be several."""
    if isinstance(value, list | tuple):
        return array([x for piece in value for x in piece.reshape(-1)])
    return value
