"""All that is claimed of a model's algorithm: what `blrgen verify FILE.model FLAG` runs.

* every block, multiplied back, gives the log joint: identity;
* every update is where the objective rests: identity, for points that are solved in closed form;
* a Gaussian chain's elimination, and Kalman's gain form: random-exact, in a prime field, at
  several lengths;
* the class of each target, run on small random data against q's and slopes computed anew:
  numeric; then on random numbers of a tower of prime fields: random-exact, which is a proof;
* the same against an algorithm written by hand, where there is one for this model: numeric.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict, weakest
from blrgen.decide.towers import NoMeaning
from blrgen.emit.compile import compile_class
from blrgen.emit.model.file import text
from blrgen.emit.model.kernels import TARGETS
from blrgen.errors import InternalError, UserError
from blrgen.program.model.lower import EXACT, lower
from blrgen.program.model.values import ModelProgram
from blrgen.rule.model.values import ModelDerivation
from blrgen.timing import timed
from blrgen.validate.derivation import Report
from blrgen.validate.model.blocks import prove_blocks
from blrgen.validate.model.data import drawn
from blrgen.validate.model.draws import compare_draws
from blrgen.validate.model.emitted import compare, compare_filter
from blrgen.validate.model.exact import prove
from blrgen.validate.model.forms import prove_forms
from blrgen.validate.model.stationary import prove_points, prove_updates

Proofs = tuple[tuple[str, Proof], ...]
BACK = "the log joint = its blocks, multiplied back"
FORMS = "elimination = gain form of the Kalman filter"
REST = "update = where the objective rests"
CLASS = "emitted {} class = derived updates"


def verify_model(d: ModelDerivation, *, targets: Sequence[str] | None = None) -> Report:
    """Everything that is compared, with its level; the weakest one is the report's."""
    back = timed("multiply blocks back", prove_blocks, d)
    resting = (*timed("prove updates", prove_updates, d), *timed("prove points", prove_points, d))
    classes = [
        (CLASS.format(target), Verdict(timed(f"compare the {target} class", _comparing(target), d)))
        for target in (TARGETS if targets is None else targets)
    ]
    shown = {n for _, v in classes for n, p in v.proofs if p.level != NOT_COMPARED}
    solved = [n for n, p in resting if p.level == NOT_COMPARED and n in shown]
    rest = Verdict(tuple((n, p) for n, p in resting if n not in solved))
    forms = timed("compare Kalman's forms", prove_forms, d) if d.algorithm in EXACT else ()
    parts = [(BACK, Verdict(back)), (REST, rest), (FORMS, Verdict(forms)), *classes]
    notes = [f"{n} is solved in numbers: its slope is shown in numbers alone" for n in solved]
    return Report(tuple((t, v) for t, v in parts if v.proofs), (*notes, *_notes(parts)))


def _comparing(target: str) -> Callable[[ModelDerivation], Proofs]:
    return lambda d: of_target(d, target)


def of_target(d: ModelDerivation, target: str) -> Proofs:
    """One target's class; what cannot be run says why."""
    claim = "a step is that of the derived updates"
    try:
        program = lower(d)
        source = text(program, target)
    except (UserError, InternalError) as refusal:
        return (("class", Proof(NOT_COMPARED, claim, f"no class: {first_line(refusal)}")),)
    return run(d, program, source, claim)


def run(d: ModelDerivation, program: ModelProgram, source: str, claim: str) -> Proofs:
    """The class of a source on small random data."""
    if d.along and d.model.plate(d.along).outer:
        why = f"a step of --{d.algorithm} takes other arguments than are tried here"
        return (("class", Proof(NOT_COMPARED, claim, why)),)
    try:
        kind, data = compile_class(source), drawn(d.model, program)
        if program.draws:
            return compare_draws(d, program, kind, data)
        if program.filter is not None:
            found = compare_filter(d, program, kind, data)
        else:
            found = compare(d, program, kind, data)
        return (
            found
            if weakest(p.level for _, p in found) != "numeric"
            else exactly(d, program, source, found)
        )
    except KeyError as missing:
        why = f"{missing.args[0]} has no value by plain loops"
    except (np.linalg.LinAlgError, ArithmeticError, InternalError) as trouble:
        why = f"plain loops do not go through: {trouble}"
    return (("class", Proof(NOT_COMPARED, claim, why)),)


def exactly(d: ModelDerivation, program: ModelProgram, source: str, found: Proofs) -> Proofs:
    """The same on numbers of a tower of prime fields, which is a proof; else as it was found."""
    if d.sites:  # expectations that are found in numbers have no value in a field
        return found
    try:
        proofs = dict(prove(d, program, source))
    except NoMeaning as trouble:
        return tuple((n, replace(p, detail=f"{p.detail}; {trouble}")) for n, p in found)
    numeric = dict(found)
    stronger = {n: p if p.proved else numeric.get(n, p) for n, p in proofs.items()}
    return tuple((numeric | stronger).items())


def first_line(error: Exception) -> str:
    """What an error says first."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _notes(parts: Sequence[tuple[str, Verdict]]) -> list[str]:
    levels = {p.level for _, v in parts for _, p in v.proofs}
    notes = []
    if "numeric" in levels:
        notes.append("what is numeric was run, not proved: equal numbers are no proof")
    if "random-exact" in levels:
        notes.append("of classes, objective, step and posteriors of single elements are compared; "
                     "pairs, paths, predictions and draws are not")  # fmt: skip
    return notes
