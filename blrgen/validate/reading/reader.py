"""One file held against one rule: its function, read afresh, matched and called."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from blrgen.core import Rule
from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict
from blrgen.validate import reference
from blrgen.validate.match import Matching, match
from blrgen.validate.reading import arguments, calls
from blrgen.validate.reading.graph import Graph
from blrgen.validate.reading.machine import Bounds, Machine
from blrgen.validate.reading.module import check_text, module
from blrgen.validate.reading.signals import NeedsSizes, Refused
from blrgen.validate.reading.values import Function

READS = "what verify reads: docs/verify.md"


class Reader:
    """One file held against one rule."""

    def __init__(
        self, source: str, tree: ast.Module, rule: Rule, function: str,
        mapping: Mapping[str, str], path: str,
    ) -> None:  # fmt: skip
        self.source, self.tree, self.rule = source, tree, rule
        self.function, self.mapping, self.path = function, mapping, path
        self.graph = Graph()
        self.numbers = sorted(set(_numbers(tree)))
        self.matrix = reference.is_matrix(rule)
        self.matching = Matching((), (), ())
        self.notes: set[str] = set()
        self.element: Any = None
        self.judge: Any = None  # of a matrix rule
        self.wrong: Any = None  # (machine, outcome) of a path that is refuted
        self.f: Function | None = None
        self.construct: Refused | None = None

    @property
    def line(self) -> int:
        """Where the reading is."""
        return self.graph.line

    # calls ---------------------------------------------------------------------------------
    def machine(self, *, generic: bool, given: Sequence[bool] = (), bounds: Bounds | None = None,
                decide: Any = None, oracle: Any = None) -> Machine:  # fmt: skip
        return Machine(self.graph, generic, decide or (lambda c: None), self.matrix, oracle,
                       list(given), bounds=bounds or Bounds())  # fmt: skip

    def matched(self) -> None:
        """Which argument is which quantity of the rule."""
        check_text(self.source, self.tree)
        f = self.of_file(self.machine(generic=False))
        self.f = f
        self.matching = match(
            arguments.signature(f), self.rule, self.mapping, self.function, self.path
        )

    def of_file(self, mc: Machine) -> Function:
        """The function, from the file read afresh: every call is the first."""
        scope = module(mc, self.tree)
        f = scope.names[self.function]
        if not isinstance(f, Function):
            raise Refused(f"{self.function}, which is no function", 1)
        return f

    def call(self, mc: Machine, made: Any) -> arguments.Outcome:
        """One call on arguments of one kind."""
        f = self.of_file(mc)
        theirs = {name: made.value(ours) for name, ours in self.matching.arguments}
        given = {ours: theirs[name] for name, ours in self.matching.arguments}
        before = {n: arguments.contents(x) for n, x in given.items()}
        mc.records.clear()
        count = arguments.positional_only(f)
        names = [x.arg for x in f.node.args.posonlyargs]
        first = [theirs.pop(n) for n in names[:count]] if all(n in theirs for n in names) else []
        result = calls.call(mc, f, first, theirs)
        self.notes |= mc.notes
        return arguments.Outcome(mc, given, before, result, self.matching, self.function)

    def refused(self, error: Refused | NeedsSizes) -> Verdict:
        """Not compared: the line and the construct."""
        states = self.matching.states or tuple(q.name for q in self.rule.of("state"))
        rows = self.source.splitlines()
        text = rows[error.line - 1].strip() if 0 < error.line <= len(rows) else ""
        name = Path(self.path).name
        why = f"{name}:{error.line}: {error.what} has no meaning here"
        proofs = tuple(
            (n, Proof(NOT_COMPARED, f"{n}_next", why, line=error.line, construct=error.what))
            for n in states
        )
        notes = (f"line {error.line}: {text}", READS) if text else (READS,)
        return Verdict(proofs, self.path, notes=notes)


def _numbers(tree: ast.Module) -> Iterable[Fraction]:
    """The numbers of a file, for points at which code may have been singled out."""
    for n in ast.walk(tree):
        if (
            isinstance(n, ast.Constant)
            and isinstance(n.value, int | float)
            and not isinstance(n.value, bool)
        ) and abs(n.value) < 10**12:
            yield Fraction(repr(n.value)) if isinstance(n.value, float) else Fraction(n.value)
