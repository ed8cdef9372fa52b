"""All that is claimed of a derivation, proved: what `blrgen verify WHAT` runs.

* derived = the algorithm written by hand (tests/reference), state by state;
* every exact change of state on the way;
* emitted source = derived rule, for each target, by running that source on symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from blrgen.core import Derivation
from blrgen.decide.proof import Proof, Verdict, weakest
from blrgen.errors import UserError, did_you_mean
from blrgen.paths import data_dir
from blrgen.timing import timed
from blrgen.validate.changes import prove_changes
from blrgen.validate.verify_file import verify_file


@dataclass(frozen=True)
class Report:
    """Titled verdicts; the exit code is that of the weakest.  Notes say what was left out."""

    parts: tuple[tuple[str, Verdict], ...]
    notes: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        return weakest(v.level for _, v in self.parts)

    @property
    def proved(self) -> bool:
        return bool(self.parts) and all(v.proved for _, v in self.parts)

    @property
    def exit_code(self) -> int:
        return Proof(self.level, "").exit_code


def reference_file(name: str) -> Path:
    """The hand-written algorithm of that name."""
    folder = data_dir("reference")
    path = Path(folder) / f"{name.replace('-', '_')}.py"
    if not path.is_file():
        known = sorted(p.stem.replace("_", "-") for p in Path(folder).glob("*.py")
                       if not p.stem.startswith(("test_", "_")))  # fmt: skip
        raise UserError(
            f"there is no hand-written algorithm called {name!r}", how=did_you_mean(name, known)
        )
    return path


def prove_against(d: Derivation, name: str) -> Verdict:
    """Derived = hand-written, directly or through the recipe of that name and a map of names."""
    path = reference_file(name)
    if d.is_recipe and d.recipe is not None and d.recipe.name == name:
        return verify_file(path, d.rule)
    from blrgen.approximate.tools.road import derive
    from blrgen.identify import match_rules

    known = derive(name)
    match = match_rules(d, known, name)
    if match is None:
        return _refuted(d, known, name)
    by_hand = verify_file(path, known.rule)
    renamed = [f"{a} = {b}" for a, b in (*match.states, *match.hyper) if a != b]
    note = f"the derivation is the recipe {name}" + (
        f" with {', '.join(renamed)}" if renamed else ""
    )
    notes = (*by_hand.notes, note)
    return Verdict(by_hand.proofs, by_hand.path, notes=notes, left_out=by_hand.left_out)


def _refuted(d: Derivation, known: Derivation, name: str) -> Verdict:
    """Which states differ from the recipe's, with a point."""
    from blrgen.decide.equal import equal
    from blrgen.validate import reference

    ours, theirs = reference.next_states(d.rule), reference.next_states(known.rule)
    domains = {**reference.domains(known.rule), **reference.domains(d.rule)}
    proofs = []
    for state in sorted(set(ours) | set(theirs)):
        claim = f"{state}_next is that of {name}"
        if state in ours and state in theirs:
            proofs.append((state, equal(ours[state], theirs[state], domains, claim=claim)))
        else:
            who = "the derivation" if state in ours else name
            proofs.append((state, Proof("refuted", claim, f"only {who} has the state {state}")))
    if all(p.proved for _, p in proofs):
        why = "the loss is probed, drawn or started differently"
        proofs = [("probes", Proof("refuted", f"the rule is that of {name}", why))]
    return Verdict(tuple(proofs))


def verify_derivation(
    d: Derivation,
    *,
    against: str = "",
    targets: Sequence[str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> Report:
    """Everything that can be proved of one derivation; `sizes` as in `blrgen.emit.emit`."""
    if d.mixture is not None:
        from blrgen.validate.mixture.report import verify_mixture

        return verify_mixture(d, against=against, targets=targets)
    parts: list[tuple[str, Verdict]] = []
    own = d.recipe if d.is_recipe else None
    name = against or (own.name if own is not None else _identified(d))
    if name:
        by_hand = timed(f"prove against {name}", lambda x: prove_against(x, name), d)
        parts.append((f"derived = {name} as written by hand", by_hand))
    changes = timed("prove changes of state", prove_changes, d)
    if changes:
        named = tuple((p.claim, p) for p in changes)
        parts.append(("exact changes of state", Verdict(named)))
    from blrgen.emit import emit
    from blrgen.emit.targets import TARGETS, with_sizes

    notes = [] if name else ["no algorithm written by hand is known to be this rule"]
    known = with_sizes() if sizes else TARGETS
    for target in known if targets is None else targets:
        try:
            source = emit(d, target=target, sizes=sizes)
        except UserError as refusal:
            if sizes:  # asked for by whoever asked for the sizes
                raise
            notes.append(f"no {target} source: {refusal.what}")
            continue
        verdict = timed(f"prove the {target} source", _proving(target, d), source)
        parts.append((f"emitted {target} source = derived rule", verdict))
    return Report(tuple(parts), tuple(notes))


def _proving(target: str, d: Derivation) -> Callable[[str], Verdict]:
    return lambda source: _emitted(source, target, d)


def _emitted(source: str, target: str, d: Derivation) -> Verdict:
    """A class is run as one, a file without a class by its function `step`."""
    from blrgen.validate.emitted import verify_emitted
    from blrgen.validate.outline import class_name
    from blrgen.validate.verify_file import verify_source

    if class_name(source):
        return verify_emitted(source, d.rule)
    return verify_source(source, d.rule, path=f"<{target}>")


def _identified(d: Derivation) -> str:
    from blrgen.identify import identify

    matches = identify(d).matches
    return matches[0].name if matches else ""
