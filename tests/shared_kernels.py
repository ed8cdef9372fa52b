"""What emitted files compile, compiled once in a process for all files that say the same, or not.

Half of an emitted file is support functions, the same in every file that uses them, and for Numba
those of two files are two functions.  Here a function that Numba is asked for in an emitted file
is the one of an earlier file, where both are written alike, and so is whatever they use: functions,
constants, imports, down to the last.  What is written otherwise is compiled apart, and so is what
is loaded where `unshared()`.  Where the question is about numbers and not about the compiler, a
file for Numba is Python like any other: `uncompiled` is its class with plain functions.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache, wraps
from typing import Any

import numpy as np

from blrgen.emit import compile as compiling

Written = dict[str, str]  # a name → the text of all that defines it
_KNOWN: dict[tuple[str, ...], Any] = {}
_SHARED, _COMPILED = [True], [True]


def install() -> None:
    """From now on emitted files that are loaded here share what they compile."""
    load = compiling.load

    def sharing(source: str) -> Any:
        _for_numba()
        return load(source)

    compiling.load = sharing


def uncompiled(source: str) -> type:
    """The class of a file for Numba, whose functions are run as they are written."""
    with _without(_COMPILED):
        return compiling.compile_class(source + "# not compiled\n")


def unshared() -> AbstractContextManager[None]:
    """What is loaded meanwhile shares nothing."""
    return _without(_SHARED)


@contextmanager
def _without(what: list[bool]) -> Iterator[None]:
    kept, what[0] = what[0], False
    try:
        yield
    finally:
        what[0] = kept


@cache
def _for_numba() -> None:
    import numba

    numba.njit = _shared(numba.njit)


def _shared(njit: Callable[..., Any]) -> Callable[..., Any]:
    """Numba's decorator, but for functions that are known."""

    def decorator(*words: Any, **options: Any) -> Any:
        if words:  # without options: nothing emitted says so
            return njit(*words, **options)
        made = njit(**options)

        def decorated(function: Any) -> Any:
            emitted = str(function.__module__).startswith(compiling.PREFIX)
            if emitted and not _COMPILED[0]:
                return _plain(function)
            if not (emitted and _SHARED[0]):
                return made(function)
            key = told(written(sys.modules[function.__module__].__file__), function.__name__)
            return _KNOWN[key] if key in _KNOWN else _KNOWN.setdefault(key, made(function))

        return decorated

    return decorator


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, silent about infinities, as compiled code is."""

    @wraps(function)
    def silent(*words: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*words)

    return silent


@cache
def written(path: str) -> tuple[Written, dict[str, frozenset[str]]]:
    """Of a file's names: the text of what defines each, and the names that it uses."""
    with open(path, encoding="utf-8") as file:
        source = file.read()
    lines = source.splitlines()
    texts: Written = {}
    used: dict[str, frozenset[str]] = {}
    for node in ast.parse(source).body:
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        text = "\n".join(lines[first - 1 : node.end_lineno])
        names = frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name))
        for name in _defined(node):
            texts[name] = texts.get(name, "") + text + "\n"
            used[name] = used.get(name, frozenset()) | names
    return texts, used


def _defined(node: ast.stmt) -> set[str]:
    """The names that a statement gives a meaning to; an overload is part of what it stands for."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(a.asname or a.name).split(".")[0] for a in node.names}
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        calls = [d for d in node.decorator_list if isinstance(d, ast.Call)]
        stands = (a.id for d in calls for a in d.args if isinstance(a, ast.Name))
        return {node.name, *stands}
    stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
    return {n.id for n in stored if isinstance(n.ctx, ast.Store)}


def told(file: tuple[Written, dict[str, frozenset[str]]], name: str) -> tuple[str, ...]:
    """A function and all that it uses, as it is written."""
    texts, used = file
    met, new = {name}, {name}
    while new:
        new = {n for x in new for n in used[x] if n in texts} - met
        met |= new
    return (name, *(texts[x] for x in sorted(met)))
