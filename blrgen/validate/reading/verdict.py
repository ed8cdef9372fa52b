"""From a file to a verdict: read, match, prove for every length, else at sizes, then run."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from blrgen.core import Rule
from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict, weakest
from blrgen.errors import UserError
from blrgen.limits import CODE_BYTES
from blrgen.paths import text_of
from blrgen.validate import reference
from blrgen.validate.match import without
from blrgen.validate.reading.limits import TooMuch, bounded
from blrgen.validate.reading.module import parsed
from blrgen.validate.reading.ranks import Ranks, Shown
from blrgen.validate.reading.signals import Refused


def verify_file(
    path: str | Path, rule: Rule, *, function: str = "step",
    mapping: Mapping[str, str] | None = None, run: bool = True,
) -> Verdict:  # fmt: skip
    """Whether `function` in the file at `path` computes the rule: one proof a state."""
    path = Path(path)
    source = text_of(path, CODE_BYTES)
    return verify_source(source, rule, function=function, mapping=mapping, path=str(path), run=run)


def verify_source(
    source: str, rule: Rule, *, function: str = "step", mapping: Mapping[str, str] | None = None,
    path: str = "<step>", locate: bool = True, run: bool = True,
) -> Verdict:  # fmt: skip
    """As `verify_file`, for source text; `run` also runs what is proved."""
    nothing = Reading(source, ast.Module([], []), rule, function, mapping or {}, path)
    try:
        tree = parsed(source, function, path)
    except Refused as error:
        return nothing.refused(error)
    reading = Reading(source, tree, rule, function, mapping or {}, path)
    try:
        with bounded():
            return _verified(reading, locate=locate, run=run)
    except TooMuch as error:
        return reading.refused(Refused(f"a function that takes {error} to read,", reading.line))


def _verified(reading: Reading, *, locate: bool, run: bool) -> Verdict:
    """The verdict, whatever ends the reading."""
    try:
        verdict = reading.verdict()
    except Refused as error:
        return reading.refused(error)
    except RecursionError:
        return reading.refused(Refused("an expression nested too deep", 1))
    except UserError:
        raise
    except Exception as error:  # whatever the code is, no traceback: it is not compared
        what = f"what ended the reading with {type(error).__name__},"
        return reading.refused(Refused(what, reading.line))
    if verdict.level == "refuted" and locate:
        from blrgen.validate.reading.lines import located

        return located(verdict, reading)
    if verdict.proved and run:
        from blrgen.validate.reading.run import tested

        return tested(verdict, reading)
    return verdict


class Reading(Ranks):
    """All that is found of one file and one rule."""

    def verdict(self) -> Verdict:
        """All ranks, all paths; the weakest counts."""
        self.matched()
        if self.matrix:
            from blrgen.validate.reading.matrices import shown

            found = [shown(self)]
        elif reference.is_coupled(self.rule):
            found = [self.coupled()]
        else:
            found = self.ranks()
        taken = [s for s in found if s.taken]
        if not taken:
            raise Refused(
                "a function on which Python raises for every rank",
                self.f.node.lineno if self.f else 0,
            )
        proofs = [(n, _weakest(n, taken)) for n in self.matching.states]
        proofs += self._lacking()
        notes = [*self._notes(), *sorted(self.notes)]
        if not self.matrix and all(p.proved for _, p in proofs):
            notes.insert(0, _covered(taken))
        if self.construct and all(p.level != "refuted" for _, p in proofs):
            notes += self.refused(self.construct).notes
        left_out = self.matching.left_out(self.rule)
        return Verdict(tuple(proofs), self.path, notes=tuple(notes), left_out=left_out)

    def _lacking(self) -> list[tuple[str, Proof]]:
        """States that the function does not have, unless nothing of the rule reads them."""
        out = []
        known = reference.next_states(self.rule)
        for n in self.matching.left_out(self.rule):
            if any(s.name == n for e in known.values() for s in e.free_symbols):
                why = f"{self.function} has no argument for it, and the rule reads it"
                out.append((n, Proof(NOT_COMPARED, f"{n}_next", why)))
        return out

    def _notes(self) -> list[str]:
        known = reference.next_states(self.rule)
        used = {s.name for n in self.matching.states for s in known[n].free_symbols}
        out = [f"{self.function} takes no {n}, on which the rule depends"
               for n in self.matching.missing if n in used]  # fmt: skip
        states = self.matching.left_out(self.rule)
        if states:
            out.append(without(self.function, states))
        return out


def _weakest(state: str, shown: list[Shown]) -> Proof:
    """The weakest proof of a state over all ranks, with what it covers."""
    proofs = [p for s in shown for p in s.proofs.get(state, [])]
    if not proofs:
        return Proof(NOT_COMPARED, f"{state}_next", "no path gives it a value")
    level = weakest(p.level for p in proofs)
    out = next(p for p in proofs if p.level == level)
    sizes = sorted({s.sizes for s in shown if s.sizes})
    if out.proved and sizes:
        return replace(out, detail=f"{out.detail}; at {sizes[-1]}", sizes=sizes[-1])
    return replace(out, sizes=out.sizes or "every length") if out.proved else out


def _covered(shown: list[Shown]) -> str:
    """Which ranks and lengths were proved."""
    every = [str(s.rank) for s in shown if not s.sizes and s.rank]
    parts = []
    if every:
        parts.append(f"for every length, rank{'s' if len(every) > 1 else ''} {' and '.join(every)}")
    parts += [f"at {s.sizes} for rank {s.rank}" for s in shown if s.sizes]
    if any(s.rank == 0 for s in shown):
        parts.append("for single numbers")
    return "proved " + ", ".join(parts)
