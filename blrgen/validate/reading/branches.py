"""Paths: a condition that nothing decides is taken both ways, by reading again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from blrgen.limits import PATHS as MAX_PATHS
from blrgen.validate.reading.machine import Machine
from blrgen.validate.reading.signals import PythonRaises, Refused


class Path:
    """One way through the code: what it gave, or that Python raises on it."""

    def __init__(self, machine: Machine, result: Any, raised: PythonRaises | None) -> None:
        self.machine, self.result, self.raised = machine, result, raised

    @property
    def conditions(self) -> list[tuple[Any, bool]]:
        return self.machine.path


def paths(start: Callable[[list[bool]], Machine], read: Callable[[Machine], Any]) -> Iterator[Path]:
    """All ways through the code, each with its conditions."""
    waiting: list[list[bool]] = [[]]
    count = 0
    while waiting:
        given = waiting.pop()
        count += 1
        if count > MAX_PATHS:
            raise Refused(f"more than {MAX_PATHS} ways through the code")
        machine = start(given)
        raised = None
        result = None
        try:
            result = read(machine)
        except PythonRaises as error:
            raised = error
        for k in range(len(given), len(machine.taken)):
            waiting.append([*machine.taken[:k], not machine.taken[k]])
        yield Path(machine, result, raised)
