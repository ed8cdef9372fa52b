"""One run of a function of a source text on given values, with a record of every line."""

from __future__ import annotations

import inspect
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from blrgen.validate.symbolic import instrument
from blrgen.validate.symbolic.linear import NC
from blrgen.validate.symbolic.modules import SAFE_BUILTINS
from blrgen.validate.symbolic.number import CannotRun, Context, Sym, exact, running

SECONDS = 10.0
MAX_RECORDS = 4000
ENTRY_SYMBOL = "_blr_override"


@dataclass(frozen=True)
class Record:
    """What one execution of one line gave one target."""

    line: int
    target: str
    value: Any


Override = Callable[[int, str, int, Any], Any]  # line, target, execution, value → value


class Program:
    """A source text loaded with the stand-ins; functions of it run on symbols."""

    def __init__(
        self, source: str, domains: Mapping[Any, str], override: Override | None = None
    ) -> None:
        self.records: list[Record] = []
        self.decided: list[str] = []
        self.context: Context | None = None
        self._override = override
        self._counts: dict[tuple[int, str], int] = {}
        self._deadline = time.process_time() + SECONDS
        self.domains = domains
        self.names: dict[str, Any] = {
            "__builtins__": dict(SAFE_BUILTINS), "__name__": "step",
            instrument.LITERAL: _literal, instrument.EXACT: exact,
            instrument.TRACE: self._trace, instrument.TICK: self._tick,
        }  # fmt: skip
        code = instrument.instrumented(source)
        self._guarded(lambda: exec(code, self.names))

    def function(self, name: str) -> Callable[..., Any] | None:
        f = self.names.get(name)
        return f if callable(f) else None

    def call(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """f(*args, **kwargs), with everything it raises turned into CannotRun."""
        return self._guarded(lambda: f(*args, **kwargs))

    def _guarded(self, action: Callable[[], Any]) -> Any:
        self._deadline = time.process_time() + SECONDS
        with running(self.domains) as context:
            self.context = context
            try:
                return action()
            except CannotRun as error:
                raise CannotRun(error.reason, error.line or _line_of(error)) from None
            except RecursionError as error:
                raise CannotRun("it calls itself without end", _line_of(error)) from None
            except Exception as error:
                text = f"{type(error).__name__}: {error}".rstrip(": ")
                raise CannotRun(text, _line_of(error)) from error
            finally:
                self.decided += context.decided

    def _tick(self) -> None:
        if time.process_time() > self._deadline:
            raise CannotRun(f"it ran for more than {SECONDS:g} s")

    def _trace(self, line: int, target: str, value: Any) -> Any:
        self._tick()
        key = (line, target)
        count = self._counts[key] = self._counts.get(key, -1) + 1
        if self._override is not None:
            value = self._override(line, target, count, value)
        elif len(self.records) < MAX_RECORDS:
            self.records.append(Record(line, target, snapshot(value)))
        return value


def snapshot(value: Any) -> Any:
    """A value that later in-place updates do not change."""
    return value.copy() if isinstance(value, np.ndarray | NC) else value


def _literal(text: str) -> Sym:
    return Sym(sp.Rational(text)) if "inf" not in text else Sym(sp.oo)


def _line_of(error: BaseException) -> int:
    lines = [
        f.lineno
        for f in traceback.extract_tb(error.__traceback__)
        if f.filename == instrument.FILENAME
    ]
    return lines[-1] or 0 if lines else 0


def signature(f: Callable[..., Any]) -> dict[str, Any]:
    """Argument names and their defaults (inspect.Parameter.empty when none)."""
    parameters = inspect.signature(f).parameters.values()
    for p in parameters:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD):
            raise CannotRun(f"the argument *{p.name}")
    return {p.name: p.default for p in parameters}
