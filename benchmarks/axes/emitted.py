"""A program over axes as a call: emitted for Numba, compiled, with arrays for its results."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable, Set
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.axes.cases import Case
from blrgen.emit.tree.functions import functions
from blrgen.emit.tree.nodes import Function
from blrgen.emit.tree.numba import text
from blrgen.emit.tree.staged import staged
from blrgen.program.axes.nodes import Program, Size
from blrgen.program.axes.prepared import scheduled
from tests.program.axes.programs import PROGRAMS, fixed

NAME = "run"


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Where the files of this process are."""
    return tempfile.TemporaryDirectory(prefix="blrgen-axes-")


def loaded(source: str) -> ModuleType:
    """The module of a source text."""
    path = Path(folder().name) / f"m{len(list(Path(folder().name).glob('*.py')))}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def made(
    program: Program, written: Set[int] = frozenset(), in_stages: bool = False
) -> tuple[Function, str]:
    """The function of a program and the text of its file; axes of these sizes are written out."""
    plan = scheduled(program, written=written)
    parts = staged(plan, NAME) if in_stages else functions(plan, NAME)
    return parts[-1], text(parts)


def emitted(
    case: Case, given: dict[str, Any]
) -> tuple[Callable[[], object], dict[str, np.ndarray]]:
    """A call of the emitted program, and the arrays it writes by the names of the reference."""
    program = fixed(PROGRAMS[case.program], case.known)
    written = frozenset(case.known.values()) if case.written else frozenset()
    function, source = made(program, written, case.staged)
    run = getattr(loaded(source), NAME)
    if case.staged:
        return _returning(program, function, run, given)
    own = {k: np.array(v) if np.ndim(v) else v for k, v in given.items()}
    outs = {x: np.empty(shape) for x, shape in shapes(program, given).items()}
    values = {**own, **outs}
    arguments = [values[x] for x in (*function.arrays, *function.wholes, *function.reals)]
    changed = {made: own[name] for name, made in program.writes}
    return lambda: run(*arguments), {**outs, **changed}


def _returning(
    program: Program, function: Function, run: Callable[..., Any], given: dict[str, Any]
) -> tuple[Callable[[], object], dict[str, np.ndarray]]:
    """Stages return what they have made, in arrays that are new at each call."""
    arguments = [given[x] for x in (*function.arrays, *function.wholes, *function.reals)]
    found = run(*arguments)
    found = found if isinstance(found, tuple) else (found,)
    return lambda: run(*arguments), dict(zip(program.outs, map(np.asarray, found), strict=True))


def shapes(program: Program, given: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """The shapes of what is handed out; the sizes are those that given arrays show."""
    known: dict[Size, int] = {}
    for q in program.given:
        shape = np.shape(given[q.name])
        if len(shape) == len(q.sizes):  # what is ragged has fewer axes in memory
            known.update(zip(q.sizes, shape, strict=True))
    return {
        x: tuple(y if isinstance(y, int) else int(known[y]) for y in program.sizes[x])
        for x in program.outs
    }
