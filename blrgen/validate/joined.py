"""Emitted functions that run kernels on all arrays in one call, run on symbols.

An address is the array itself, the piece of an array at an address is a view of it, and the
noise functions give the rule's own symbols: that is their documented meaning.  How stretches,
blocks and pieces are walked is run as it is written, with blocks of one element, so that
every part of it is passed through.
"""

from __future__ import annotations

import bisect
import itertools
from typing import TYPE_CHECKING, Any

from blrgen.decide.equal import equal
from blrgen.decide.proof import Proof
from blrgen.validate import reference
from blrgen.validate.modes import ArrayMode
from blrgen.validate.symbolic import linalg
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.number import CannotRun, Sym
from blrgen.validate.symbolic.stand_ins import Generator

if TYPE_CHECKING:
    from blrgen.validate.emitted_run import EmittedRun
    from blrgen.validate.symbolic.run import Program

# so that every part of a walk is passed through
WALKED = {"FEW": 0, "THREADED": 1, "BLOCK": 1, "PORTION": 1}
NOISE = ("_standard_normal", "_logistic", "_uniform")


class Keys(Generator):
    """A random generator that gives keys of noise."""

    def integers(self, *_: Any, **__: Any) -> int:
        return 0


def give_joined(program: Program, noise: list[list[Any]]) -> set[str]:
    """Give addresses and noise their meaning; `noise` has the elements of each draw."""
    if "_addresses" not in program.names:
        return set()
    given: dict[str, Any] = {
        "_addresses": _Table,
        "_view": lambda x, start, size, like: x.reshape(-1)[start : start + size],
        "_groups": _groups,
        "_laid": _laid,
        "_holders": lambda arrays: 0,
        "_which": lambda ends, first: bisect.bisect_right(ends, first) - 1,
        "get_num_threads": lambda: 3,
    }
    if "_random_words" in program.names:  # noise is made in compiled code
        given |= {name: _filler(noise) for name in program.names if _makes_noise(name)}
    for name, f in given.items():
        program.names[name] = f
    return set(given) - {"get_num_threads"}


def _makes_noise(name: str) -> bool:
    return name in NOISE or any(name.startswith(f"{x}_") for x in NOISE)


class _Table:
    """The arrays in rows, where the emitted file has their addresses."""

    def __init__(self, _: Any, key: Any, rows: Any) -> None:
        self.rows = [list(arrays) for arrays in rows]

    def __getitem__(self, place: tuple[int, int]) -> Any:
        row, column = place
        return self.rows[row][column]


def _laid(like: Any, place: int, values: Any = 0.0) -> list[Any]:
    """New arrays as large as others: their own values, or the same number everywhere."""
    made = [linalg.like(x, 0) for x in like]
    given = values if isinstance(values, list) else [values] * len(made)
    for x, value in zip(made, given, strict=True):
        x[...] = value
    return made


def _groups(arrays: Any) -> list[Any]:
    ends = _Ends([0, *itertools.accumulate(int(x.size) for x in arrays)])
    return [(slice(None), ends, arrays[0][:0], ends[-1])]


class _Ends(list[int]):
    """Where each array ends, as whole numbers of Python."""

    @property
    def size(self) -> int:
        return len(self)


def _filler(noise: list[list[Any]]) -> Any:
    def filled(out: Any, _: Any, key: Any, stream: int, first: int) -> None:
        if stream >= len(noise):
            raise CannotRun("more noise is drawn than the rule has")
        for i in range(min(out.size, len(noise[stream]) - first)):
            out[i] = noise[stream][first + i]

    return filled


def joined_proofs(run: EmittedRun) -> list[tuple[str, Proof]]:
    """The same step on arrays that are split in two, in one call, with blocks of one element.

    One array with threads may have a function of its own.
    """
    if not isinstance(run.mode, ArrayMode) or "_addresses" not in run.program.names:
        return []
    out = _alike(run, "joined", "all arrays in one call", run.built(many=True))
    if "_step_threads" in run.program.names:
        program, opt, params = run.built()
        program.names |= WALKED
        opt._joined, opt._threads = True, 3
        out += _alike(run, "with threads", "one array with threads", (program, opt, params))
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
    if not run.draws or not run.probes or "_step_draw" not in run.program.names:
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
