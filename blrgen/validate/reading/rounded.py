"""What doubles make of code that was read, against the rule in many digits, on tame numbers.

Rounding is not compared, but code whose doubles have nothing to do with the rule, as in
(g + 10²⁰) − 10²⁰, is not the rule either.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

import mpmath
import numpy as np
from mpmath import mp

from blrgen.decide.matrices import difference, numeric_model
from blrgen.decide.modular import NoModel, Unlucky
from blrgen.value.evaluate import Undefined

DIGITS = 60
FAR, FAR_32 = 1e-5, 1e-2


def far(reading: Any, case: Any) -> str:
    """Where the doubles of what was read are far from the rule; "" where they are not."""
    if case.expected is None or reading.element.count:
        return ""
    with mp.workdps(DIGITS):
        return _in_matrices(reading, case) if reading.matrix else _in_elements(reading, case)


def _limit(reading: Any) -> float:
    return FAR_32 if any("float32" in n for n in reading.notes) else FAR


def _told(n: str, got: Any, wanted: Any) -> str:
    return f"in float64 {n} is {got:.6g}, where the rule is {mpmath.nstr(wanted, 6)}"


def _in_elements(reading: Any, case: Any) -> str:
    """Element by element, where the rule and the code both have a value."""
    names = reading.element.symbols
    for n, values in case.expected.items():
        for index in np.ndindex(*values.shape):
            tag = "".join(f"_{i}" for i in index)
            point = {q: case.point.get(q + tag, case.point.get(q)) for q in names}
            known = {q: Fraction(v) for q, v in point.items() if v is not None}
            rule = reading.element.rule_at(known, {}) if len(known) == len(names) else None
            x = values[index]
            if rule is None or not np.isfinite(x):
                continue
            size = max([abs(rule[n]), *(abs(float(known[q])) for q in reading.element.next)])
            if abs(mpmath.mpf(float(x)) - rule[n]) > _limit(reading) * size:
                return _told(n, x, rule[n])
    return ""


def _in_matrices(reading: Any, case: Any) -> str:
    """All entries of the next states."""
    judge = reading.judge
    try:
        model = numeric_model(case.shape[0], judge.domains, Random(1), dict(case.numbers))
        rule = {n: difference(model, e, e)[0] for n, e in judge.next.items()}
    except (Undefined, Unlucky, NoModel, ZeroDivisionError, TypeError):
        return ""
    for n, values in case.expected.items():
        wanted = [v for r in rule[n] for v in r]
        got = values.reshape(-1)
        scale = max(1, *(abs(v) for v in wanted))
        for x, y in zip(got, wanted, strict=True):
            if np.isfinite(x) and abs(mpmath.mpf(float(x)) - y) > 10 * _limit(reading) * scale:
                return _told(n, x, y)
    return ""
