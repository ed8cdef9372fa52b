"""Running the real function on numbers beside the rule: evidence, never a proof."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from blrgen.core import Quantity, Rule
from blrgen.decide.domain import range_of
from blrgen.decide.matrices import _definite, difference, numeric_model
from blrgen.decide.proof import Proof, Verdict
from blrgen.errors import UserError
from blrgen.validate import reference
from blrgen.validate.match import Matching, match, outcome, without
from blrgen.value.evaluate import Undefined

Expr = Any
POINTS = 24
SIZE = 3
RELATIVE = 1e-9
SECONDS = 60

_CHILD = """
import importlib.util, inspect, json, os, sys
out = os.fdopen(os.dup(1), "w"); os.dup2(2, 1)
job = json.load(sys.stdin)
import numpy as np
def back(x):
    if x is None: return None
    if isinstance(x, dict): return {"dict": {str(k): back(v) for k, v in x.items()}}
    if hasattr(x, "_fields"): return {"dict": {k: back(getattr(x, k)) for k in x._fields}}
    if isinstance(x, (tuple, list)): return {"tuple": [back(v) for v in x]}
    return {"value": np.asarray(x, dtype=float).tolist()}
answer = {}
try:
    sys.path.insert(0, os.path.dirname(os.path.abspath(job["path"])))
    spec = importlib.util.spec_from_file_location("step_under_test", job["path"])
    module = importlib.util.module_from_spec(spec); spec.loader.exec_module(module)
    f = getattr(module, job["function"])
    f = getattr(f, "py_func", f) if not callable(f) else f
    target = getattr(f, "py_func", f)
    empty = inspect.Parameter.empty
    parameters = inspect.signature(target).parameters.values()
    answer["signature"] = [[p.name, p.default is empty] for p in parameters]
    answer["results"] = []
    for call in job["calls"]:
        values = {k: np.array(v, float) if isinstance(v, list) else v for k, v in call.items()}
        with np.errstate(all="ignore"):
            returned = f(**values)
        answer["results"].append([back(returned), {k: back(v) for k, v in values.items()}])
except BaseException as error:
    import traceback
    stack = traceback.extract_tb(error.__traceback__)
    lines = [s.lineno for s in stack if s.filename == job["path"]]
    answer["error"] = f"{type(error).__name__}: {error}"; answer["line"] = lines[-1] if lines else 0
json.dump(answer, out); out.flush()
"""


def compare_numbers(
    source: str, rule: Rule, function: str, mapping: Mapping[str, str], path: str, reason: str
) -> Verdict:
    """Compare the function with the rule at random points; level numeric or refuted."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(path)
        if not file.is_file():
            file = Path(folder) / "step.py"
            file.write_text(source, encoding="utf-8")
        parameters = _signature(file, function, path)
        matching = match(parameters, rule, mapping, function, path)
        random = Random(11)
        points = [_point(matching, rule, random, k) for k in range(POINTS)]
        answer, scalar = _answers(file, function, path, matching, rule, points)
    proofs = []
    for n in matching.states:
        proofs.append(
            (n, _compare(n, answer["results"], points, rule, matching, function, scalar, reason))
        )
    note = (
        f"{function} could not be run on symbols ({reason}): "
        f"compared at {POINTS} points, which is no proof"
    )
    missing = [f"{function} takes no {n}" for n in matching.missing if _matters(n, rule, matching)]
    left_out = matching.left_out(rule)
    if left_out:
        missing.append(without(function, left_out))
    return Verdict(tuple(proofs), path, notes=(note, *missing), left_out=left_out)


def _matters(name: str, rule: Rule, matching: Matching) -> bool:
    known = reference.next_states(rule)
    return any(s.name == name for n in matching.states for s in known[n].free_symbols)


def _ask(file: Path, function: str, calls: list[dict[str, Any]], path: str) -> dict[str, Any]:
    job = json.dumps({"path": str(file), "function": function, "calls": calls})
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD], input=job, capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        return json.loads(done.stdout)  # type: ignore[no-any-return]
    except subprocess.TimeoutExpired as error:
        raise UserError(f"{function} ran for more than {SECONDS} s", where=path) from error
    except ValueError as error:
        raise UserError(f"{function} ended the interpreter", where=path) from error


def _signature(file: Path, function: str, path: str) -> dict[str, Any]:
    import inspect

    answer = _ask(file, function, [], path)
    if "signature" not in answer:
        _failed(answer, function, path)
    return {n: inspect.Parameter.empty if required else 0 for n, required in answer["signature"]}


def _failed(answer: Mapping[str, Any], function: str, path: str) -> None:
    line = answer.get("line")
    raise UserError(
        f"{function} fails: {answer.get('error')}", where=f"{path}:{line}" if line else path,
        how="make it run on arrays or on numbers under the rule's names",
    )  # fmt: skip


def _point(matching: Matching, rule: Rule, random: Random, k: int) -> dict[str, Any]:
    """Quantity → float, array or matrix inside its domain."""
    size = 1 + k % 4 if reference.is_matrix(rule) else SIZE
    return {
        q.name: _draw(q, rule, random, size) for q in rule.quantities if q.kind != "intermediate"
    }


def _draw(q: Quantity, rule: Rule, random: Random, size: int) -> Any:
    domains = reference.domains(rule)
    if q.rank in ("vector", "symmetric", "matrix"):
        rows = _definite(q.symbol, size, domains, random)
        if q.rank == "vector":
            return [float(r[0]) for r in rows]
        return [[float(x) for x in r] for r in rows]
    draw = range_of(q.symbol, domains).sample
    if q.kind == "counter":
        return int(draw(random))
    if q.rank == "elementwise":
        return [float(draw(random)) for _ in range(size)]
    return float(draw(random))


def _answers(
    file: Path,
    function: str,
    path: str,
    matching: Matching,
    rule: Rule,
    points: list[dict[str, Any]],
) -> tuple[dict[str, Any], bool]:
    """Results on arrays; on single numbers where arrays fail."""
    first: dict[str, Any] = {}
    for scalar in (False, True):
        calls = [_arguments(p, matching, rule, scalar) for p in points]
        answer = _ask(file, function, calls, path)
        if "error" not in answer:
            return answer, scalar
        first = first or answer
        if reference.is_matrix(rule):
            break
    _failed(first, function, path)
    raise AssertionError


def _arguments(
    point: dict[str, Any], matching: Matching, rule: Rule, scalar: bool
) -> dict[str, Any]:
    out = {}
    for theirs, ours in matching.arguments:
        if ours in point:
            x = point[ours]
        else:
            x = _expected(reference.expanded(rule)[ours], rule, point)
            x = [r[0] for r in x] if isinstance(x[0], list) and len(x[0]) == 1 else x
        out[theirs] = x[0] if scalar and isinstance(x, list) else x
    return out


def _expected(e: Expr, rule: Rule, point: Mapping[str, Any]) -> Any:
    """The rule's value as nested lists (one entry per element, rows for matrices)."""
    if reference.is_matrix(rule):
        values = {q.symbol: _fractions(point[q.name]) for q in rule.quantities if q.name in point}
        d = next(len(v) for v in values.values() if isinstance(v, tuple))
        model = numeric_model(d, reference.domains(rule), Random(0), values)
        a, _ = difference(model, e, e)
        return [[float(x) for x in r] for r in a]
    from blrgen.value.evaluate import evaluate

    count = max([len(v) for v in point.values() if isinstance(v, list)], default=1)
    out = []
    for i in range(count):
        values = {
            q.symbol: mpmath.mpf(_entry(point[q.name], i))
            for q in rule.quantities if q.name in point
        }  # fmt: skip
        try:
            x = evaluate(e, values)
            out.append(float(x) if isinstance(x, mpmath.mpf) else float("nan"))
        except Undefined:
            out.append(float("nan"))
    return out


def _entry(x: Any, i: int) -> Any:
    return x[i] if isinstance(x, list) else x


def _fractions(x: Any) -> Any:
    if isinstance(x, list):
        return tuple(tuple(map(Fraction, r)) if isinstance(r, list) else (Fraction(r),) for r in x)
    return Fraction(x)


def _compare(
    name: str, results: list[Any], points: list[dict[str, Any]], rule: Rule, matching: Matching,
    function: str, scalar: bool, reason: str,
) -> Proof:  # fmt: skip
    claim = f"{name}_next"
    known = reference.next_states(rule)[name]
    for point, (returned, after) in zip(points, results, strict=True):
        names = matching.names
        values = {names[k]: _decode(v) for k, v in after.items()}
        changed = {
            n: not np.array_equal(np.asarray(values[n]), _start(point, n, scalar)) for n in values
        }
        given = outcome(_decode(returned), values, changed, matching, function)[name]
        found = _numbers(given, name, function)
        with mp.workdps(40):
            wanted = np.asarray(_expected(known, rule, point), dtype=float)
        wanted = wanted[:1] if scalar else wanted
        flat = np.broadcast_to(found, wanted.shape) if found.ndim == 0 else found
        if flat.size != wanted.size:
            return Proof("refuted", claim, f"the result has shape {found.shape}")
        difference = np.abs(flat.reshape(-1) - wanted.reshape(-1))
        scale = np.maximum(np.abs(flat.reshape(-1)), np.abs(wanted.reshape(-1)))
        wrong = (difference > RELATIVE * scale.max()) | (
            np.isnan(flat.reshape(-1)) & ~np.isnan(wanted.reshape(-1))
        )
        if wrong.any():
            return Proof(
                "refuted", claim, "the function and the rule differ at a point, beyond rounding",
                point=tuple((n, _text(v)) for n, v in point.items()),
                left=_text(flat.tolist()), right=_text(wanted.tolist()),
            )  # fmt: skip
    return Proof(
        "numeric",
        claim,
        f"equal to {RELATIVE:g} at {POINTS} random points; this is no proof ({reason})",
    )


def _numbers(given: Any, name: str, function: str) -> Any:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError) as error:
        raise UserError(
            f"what {function} gives for {name} is not an array of numbers", why=str(error)
        ) from error


def _start(point: Mapping[str, Any], name: str, scalar: bool) -> Any:
    x = point.get(name)
    return np.asarray(x[0] if scalar and isinstance(x, list) else x)


def _decode(x: Any) -> Any:
    if x is None:
        return None
    if "dict" in x:
        return {k: _decode(v) for k, v in x["dict"].items()}
    if "tuple" in x:
        return tuple(_decode(v) for v in x["tuple"])
    return x["value"]


def _text(x: Any) -> str:
    if isinstance(x, list):
        return "[" + ", ".join(map(_text, x)) + "]"
    return f"{x:.17g}" if isinstance(x, float) else str(x)
