"""The real run: a test of the reading.  It may take a proof back, and gives none.

The function runs in a process of its own on numbers of every rank, tame and hard, and is held
against the graph that was read, evaluated operation by operation in doubles.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from blrgen.decide.domain import names_in_bounds, range_at, range_of
from blrgen.decide.matrices import _definite
from blrgen.decide.proof import NOT_COMPARED, Proof, Verdict
from blrgen.errors import UserError
from blrgen.limits import COMPILED_WAIT
from blrgen.limits import RUN_WAIT as TIMEOUT
from blrgen.validate import reference
from blrgen.validate.match import outcome
from blrgen.validate.reading import arguments, child
from blrgen.validate.reading.graph import Node
from blrgen.validate.reading.interpret import in_doubles
from blrgen.validate.reading.points import POOL, contains
from blrgen.validate.reading.rounded import far
from blrgen.validate.reading.signals import NeedsSizes, PythonRaises, Refused, Unchecked
from blrgen.validate.reading.sizes import data
from blrgen.validate.reading.values import Array, Num, Whole

DEFECT = "that is a defect of blrgen or of the libraries it runs on: please report it"
SHAPES: tuple[tuple[int, ...], ...] = ((), (1,), (5,), (3, 3), (2, 3))
SIZES = (1, 2, 3)
FEW = ((), (5,), (2, 3))  # shapes that compiled code is run on: each is compiled by itself
CLOSE, CLOSE_32 = 1e-7, 1e-3


@dataclass
class Case:
    """One call: the numbers, by symbol, and what was read of it (None: Python raises)."""

    shape: tuple[int, ...]
    point: dict[str, float]
    given: dict[str, Any]
    expected: dict[str, np.ndarray] | None
    tame: bool = True
    numbers: dict[Any, Any] = field(default_factory=dict)  # of a matrix rule: symbol, rows


def tested(verdict: Verdict, reading: Any) -> Verdict:
    """The verdict, or that the run gives something else than what was read."""
    told: list[str] = []
    try:
        cases = list(_cases(reading))
        answers = _run(reading, cases)
        why = next(
            (w for c, a in zip(cases, answers, strict=True) if (w := _differs(reading, c, a))), ""
        )
        if why:
            why = f"the run gives something else than what was read ({why}); {DEFECT}"
        elif _compiles(reading):
            why, told = _compiled(reading, cases)
        why = why or next((w for c in cases if c.tame and (w := far(reading, c))), "")
    except (Refused, NeedsSizes) as error:
        why = f"line {error.line}: {error.what}"
    except UserError as error:
        why = error.what
    except Exception as error:  # no traceback, and no proof
        why = f"what was read could not be run ({type(error).__name__}); {DEFECT}"
    if not why:
        return replace(verdict, notes=(*verdict.notes, *told, *_remarks(reading, cases)))
    proofs = tuple((n, Proof(NOT_COMPARED, p.claim, why)) for n, p in verdict.proofs)
    return replace(verdict, proofs=proofs)


def _compiles(reading: Any) -> bool:
    """Whether the file asks for Numba."""
    modules = [
        name
        for x in ast.walk(reading.tree)
        for name in (
            [a.name for a in x.names] if isinstance(x, ast.Import)
            else [x.module or ""] if isinstance(x, ast.ImportFrom)
            else []
        )
    ]  # fmt: skip
    return any(name.split(".")[0] == "numba" for name in modules)


def _compiled(reading: Any, cases: list[Case]) -> tuple[str, list[str]]:
    """Why compiled code does not what was read, or "", and the ranks that it is not for.

    Compiled code takes fewer kinds of arguments: a rank for which Numba compiles nothing is not
    for it.
    """
    some = [
        c for c in cases if c.tame and c.expected is not None and (reading.matrix or c.shape in FEW)
    ]
    ranks: dict[int, list[str]] = {}
    for case, answer in zip(some, _run(reading, some, compiled=True), strict=True):
        if "compiled" not in answer and (why := _differs(reading, case, answer)):
            return f"compiled by Numba it gives something else than what was read ({why})", []
        ranks.setdefault(len(case.shape), []).append(answer.get("compiled", ""))
    refused = {r: next(filter(None, found)) for r, found in ranks.items() if any(found)}
    if ranks and len(refused) == len(ranks):
        said = " ".join(refused[max(refused)].split())
        return f"Numba does not compile it ({said[:200]})", []
    kinds = {0: "single numbers", 1: "vectors"}
    return "", [
        f"for {kinds.get(r, f'arrays of {r} axes')} Numba does not compile it" for r in refused
    ]


def _remarks(reading: Any, cases: list[Case]) -> tuple[str, ...]:
    """Where doubles end in no number and the rule has one: not a mistake, but worth knowing."""
    if reading.matrix or reading.element.count:
        return ()
    for case in cases:
        for n, values in (case.expected or {}).items():
            for index in np.argwhere(~np.isfinite(values)):
                tag = "".join(f"_{i}" for i in index)
                names = reading.element.symbols
                point = {q: case.point.get(q + tag, case.point.get(q)) for q in names}
                known = {q: Fraction(v) for q, v in point.items() if v is not None}
                with mp.workdps(60):
                    full = len(known) == len(names)
                    rule = reading.element.rule_at(known, {}) if full else None
                if rule is not None:
                    given = {
                        q: v for q, v in point.items() if reading.rule[q].kind != "intermediate"
                    }
                    where = ", ".join(f"{q} = {v:g}" for q, v in given.items())
                    text = mpmath.nstr(rule[n], 6)
                    return (f"{n} is no number in float64 at {where}, where the rule is {text}",)
    return ()


def _cases(reading: Any) -> Iterator[Case]:
    """Every rank and size with tame numbers, then with hard ones."""
    random = Random(23)
    shapes = [(d,) for d in SIZES] if reading.matrix else SHAPES
    if not reading.matrix and reference.is_coupled(reading.rule):
        shapes = [(2,), (3,)]
    for hard, whole in ((0.0, False), (0.5, False), (0.0, True)):
        for shape in shapes:
            for _ in range(2):
                try:
                    yield _case(reading, shape, hard, random, whole=whole)
                except Unchecked:  # the code is not for this rank
                    continue


def _case(
    reading: Any, shape: tuple[int, ...], hard: float, random: Random, *, whole: bool
) -> Case:
    """One call; hyperparameters are whole numbers of Python where they can be, if `whole`."""
    from blrgen.validate.reading.entries import Entries

    point: dict[str, float] = {}
    made: Any
    numbers: dict[Any, Any] = {}
    if reading.matrix:
        made = Entries(reading.rule, reading.graph, shape[0], random.randint(1, 5))
        numbers = _matrix_numbers(reading, made, point, random)
    else:
        made = arguments.Elements(reading.rule, reading.graph, shape, generic=False)
        _numbers(reading, shape, point, hard, random)
    if whole:
        numbers |= _whole_numbers(reading, point, random)
    given = {
        theirs: _given(made.value(ours), point, whole)
        for theirs, ours in reading.matching.arguments
    }

    def oracle(c: Node) -> bool:
        return bool(in_doubles([c], point)[c.index])

    machine = reading.machine(generic=False, oracle=oracle)
    try:
        result = reading.call(machine, made)
        if result.nothing and not shape:
            return Case(shape, point, given, None, hard == 0)
        expected = {n: _doubles(x, point) for n, x in result.values.items()}
    except PythonRaises:
        expected = None
    return Case(shape, point, given, expected, hard == 0, numbers)


def _whole_numbers(reading: Any, point: dict[str, float], random: Random) -> dict[Any, Any]:
    """Whole numbers for the hyperparameters that can be some."""
    domains, out = reference.domains(reading.rule), {}
    for q in reading.rule.of("hyper"):
        pool = [k for k in (50, 7, 2, 1) if contains(range_of(q.symbol, domains), Fraction(k))]
        if pool and q.name in point:
            k = random.choice(pool)
            point[q.name], out[q.symbol] = float(k), Fraction(k)
    return out


def _doubles(x: Any, point: dict[str, float]) -> np.ndarray:
    if isinstance(x, Whole):
        return np.array(float(x.value))
    nodes = (
        x.data if isinstance(x, Array) else np.array([x.node, None], dtype=object)[:1].reshape(())
    )
    memo = in_doubles(list(nodes.reshape(-1)), point)
    return np.array([float(memo[n.index]) for n in nodes.reshape(-1)]).reshape(nodes.shape)


def _given(x: Any, point: dict[str, float], whole: bool) -> Any:
    """An argument as JSON: the counter is a whole number, others where they are asked to be."""
    if isinstance(x, Num):
        if x.node.op == "symbol" and (x.integral or (whole and point[x.node.data].is_integer())):
            return int(point[x.node.data])
        return repr(float(_doubles(x, point)))
    return {
        "shape": list(x.data.shape),
        "entries": [repr(float(v)) for v in _doubles(x, point).reshape(-1)],
    }


def _numbers(
    reading: Any, shape: tuple[int, ...], point: dict[str, float], hard: float, random: Random
) -> None:
    elements = reference.Elements(reading.rule)
    domains = reference.domains(reading.rule)
    bound = {q.name: names_in_bounds(q.symbol, domains) for q in reading.rule.quantities}
    for q in sorted(reading.rule.quantities, key=lambda q: bool(bound[q.name])):
        known = {reading.rule[n].symbol: Fraction(point[n]) for n in bound[q.name] if n in point}
        r = range_at(q.symbol, domains, known) if known else range_of(q.symbol, domains)
        pool = [x for x in POOL if contains(r, x)]
        spread = elements.is_array(q) and shape
        tags = ["".join(f"_{i}" for i in k) for k in np.ndindex(*shape)] if spread else [""]
        for tag in tags:
            x = r.sample(random)
            if q.kind == "counter":
                x = Fraction(random.randint(1, 9))
            elif spread and pool and random.random() < hard:
                x = random.choice(pool)
            point[q.name + tag] = float(x)


def _matrix_numbers(
    reading: Any, made: Any, point: dict[str, float], random: Random
) -> dict[Any, Any]:
    """Tame numbers, in `point` by the names of entries; symbol → number or rows."""
    from blrgen.validate.reading.entries import ROWS

    domains = reference.domains(reading.rule)
    numbers: dict[Any, Any] = data(reading.rule, made, random)
    for q in reading.rule.quantities:
        if q.kind == "intermediate":
            continue
        if q.rank not in ROWS:
            k = Fraction(random.randint(1, 9))
            x = k if q.kind == "counter" else range_of(q.symbol, domains).sample(random)
            point[q.name] = float(x)
            numbers[q.symbol] = Fraction(float(x))
            continue
        known = domains if q.rank != "symmetric" else {q.symbol: "SPD"}
        if q.symbol not in numbers:
            numbers[q.symbol] = _definite(q.symbol, made.d, known, random)
        for i, row in enumerate(numbers[q.symbol]):
            for j, x in enumerate(row):
                point[f"{q.name}{[i] if q.rank == 'vector' else [i, j]}"] = float(x)
    return numbers


def _run(reading: Any, cases: list[Case], *, compiled: bool = False) -> list[Any]:
    """All calls in one process with limits on time and memory."""
    wait = COMPILED_WAIT if compiled else TIMEOUT
    job = {
        "compiled": compiled,
        "source": reading.source, "path": reading.path, "function": reading.function,
        "positional": [x.arg for x in reading.f.node.args.posonlyargs],
        "calls": [c.given for c in cases],
    }  # fmt: skip
    environment = {
        **os.environ,
        "NUMBA_DISABLE_JIT": "0" if compiled else "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
    }
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(Path(child.__file__))], input=json.dumps(job), text=True,
            capture_output=True, timeout=wait, check=False, env=environment,
        )  # fmt: skip
        found = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise UserError(f"it ran for more than {wait} s") from None
    except ValueError:
        raise UserError("it ended the interpreter") from None
    if isinstance(found, dict):
        raise UserError(found["error"])
    return found  # type: ignore[no-any-return]


def _differs(reading: Any, case: Case, answer: Any) -> str:
    """Why the run is not what was read; "" where it is."""
    where = f"on numbers of shape {case.shape}" if case.shape else "on single numbers"
    if "error" in answer:
        return "" if case.expected is None else f"{answer['error']} {where}"
    returned = _back(answer["returned"])
    if case.expected is None:
        single = all(k == 1 for k in case.shape)  # NumPy has taken such an array for a number
        return (
            ""
            if (returned is None or case.shape) and single
            else f"it runs {where}, where it was read to raise"
        )
    names = reading.matching.names
    after = {names[k]: _back(v) for k, v in answer["after"].items()}
    before = {
        names[k]: _back(v) if isinstance(v, dict) else float(v) for k, v in case.given.items()
    }
    changed = {n: not np.array_equal(np.asarray(after[n]), np.asarray(before[n])) for n in after}
    if returned is None:
        values = after
    else:
        values = outcome(returned, after, changed, reading.matching, reading.function)
    close = CLOSE_32 if any("float32" in n for n in reading.notes) else CLOSE
    for n, wanted in case.expected.items():
        got = np.asarray(values[n], dtype=float)
        if got.shape != wanted.shape:
            return f"{n} of shape {got.shape} {where}"
        if not _close(got, wanted, close):
            return f"{n} = {got.tolist()} and not {wanted.tolist()} {where}"
    return ""


def _close(a: np.ndarray, b: np.ndarray, close: float) -> bool:
    """Equal but for rounding; what is no number is none on both sides."""
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return False
    size = np.maximum(np.abs(a), np.abs(b))[finite]
    gap = np.abs(a[finite] - b[finite])
    return bool(np.all(gap <= close * np.maximum(size, size.max(initial=0.0) * 1e-6)))


def _back(x: Any) -> Any:
    """A value from JSON."""
    if x is None:
        return None
    if "dict" in x:
        return {k: _back(v) for k, v in x["dict"].items()}
    if "tuple" in x:
        return tuple(_back(v) for v in x["tuple"])
    return np.array([float(v) for v in x["entries"]]).reshape(x["shape"])
