"""Translation validation: emitted source, run on symbols, computes the rule it was emitted for.

The step of the class is run (`emitted_run`) and the states after it are held against the
rule, then one claim after the other: where the loss is probed, two draws, a step refused
once, several arrays.  Rules of vectors whose components meet in sums are run with two
numbers of components, files that are made for one size at that size.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from blrgen.algebra.components import Component
from blrgen.core import Rule
from blrgen.decide.proof import LEVELS, Proof, Verdict
from blrgen.validate import reference
from blrgen.validate.averaged import averaged_proofs
from blrgen.validate.carried import carried_proofs
from blrgen.validate.claims import (
    count_proofs,
    first_proofs,
    halved_proofs,
    posterior_proofs,
    probe_proofs,
    undrawn_proofs,
)
from blrgen.validate.drawn_law import law_proofs
from blrgen.validate.emitted_run import EmittedRun
from blrgen.validate.joined import joined_proofs
from blrgen.validate.misfit import missing, not_run
from blrgen.validate.modes import COUNTS, ArrayMode, MatrixMode
from blrgen.validate.sized import SizedMode, sizes_of
from blrgen.validate.solvers import solver_proofs
from blrgen.validate.special import special_checks
from blrgen.validate.symbolic.number import CannotRun
from blrgen.validate.unchanged import untold_proofs

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
        (("t",), lambda: count_proofs(run)),
        (("first values",), lambda: first_proofs(run)),
        (run.matching.states, lambda: mode.proofs(run)),
        (("a step refused once",), lambda: mode.runs(lambda: halved_proofs(run))),
        (("draws",), lambda: undrawn_proofs(run)),
        *_helpers(source_text, rule),
    ]
    proofs = list(_with_memory(run, _proofs(parts, briefly=False), briefly=False))
    proofs += untold_proofs(source_text, run.helpers)
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
        (("t",), lambda: count_proofs(run)),
        (("first values",), lambda: first_proofs(run)),
        (run.probes[-1:], lambda: probe_proofs(run)),
        (run.matching.states, lambda: mode.proofs(run)),
        (("two draws",), lambda: averaged_proofs(run)),
        (("posterior",), lambda: posterior_proofs(run)),
        (("a step refused once",), lambda: halved_proofs(run)),
        (("several arrays",), lambda: joined_proofs(run)),
        (("draws",), lambda: undrawn_proofs(run)),
    ]
    if isinstance(mode, MatrixMode) and not briefly:
        parts += _helpers(source_text, rule)
    proofs = list(_with_memory(run, _proofs(parts, briefly), briefly))
    wrong, checked = ([], []) if briefly else special_checks(source_text)
    proofs += wrong
    if not briefly:
        proofs += untold_proofs(source_text, run.helpers)
    notes = [
        "the emitted helpers " + ", ".join(sorted(run.helpers)) + " keep their documented meaning"
    ] if run.helpers else []  # fmt: skip
    verdict = Verdict(tuple(proofs), notes=(*notes, *checked))
    if verdict.level == "refuted" and locate:
        from blrgen.validate.locate import located

        with suppress(CannotRun):
            return located(verdict, run, source_text)
    return verdict


def _helpers(source_text: str, rule: Rule) -> list[Part]:
    """What is claimed of the functions a file for matrices brings along."""
    return [
        (("the solvers",), lambda: solver_proofs(source_text)),
        (("the law of the draws",), lambda: law_proofs(source_text, rule)),
    ]


def _with_memory(
    run: EmittedRun, found: Iterable[tuple[str, Proof]], briefly: bool
) -> Iterable[tuple[str, Proof]]:
    """The rows, and what the class keeps; where a first step is wrong that says nothing."""
    refuted = False
    for row in found:
        refuted |= row[1].level == "refuted"
        yield row
    if not refuted:
        yield from _proofs([(("a later step",), lambda: carried_proofs(run))], briefly)


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
