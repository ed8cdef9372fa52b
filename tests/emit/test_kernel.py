"""Quotients of Bessel kernels: the rule of a von Mises density at its start and far out."""

from __future__ import annotations

import json
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp

import blrgen
from blrgen.algebra.bessel import bessel_kernel
from blrgen.emit import emit
from blrgen.emit.compile import compile_class
from blrgen.program.bessel_kernels import kernel_quotients
from blrgen.show import render

PLACES = [(0.0, 0.0), (1e-300, 0.0), (1e-30, -1e-30), (-1e-8, 1e-8), (1e-4, 3e-5), (1.0, 0.0),
          (0.3, -2.0), (0.0, 1000.0), (1000.0, -1000.0), (3e4, -1e-3), (1e8, 1.0)]  # fmt: skip


def by_hand(a: Any, b: Any, r: tuple[Any, Any], rho: Any) -> list[Any]:
    """λ − ρ(λ + F⁻¹r), F = (R/κ)(I − uuᵀ) + R′ uuᵀ with u = λ/κ, and F = ½I at 0."""
    kappa = mpmath.sqrt(a * a + b * b)
    fisher = mpmath.eye(2) / 2
    if kappa != 0:
        ratio = mpmath.besseli(1, kappa) / mpmath.besseli(0, kappa)
        across, along = ratio / kappa, 1 - ratio**2 - ratio / kappa
        u = mpmath.matrix([a / kappa, b / kappa])
        fisher = across * mpmath.eye(2) + (along - across) * (u * u.T)
    y = mpmath.lu_solve(fisher, mpmath.matrix(r))
    return [x - rho * (x + dx) for x, dx in zip((a, b), y, strict=True)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("target", ["numpy", "numba"])
def test_one_step_of_von_mises(target: str, dtype: Any) -> None:
    """From its own start, (0, 0), where the textbook form is 0/0, to κ = 10⁸."""
    made = compile_class(emit(blrgen.derive("von-mises"), target))
    a, b = (np.array(x, dtype) for x in zip(*PLACES, strict=True))
    before = list(zip(a.tolist(), b.tolist(), strict=True))
    opt = made(a, rho=0.5)
    np.ravel(opt.eta2[0])[:] = b
    r = (dtype(0.7), dtype(-0.3))
    opt.step(*(np.full(len(a), x, dtype) for x in r))
    after = zip(a.tolist(), np.ravel(opt.eta2[0]).tolist(), strict=True)
    with mpmath.workdps(60):
        for (x, y), found in zip(before, after, strict=True):
            wanted = by_hand(mpmath.mpf(x), mpmath.mpf(y), tuple(map(mpmath.mpf, map(float, r))),
                             mpmath.mpf("0.5"))  # fmt: skip
            size = max(map(abs, wanted))
            for got, exact in zip(found, wanted, strict=True):
                assert abs(got - exact) < 2000 * np.finfo(dtype).eps * size


def test_the_start_has_a_value_in_what_sympy_reads() -> None:
    d = blrgen.derive("von-mises")
    shown = json.loads(render(d, "json"))
    assert [q["init"] for q in shown["state"]] == [0, 0]
    point = {"eta1": 0, "eta2": 0, "r1": 3, "r2": 5, "rho": sp.Rational(1, 2)}
    known = {name: sp.Symbol(name) for name in point}
    for name, text in shown["update"]:
        known[name] = sp.sympify(text, locals=known).subs(point)
    assert (known["eta1_next"], known["eta2_next"]) == (-3, -5)  # F = ½I


def test_signs_do_not_change_in_a_quotient() -> None:
    """(G₀G₁ + b²(G₀G₂ − G₁²))/…, the cofactor of F over its determinant."""
    a, b = sp.symbols("a b", real=True)
    g = [bessel_kernel(k, a**2 + b**2) for k in range(3)]
    one, bend = g[1] / g[0], g[2] / g[0] - g[1] ** 2 / g[0] ** 2
    fisher = sp.Matrix([[one + a**2 * bend, a * b * bend], [a * b * bend, one + b**2 * bend]])
    found = kernel_quotients(fisher[1, 1] / fisher.det())
    assert all(not t.could_extract_minus_sign() for t in sp.Add.make_args(found))
    assert not found.has(bessel_kernel)
