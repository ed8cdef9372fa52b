"""Emitted files whose sizes are numbers, run on numbers modulo a prime at that very size.

Every entry is a statement of its own there, so no symbol can stand for a whole matrix.  The
step is run on random numbers of a field instead, and what it writes is compared with the
rule's value in the same numbers, exactly.  What it looks at (a pivot above 0, a step size in
its range) is taken to be as it should: the comparison is about where the step is taken.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from blrgen.core import Rule
from blrgen.decide.field import Mod, invert, pivots, scale
from blrgen.decide.matrices import Named, matrix_degree
from blrgen.decide.modular import Unlucky
from blrgen.decide.proof import Proof
from blrgen.validate import reference
from blrgen.validate.modes import FieldMode
from blrgen.validate.symbolic.arrays import array
from blrgen.validate.symbolic.linalg import Factor
from blrgen.validate.symbolic.number import CannotRun
from blrgen.validate.symbolic.run import Program

TRIALS = 3
PATIENCE = 20  # runs on other numbers, where one divides by zero
NAME = "SIZES"


class Passing(Mod):
    """A number of the field that passes every check, and tells what was held against 0."""

    seen: ClassVar[set[int]] = set()

    def _with(self, other: Any, f: Callable[[int, int], int]) -> Any:
        found = super()._with(other, f)
        return Passing(found.v) if isinstance(found, Mod) else found

    def _passes(self, other: Any) -> bool:
        return True

    __lt__ = __le__ = __ge__ = _passes

    def __gt__(self, other: Any) -> bool:
        if other == 0:
            self.seen.add(self.v)
        return True

    def __neg__(self) -> Mod:
        return Passing(-self.v)

    def __pow__(self, n: Any) -> Any:
        found = super().__pow__(n)
        return Passing(found.v) if isinstance(found, Mod) else found


def sizes_of(source: str) -> dict[str, int]:
    """The sizes that a file is made for; none where it takes any."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == NAME:
            found = ast.literal_eval(node.value)
            return {str(k): int(v) for k, v in found.items()}
    return {}


class SizedMode(FieldMode):
    """Numbers modulo a prime at one size."""

    def __init__(self, rule: Rule, sizes: dict[str, int]) -> None:
        self.size = Named(sizes)
        self.words = ", ".join(f"{name} = {size}" for name, size in sizes.items())
        super().__init__(rule)
        self._fresh(self.size)

    def value(self, name: str) -> Any:
        found = super().value(name)
        if isinstance(found, np.ndarray):
            rows = [_passing(x) for x in found.view(np.ndarray).reshape(-1)]
            return array(rows).reshape(found.shape)
        return _passing(found) if isinstance(found, Mod) else found

    def factor(self, matrix: Any) -> Any:
        """What `_cholesky` returns: nothing to compute with, where it only looks."""
        return Factor(matrix)

    def compare(self, name: str, value: Any, expected: Any, program: Program) -> Proof:
        """What one run gave, against the rule in the same numbers."""
        claim = f"{name}_next"
        try:
            same = self.matches(value, expected)
        except (TypeError, ValueError, CannotRun):  # not a number, or never written
            same = False
        if not same:
            where = f"for random matrices over a prime field at {self.words}"
            return Proof("refuted", claim, f"the two sides differ {where}")
        return self.proof(claim, expected)

    def proof(self, claim: str, expected: Any) -> Proof:
        degree = matrix_degree(expected, self.size)
        bound = f"(k/2^127)^{TRIALS} at {self.words}, k the larger degree (rule: {degree})"
        detail = f"equal for random matrices over a prime field at {self.words}"
        return Proof("random-exact", claim, detail, bound=bound)

    def runs(self, execute: Callable[[], Any]) -> Any:
        """A run on numbers by which it can divide."""
        for _ in range(PATIENCE):
            self._fresh(self.size)
            self.steps = self.random.randint(1, 40)
            try:
                return execute()
            except CannotRun as trouble:
                if "Unlucky" not in str(trouble):
                    raise
            except Unlucky:
                continue
        raise CannotRun("a division by zero for all random matrices")

    def proofs(self, run: Any) -> list[tuple[str, Proof]]:
        """Every state after runs on other numbers each time."""
        known = reference.next_states(self.rule)
        out: dict[str, Proof] = {}
        for _ in range(TRIALS):
            Passing.seen.clear()
            program, values, _ = self.runs(run.execute)
            looked = self.looked(known)
            for n in run.matching.states:
                if out.get(n, Proof("identity", n)).level != "refuted":
                    out[n] = self.compare(n, values[n], known[n], program)
                before = out.get(f"{n}, pivots")
                if n in looked and (before is None or before.proved):
                    out[f"{n}, pivots"] = looked[n]
        return list(out.items())

    def looked(self, known: dict[str, Any]) -> dict[str, Proof]:
        """Whether each pivot of what must be definite has been held against 0."""
        found = {}
        for name, sign in self.definite.items():
            claim = f"every pivot of {name}_next is looked at"
            assert self.model is not None
            rows = scale(Mod(sign), self.model.rows(known[name].subs(self._counter())))
            either = pivots(rows), pivots(invert(rows)[0])
            if any({x.v for x in some} <= Passing.seen for some in either):
                found[name] = self.proof(claim, known[name])
            else:
                found[name] = Proof("refuted", claim, "a matrix that is not definite may pass")
        return found

    @property
    def definite(self) -> dict[str, int]:
        """The states that must be positive definite, or negative definite, and the sign."""
        signs = {"SPD": 1, "-SPD": -1}
        return {q.name: signs[q.domain] for q in self.rule.of("state") if q.domain in signs}


def _passing(x: Any) -> Any:
    return Passing(x.v) if isinstance(x, Mod) else x
