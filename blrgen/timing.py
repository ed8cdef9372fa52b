"""How long every stage and pass takes, and how large what it works on is.

Nothing is recorded, and nothing counted, unless somebody asks:

    with Record() as record:
        derive("adam")
    print(timings(record))  # blrgen.show.timings

A stage holds what runs inside it; its time is theirs and its own.  Counting operations is
part of no stage's time.  Sizes are operations of SymPy expressions up to the rule, nodes of
the program after it, and lines of text at the end.
"""

from __future__ import annotations

from contextvars import ContextVar
from time import perf_counter

TYPE_CHECKING = False  # `typing` itself costs 5 ms
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextvars import Token
    from typing import Any, TypeVar

    A = TypeVar("A")
    B = TypeVar("B")


class Line:
    """One stage or pass: how deep inside others, its seconds, sizes of what goes in and out."""

    def __init__(self, name: str, depth: int) -> None:
        self.name, self.depth = name, depth
        self.seconds: float | None = None  # None: not computed here
        self.before: int | None = None
        self.after: int | None = None
        self.unit = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """As texts: name, milliseconds, sizes before and after, and of what."""
        time = "" if self.seconds is None else f"{self.seconds * 1e3:.2f}"
        sizes = ("" if size is None else str(size) for size in (self.before, self.after))
        return ("  " * self.depth + self.name, time, *sizes, self.unit)


class Record:
    """What was measured, in the order in which it began; active as a context."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.depth = 0
        self.counting = 0.0  # seconds spent on counting operations
        self._tokens: list[Token[Record | None]] = []

    def __enter__(self) -> Record:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _current.reset(self._tokens.pop())

    def run(self, name: str, change: Callable[[A], B], given: A) -> B:
        """change(given) as a line of its own, what runs inside it below."""
        line = self.said(name)
        line.before, unit = self._size(given)
        self.depth += 1
        start, counting = perf_counter(), self.counting
        try:
            made = change(given)
        finally:
            line.seconds = perf_counter() - start - (self.counting - counting)
            self.depth -= 1
        line.after, own = self._size(made)
        line.unit = " → ".join(dict.fromkeys(x for x in (unit, own) if x))
        return made

    def said(self, name: str) -> Line:
        """A line without a time."""
        self.lines.append(Line(name, self.depth))
        return self.lines[-1]

    def _size(self, value: Any) -> tuple[int | None, str]:
        start = perf_counter()
        found = size(value)
        self.counting += perf_counter() - start
        return found

    @property
    def total(self) -> float:
        """Seconds of all stages."""
        return sum(x.seconds or 0.0 for x in self.lines if x.depth == 0)


_current: ContextVar[Record | None] = ContextVar("record", default=None)


def timed(name: str, change: Callable[[A], B], given: A) -> B:
    """change(given); a line of the record, where there is one."""
    record = _current.get()
    return change(given) if record is None else record.run(name, change, given)


def said(name: str) -> None:
    """A line for what was not computed here."""
    record = _current.get()
    if record is not None:
        record.said(name)


def size(value: Any) -> tuple[int | None, str]:
    """How large something is, and in what."""
    if isinstance(value, str):  # a text that was made; names have one line
        count = value.count("\n")
        return (count, "lines") if count else (None, "")
    kind = type(value).__name__
    if kind in ("Program", "Part"):
        return sum(s.expr.weight for s in value.statements), "nodes"
    if kind not in _EXPRESSIONS:
        return None, ""
    from sympy import count_ops

    parts = [x for x in _EXPRESSIONS[kind](value) if hasattr(x, "free_symbols")]
    return sum(int(count_ops(x)) for x in parts), "operations"


_EXPRESSIONS: dict[str, Callable[[Any], Iterable[Any]]] = {
    "Family": lambda x: (*x.statistics, *(p.chart for p in (*x.natural, *x.working))),
    "Loss": lambda x: (x.expr,),
    "Geometry": lambda x: (x.integral.log_partition, *x.mean),
    "Expectation": lambda x: x.mean_gradient,
    "ExactRule": lambda x: (e for _, e in x.working_next),
    "Rule": lambda x: (a.expr for a in x.assignments),
    "Derivation": lambda x: (a.expr for a in x.rule.assignments),
}
