"""Sums and differences of exponentials: finite and right far out, and where they cancel."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
import sympy as sp

from blrgen.emit.printers import ArrayPrinter
from blrgen.emit.support import alone
from blrgen.emit.uses import collecting
from blrgen.program.expand import expanded
from blrgen.program.lowering import Lowering
from blrgen.program.stable import stable_form
from blrgen.program.types import ENTRIES
from blrgen.value.evaluate import evaluate

pytestmark = pytest.mark.core

x = sp.Symbol("x", real=True)
FAR = [1e-20, 1e-8, 1e-3, 0.5, 1.0, 3.0, 36.0, 700.0, 1000.0]
BOTH = [*FAR, *(-v for v in FAR)]


@pytest.mark.parametrize(
    ("expr", "points"),
    [
        (sp.log(1 - sp.exp(x)), [-v for v in FAR]),
        (sp.log(1 - sp.exp(-x)), FAR),
        (sp.log(sp.exp(x) - 1), FAR),
        (sp.log(sp.exp(x) - sp.exp(-x)), FAR[2:]),
        (sp.log(sp.cosh(x)), BOTH),
        (sp.log(sp.sinh(x)), FAR),
        (sp.log(1 + sp.exp(x) + sp.exp(2 * x)), BOTH),
        (sp.log(1 + 3 * sp.exp(x) + sp.exp(-x) / 2), BOTH),
        (sp.exp(x) / (1 - sp.exp(x)), BOTH),
        (sp.exp(x) / (1 - sp.exp(x)) ** 2, [v for v in BOTH if abs(v) < 700]),
        (sp.exp(2 * x) / (sp.exp(2 * x) - 1), BOTH),
    ],
)
def test_far_out_and_near_zero(expr: sp.Expr, points: list[float]) -> None:
    with collecting() as uses:
        text = ArrayPrinter()(expanded(stable_form(Lowering({"x": ENTRIES}).lower(expr))))
    known: dict[str, object] = {}
    exec(alone("numpy", uses), known)
    for at in points:
        with np.errstate(all="ignore"):
            value = eval(text, known, {"x": np.float64(at)})
        with mpmath.workdps(60 + int(3 * abs(at))):
            wanted = evaluate(expr, {x: mpmath.mpf(at)})
            if abs(wanted) > 1e-300:
                assert abs(mpmath.mpf(float(value)) - wanted) <= 4e-15 * abs(wanted), (text, at)
