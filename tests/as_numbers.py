"""Two step functions called on the same numbers, many times: whether they do the same.

The numbers are drawn from the domains of the rule, tame and hard, with those that stand in the
files among them; arrays of every rank and of several lengths; every call is one more of the same
function, so that what it keeps shows.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import signal
from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from blrgen.core import Quantity, Rule
from blrgen.decide.domain import POSITIVE, names_in_bounds, range_of
from blrgen.errors import UserError
from blrgen.validate import reference
from blrgen.validate.match import match, outcome
from blrgen.validate.reading.points import POOL, contains

Shape = tuple[int, ...]
SHAPES: tuple[Shape, ...] = ((), (1,), (2,), (5,), (3, 3), (2, 4), (13,), (2, 2, 2), (60,))
SIZES = (1, 2, 3, 7, 12)
STEPS = (1, 2, 3, 7, 40, 6000)
ROUNDS, CLOSE = 8, 1e-9
SECONDS = 20
SAME = 77  # what a process ends with in which every call was the same


class Calls:
    """A right function and another one, on the same numbers."""

    def __init__(self, rule: Rule, right: str, other: str) -> None:
        self.rule, self.sources = rule, (right, other)
        self.matrix = reference.is_matrix(rule)
        self.elements = reference.Elements(rule)
        self.domains = reference.domains(rule)
        numbers = {
            Fraction(repr(n.value)) if isinstance(n.value, float) else Fraction(n.value)
            for source in self.sources for n in ast.walk(ast.parse(source))
            if isinstance(n, ast.Constant) and isinstance(n.value, int | float)
            and abs(n.value) < 10**6
        }  # fmt: skip
        self.pool = [*sorted(numbers), *POOL]

    def differ(self) -> bool:
        """Whether a call gives something else, ends the process or does not end."""
        child = os.fork()
        if child == 0:
            signal.alarm(SECONDS)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os._exit(1 if self.differ_here() else SAME)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != SAME

    def differ_here(self) -> bool:
        """As `differ`, in this process."""
        with np.errstate(all="ignore"):
            try:
                f, h = map(_loaded, self.sources)
            except Exception:  # what a changed file raises when it is loaded is a difference
                return True
            return any(not self._same(f, h, made) for made in self._numbers())

    def _numbers(self) -> Iterator[dict[str, Any]]:
        random = Random(3)
        for k in range(ROUNDS):
            for shape in [(d,) for d in SIZES] if self.matrix else SHAPES:
                yield {
                    q.name: self._value(q, shape, random, 0.5 * (k % 2))
                    for q in self.rule.quantities
                }

    def _value(self, q: Quantity, shape: Shape, random: Random, hard: float) -> Any:
        if q.kind == "counter":
            return random.choice(STEPS)
        if self.matrix and q.rank in ("vector", "symmetric", "matrix"):
            return self._matrix(q, shape[0], random, hard)
        if self.elements.is_array(q) and shape:
            flat = [self._number(q, random, hard) for _ in range(int(np.prod(shape)))]
            return np.array(flat).reshape(shape)
        return self._number(q, random, hard)

    def _number(self, q: Quantity, random: Random, hard: float) -> float:
        r = range_of(q.symbol, self.domains)
        if names_in_bounds(q.symbol, self.domains):  # (-delta, oo): above 0 is inside
            r = POSITIVE
        pool = [x for x in self.pool if contains(r, x)]
        return float(random.choice(pool) if pool and random.random() < hard else r.sample(random))

    def _matrix(self, q: Quantity, d: int, random: Random, hard: float) -> Any:
        rows = d + 2 if q.kind == "data" else d
        shape = (rows,) if q.rank == "vector" else (rows, d)
        tame = np.array([random.uniform(-2, 2) for _ in range(int(np.prod(shape)))])
        singled = [float(random.choice(self.pool)) for _ in tame]
        chosen = np.array([random.random() < 0.3 * hard for _ in tame])
        a = np.where(chosen, np.array(singled), tame).reshape(shape)
        if hard and q.rank != "symmetric":
            a.flat[random.randrange(a.size)] = 0.0
        return a @ a.T + np.eye(d) if q.rank == "symmetric" else a

    def _same(self, f: Any, h: Any, numbers: dict[str, Any]) -> bool:
        numbers = {**numbers, **self._computed(numbers)}
        first, second = self._called(f, numbers), self._called(h, numbers)
        if first is None or second is None:
            return first is None and second is None
        return all(_close(first[k], second[k]) for k in first)

    def _computed(self, numbers: dict[str, Any]) -> dict[str, Any]:
        """What the rule computes before the step, where functions may ask for it."""
        if "theta" not in self.rule:
            return {}
        return {"theta": numbers[self.rule.of("state")[0].name]}

    def _called(self, f: Any, numbers: dict[str, Any]) -> dict[str, Any] | None:
        """The next states and the inputs afterwards; None where Python raises."""
        parameters = {n: p.default for n, p in inspect.signature(f).parameters.items()}
        given = match(parameters, self.rule, {}, "step", "")
        arguments = {a: _copied(numbers[q]) for a, q in given.arguments}
        before = {q: _copied(numbers[q]) for _, q in given.arguments}
        try:
            back = f(**arguments)
        except Exception:  # whatever it is, there is no value
            return None
        after = {q: arguments[a] for a, q in given.arguments}
        changed = {q: not np.array_equal(after[q], before[q], equal_nan=True) for q in after}
        with contextlib.suppress(UserError, TypeError):
            if hasattr(back, "__dataclass_fields__"):
                back = {k: getattr(back, k) for k in back.__dataclass_fields__}
            values = outcome(back, after, changed, given, "step")
            inputs = {f"{q} itself": x for q, x in after.items() if q not in given.states}
            return {**values, **inputs}
        return None


def _copied(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _loaded(source: str) -> Any:
    """The function, in Python: compiled code does the same, and takes its time."""
    if "numba" in source:
        import numba

        numba.config.DISABLE_JIT = True
    space: dict[str, Any] = {"__name__": "a_step"}
    exec(compile(source, "<step>", "exec"), space)
    return space["step"]


def _close(a: Any, b: Any) -> bool:
    try:
        x, y = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    except (TypeError, ValueError):
        return False
    if x.shape != y.shape or not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return False
    finite = np.isfinite(x)
    size = np.maximum(np.abs(x), np.abs(y))[finite]
    gap = np.abs(x - y)[finite]
    return bool(np.all(gap <= CLOSE * np.maximum(size, size.max(initial=0.0) * 1e-9)))
