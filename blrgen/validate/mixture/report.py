"""All that is claimed of a mixture's rule: what `blrgen verify mixture:FAMILY` runs.

* with one component the rule is that of the family, or of the recipe that this is: identity;
* a component's step, given what is known of log q, is the one written by hand: proved;
* the weights move as the law of z does: identity;
* the derived program, interpreted, against the algorithm written by hand: numeric;
* the class of each target, run, against the derived program: numeric, which is no proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from blrgen.core import Derivation
from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict
from blrgen.errors import InternalError, UserError
from blrgen.paths import data_dir
from blrgen.program.axes.interpret import interpret
from blrgen.program.mixture.lower import MixtureProgram, lower_mixture
from blrgen.rule.mixture.candidate import WEIGHT
from blrgen.validate.derivation import Report
from blrgen.validate.mixture.data import cases
from blrgen.validate.mixture.one import one_component
from blrgen.validate.mixture.weights import weights_proof
from blrgen.validate.verify_file import verify_file

LIMIT = 1e-9
CLAIM = "{}_next is the same on random components, near and far apart"


def verify_mixture(
    d: Derivation, *, against: str = "", targets: Sequence[str] | None = None
) -> Report:
    """Everything that is compared, with its level."""
    name, one = one_component(d)
    if against and against != name:
        raise UserError(
            f"a mixture is held against what it is with one component, {name}, not {against}",
            where=f"blrgen verify {d.family.name}", how="leave --against out",
        )  # fmt: skip
    parts = [(f"one component = {name}", one)]
    notes = []
    own = component_by_hand(d)
    if own is not None:
        parts.append(("a component, log q known = as written by hand", own))
    assert d.mixture is not None
    if d.mixture.learned:
        parts.append(("weights = the rule of z", Verdict(((("pi"), weights_proof(d)),))))
    try:
        program = lower_mixture(d)
    except UserError as refusal:
        return Report(tuple(parts), (f"no class: {refusal.what}",))
    hand = getattr(_module(d), _road(d), None)
    if hand is None:
        notes.append("no algorithm written by hand is known to be this rule")
    else:
        parts.append(("derived = mixture as written by hand", _against_hand(program, hand)))
    from blrgen.emit.model.kernels import TARGETS

    for target in TARGETS if targets is None else targets:
        parts.append((f"emitted {target} class = derived", _against_class(d, program, target)))
    notes.append("what computes log q is run, not proved: equal numbers are no proof")
    return Report(tuple(parts), tuple(notes))


def component_by_hand(d: Derivation) -> Verdict | None:
    """The rule of a component, what is known of log q given, against the one written by hand."""
    function = f"component_{_road(d)}"
    if not hasattr(_module(d), function):
        return None
    own = {f"{WEIGHT}_next", "w"}
    made = tuple(a for a in d.rule.assignments if a.name not in own)
    read = {s.name for a in made for s in a.expr.free_symbols} | {
        a.name.removesuffix("_next") for a in made
    }
    quantities = tuple(
        replace(q, kind="input") if q.kind == "known" else q
        for q in d.rule.quantities if q.name in read
    )  # fmt: skip
    rule = replace(d.rule, quantities=quantities, assignments=made)
    return replace(verify_file(_path(d), rule, function=function), path="")


def _road(d: Derivation) -> str:
    """The approximations as the name of a function by hand; the weights are an argument."""
    flags = [f"{f}_{o}" if o else f for f, o in d.approximations if f != "fixed-weights"]
    return "_".join(flags).replace("-", "_")


def _path(d: Derivation) -> Path:
    name = d.geometry.family.name.replace("-", "_")
    return Path(data_dir("reference")) / "mixtures" / f"{name}.py"


def _module(d: Derivation) -> Any:
    """The module of tests/reference/mixtures for this family, if there is one."""
    path = _path(d)
    if not path.is_file():
        return None
    name = path.stem
    spec = spec_from_file_location(f"by_hand_{name}", path)
    if spec is None or spec.loader is None:
        raise InternalError(f"{path} cannot be loaded")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _against_hand(program: MixtureProgram, hand: Any) -> Verdict:
    gaps: dict[str, float] = {}
    for values in cases(program):
        ours = interpret(program.program, values)
        given = [values.get(x) for x in _order(program)]
        theirs = hand(*given, **{q.name: values[q.name] for q in program.hypers})
        for x, value in zip(program.states, theirs, strict=True):
            if f"{x.name}_next" in ours:
                _worst(gaps, x.name, ours[f"{x.name}_next"], value)
    return _verdict(gaps)


def _order(program: MixtureProgram) -> list[str]:
    """Arguments of what is written by hand: states, then inputs; l may be missing."""
    inputs = [x.name for x in program.inputs]
    return [*(x.name for x in program.states), *inputs, *(["l"] if "l" not in inputs else [])]


def _against_class(d: Derivation, program: MixtureProgram, target: str) -> Verdict:
    from blrgen.emit import emit
    from blrgen.emit.compile import compile_class

    kind: Any = compile_class(emit(d, target))
    gaps: dict[str, float] = {}
    for values in cases(program):
        wanted = interpret(program.program, values)
        given = {x.name: values[x.name] for x in program.states if x.first}
        hyper = {q.name: values[q.name] for q in program.hypers}
        opt = kind(*(values[x.name] for x in program.states if not x.first), **given, **hyper)
        try:
            opt.step(*(values[x.name] for x in program.inputs))
        except ValueError as refusal:
            if _outside(program, wanted):
                continue
            claim = "a step that stays inside is taken"
            return Verdict((("step", Proof("refuted", claim, str(refusal))),))
        for x in program.states:
            if f"{x.name}_next" in wanted:
                _worst(gaps, x.name, getattr(opt, x.name), wanted[f"{x.name}_next"])
    return _verdict(gaps)


def _outside(program: MixtureProgram, wanted: dict[str, Any]) -> bool:
    """Whether a next value of the derived program is outside of its domain."""
    for x in program.states:
        value = wanted.get(f"{x.name}_next")
        if value is None:
            continue
        if x.domain == "SPD" and (np.linalg.eigvalsh(value) <= 0).any():
            return True
        if x.domain == "(0, oo)" and (value <= 0).any():
            return True
    return False


def _worst(gaps: dict[str, float], name: str, ours: Any, theirs: Any) -> None:
    gap = float(np.max(np.abs(ours - theirs)) / (1 + np.max(np.abs(theirs))))
    gaps[name] = max(gaps.get(name, 0.0), gap if np.isfinite(gap) else np.inf)


def _verdict(gaps: dict[str, float]) -> Verdict:
    """A row a state."""
    rows = []
    for name, gap in gaps.items():
        good = gap < LIMIT
        how = f"equal to {gap:.0e}" if good else f"they differ by {gap:.2g} of their size"
        rows.append((name, Proof("numeric" if good else "refuted", CLAIM.format(name), how)))
    return Verdict(tuple(rows) or (("step", Proof(NOT_COMPARED, "a step", "none was taken")),))
