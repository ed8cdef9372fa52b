"""Proving or refuting a step function that somebody wrote, from its source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from blrgen.core import Rule
from blrgen.decide.proof import Proof, Verdict
from blrgen.errors import UserError, did_you_mean
from blrgen.validate import reference
from blrgen.validate.later_step import later_call
from blrgen.validate.match import Matching, match, outcome, without
from blrgen.validate.misfit import missing
from blrgen.validate.symbolic.number import CannotRun
from blrgen.validate.symbolic.run import Program, signature

Expr = Any
MAX_BYTES = 1_000_000


def verify_file(
    path: str | Path,
    reference_rule: Rule,
    *,
    function: str = "step",
    mapping: Mapping[str, str] | None = None,
) -> Verdict:
    """Whether `function` in the file at `path` computes the rule: one proof a state."""
    path = Path(path)
    try:
        if path.stat().st_size > MAX_BYTES:
            raise UserError(f"{path} is too large to be a step function", where=str(path))
        source = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read {path}", why=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not text in UTF-8", why=str(error)) from error
    return verify_source(
        source, reference_rule, function=function, mapping=mapping or {}, path=str(path)
    )


def verify_source(
    source: str,
    rule: Rule,
    *,
    function: str = "step",
    mapping: Mapping[str, str] | None = None,
    path: str = "<step>",
    locate: bool = True,
    fallback: bool = True,
) -> Verdict:
    """As `verify_file`, for source text; `fallback` runs the real function when symbols fail."""
    from blrgen.validate.modes import modes_for

    mapping = mapping or {}
    _parse(source, function, path)
    reasons: list[str] = []
    for mode in modes_for(rule):
        try:
            run = Run(source, rule, mode, function, mapping, path)
            proofs = run.proofs()
        except CannotRun as error:
            reasons.append(str(error))
            continue
        left_out = run.matching.left_out(rule)
        verdict = Verdict(tuple(proofs), path, notes=tuple(run.notes()), left_out=left_out)
        if verdict.level == "refuted" and locate:
            from blrgen.validate.locate import located

            return located(verdict, run, source)
        return verdict
    if not fallback:
        raise CannotRun(reasons[0])
    from blrgen.validate.sampled import compare_numbers

    return compare_numbers(source, rule, function, mapping, path, reasons[0])


def _parse(source: str, function: str, path: str) -> None:
    """Refuse what is not Python or has no such function, before anything runs."""
    import ast

    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        raise UserError(
            f"{path} is not Python", where=f"{path}:{line}" if line else path,
            why=getattr(error, "msg", None) or str(error),
        ) from error  # fmt: skip
    functions = [n.name for n in tree.body if isinstance(n, ast.FunctionDef)]
    others = [
        t.id
        for n in tree.body
        if isinstance(n, ast.Assign)
        for t in n.targets
        if isinstance(t, ast.Name)
    ]
    if function not in functions + others:
        raise UserError(
            f"{path} has no function {function!r}", where=path,
            how=f"{did_you_mean(function, functions)}  --function NAME" if functions
            else "define one function `step`, or a class with a method `step`",
        )  # fmt: skip


class Run:
    """One run of the function in one mode, and what it gave."""

    def __init__(
        self,
        source: str,
        rule: Rule,
        mode: Any,
        function: str,
        mapping: Mapping[str, str],
        path: str,
    ) -> None:
        self.source, self.rule, self.mode = source, rule, mode
        self.function, self.mapping, self.path = function, mapping, path
        self.program, self.values, self.matching = self.execute()

    def execute(
        self, override: Callable[..., Any] | None = None
    ) -> tuple[Program, dict[str, Any], Matching]:
        """Run the function; with an override, with one line's value replaced."""
        program = Program(self.source, self.mode.domains, override)
        values, matching = self.called(program)
        return program, values, matching

    def called(self, program: Program) -> tuple[dict[str, Any], Matching]:
        """One call: state → what it is afterwards."""
        f = program.function(self.function)
        if f is None:
            raise CannotRun(f"no function {self.function}")
        matching = match(signature(f), self.rule, self.mapping, self.function, self.path)
        arguments = {theirs: self.mode.value(ours) for theirs, ours in matching.arguments}
        before = {n: self.mode.contents(arguments[theirs]) for theirs, n in matching.arguments}
        returned = program.call(f, **arguments)
        after = {n: arguments[theirs] for theirs, n in matching.arguments}
        changed = {n: not self.mode.same(before[n], self.mode.contents(after[n])) for n in after}
        try:
            values = outcome(returned, after, changed, matching, self.function)
        except UserError as error:
            if not error.how.startswith("return one next value") and self.mode.scalar:
                raise CannotRun(error.what) from error
            raise UserError(error.what, where=self.path, why=error.why, how=error.how) from error
        return values, matching

    def proofs(self) -> list[tuple[str, Proof]]:
        """One proof for each state that is an argument; what is proved holds for later calls."""
        found: list[tuple[str, Proof]] = self.mode.proofs(self)
        later = all(p.proved for _, p in found) and later_call(self)
        return [*found, *missing(["a later call"], later)] if later else found

    def notes(self) -> list[str]:
        """What a reader should know beside the proofs."""
        known = reference.next_states(self.rule)
        used = {s.name for n in self.matching.states for s in known[n].free_symbols}
        out = [
            f"{self.function} takes no {n}, on which the rule depends"
            for n in self.matching.missing if n in used
        ]  # fmt: skip
        states = self.matching.left_out(self.rule)
        if states:
            out.append(without(self.function, states))
        return out + sorted(set(self.program.decided)) + list(self.mode.notes)
