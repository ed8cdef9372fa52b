"""The bare kernels by hand compute what the references compute.

They are run as plain Python here, as that is what they say; compiled, a benchmark compares them
with the same references before it times them (`benchmarks/axes/table`).
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import partial
from types import ModuleType

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.axes import kernels
from benchmarks.axes.kernels import (
    bernoulli_mixture,
    chain,
    common,
    documents,
    elementwise,
    factor,
    line_mixture,
    logistic,
    mixture,
    mixture_parameters,
    newton,
    states,
    written,
)
from tests.program.axes import problems, references

IN_PLACE = ("adam", "rmsprop", "momentum")
ROUNDS = {"rounds": 12, "tol": 0.0}


@dataclass(frozen=True)
class Case:
    """An algorithm, its sizes, a kernel, and what the kernel is given besides."""

    name: str
    sizes: dict[str, int]
    kernel: object
    more: dict[str, float] | None = None

    def __str__(self) -> str:
        kernel = getattr(self.kernel, "__name__", "fixed")
        sizes = ",".join(f"{k}={v}" for k, v in self.sizes.items())
        return f"{kernel} {sizes}"


def cases():
    """Sizes on both sides of a block of rows, of a vector and of what is taken together."""
    e = elementwise
    for name in IN_PLACE:
        yield Case(name, {"n": 37}, getattr(e, name))
        yield Case(name, {"n": 37}, getattr(e, f"{name}_threads"))
    for f in (mixture.mixture, mixture.mixture_threads):
        yield Case("mixture", {"N": 300, "d": 5, "K": 3}, f)
        yield Case("mixture", {"N": 2600, "d": 2, "K": 1}, f)
    yield Case("mixture_parameters", {"d": 5, "K": 3}, mixture_parameters.mixture_parameters)
    for f in (line_mixture.line_mixture, line_mixture.line_mixture_threads):
        yield Case("line_mixture", {"N": 2600, "K": 4}, f)
    for f in (bernoulli_mixture.bernoulli_mixture, bernoulli_mixture.bernoulli_mixture_threads):
        yield Case("bernoulli_mixture", {"N": 2600, "d": 7, "K": 3}, f)
    for d in (1, 9):
        yield Case("logistic", {"N": 150, "d": d}, logistic.logistic)
        yield Case("logistic", {"N": 9000, "d": d}, logistic.logistic_threads)
        yield Case("logistic_hessian", {"N": 300, "d": d}, logistic.logistic_hessian)
        yield Case("logistic_hessian", {"N": 3000, "d": d}, logistic.logistic_hessian_threads)
    yield Case("logistic_rows", {"N": 50, "d": 4, "b": 70}, logistic.logistic_rows)
    yield Case("effects", {"N": 150, "d": 4, "V": 6}, logistic.effects)
    for d in (1, 6, 30):
        yield Case("newton", {"d": d}, newton.newton)
    for K in (1, 3):
        yield Case("forward_backward", {"T": 40, "K": K}, chain.forward_backward)
        yield Case("forward_backward", {"T": 40, "K": K}, partial(chain.fixed, K))
        yield Case("poisson_chain", {"T": 40, "K": K}, chain.poisson_chain)
        yield Case("poisson_chain", {"T": 40, "K": K}, partial(chain.fixed_poisson, K))
    for n, m in ((4, 2), (2, 3)):
        yield Case("kalman", {"T": 30, "n": n, "m": m}, states.kalman)
        yield Case("kalman", {"T": 30, "n": n, "m": m}, partial(states.fixed_kalman, n, m))
        yield Case("smoother", {"T": 30, "n": n, "m": m}, states.smoother)
        yield Case("smoother", {"T": 30, "n": n, "m": m}, partial(states.fixed_smoother, n, m))
    yield Case("kalman", {"T": 30, "n": 4, "m": 2}, written.kalman)
    for f in (documents.documents, documents.documents_threads):
        sizes = {"D": 9, "V": 30, "K": 5, "L": 40}
        yield Case("documents", sizes, f, ROUNDS)
        yield Case("documents", sizes, f, {"rounds": 100, "tol": 1e-3})
    yield Case("factor", {"d": 7, "q": 3}, factor.factor)


MODULES = [x for x in vars(kernels).values() if isinstance(x, ModuleType)]


@pytest.fixture
def interpreted(monkeypatch):
    """All kernels as plain Python, and those that are made for sizes."""
    for module in MODULES:
        for name, kernel in vars(module).copy().items():
            if hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, kernel.py_func)
            elif hasattr(kernel, "cache_info"):
                monkeypatch.setattr(module, name, kernel.__wrapped__)
        monkeypatch.setattr(module, "njit", lambda *_, **__: lambda f: f, raising=False)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("case", list(cases()), ids=str)
def test_a_kernel_is_its_reference(case):
    given = {**getattr(problems, case.name)(**case.sizes), **(case.more or {})}
    wanted = getattr(references, case.name)(**given)
    inside = {k: given[k.removesuffix("_next")] for k in wanted if case.name in IN_PLACE}
    outs = {k: np.full(np.shape(v), 9.0) for k, v in wanted.items() if k not in inside}
    kernel = case.kernel
    if isinstance(kernel, partial):
        maker = getattr(sys.modules[kernel.func.__module__], kernel.func.__name__)
        kernel = maker(*kernel.args)
    getattr(kernel, "py_func", kernel)(*given.values(), *outs.values())
    found = {**outs, **inside}
    for name, value in wanted.items():
        scale = np.abs(value).max()
        assert_allclose(found[name], value, rtol=1e-12, atol=1e-12 * scale, err_msg=name)


def test_functions_that_vectorise_are_exact_to_a_few_units():
    x = np.concatenate([-np.logspace(-12, 2.8, 400), np.logspace(-12, 2.8, 400)])
    positive = np.logspace(-300, 300, 1001)
    assert_allclose([common.exp(v) for v in x], np.exp(x), rtol=1e-15)
    assert_allclose([common.log(v) for v in positive], np.log(positive), rtol=5e-16)
    near = 1 + np.linspace(-0.3, 0.5, 801)
    assert_allclose([common.log(v) for v in near], np.log(near), rtol=1e-15)
    assert_allclose([common.log1p(v) for v in x[400:]], np.log1p(x[400:]), rtol=1e-15)
    assert common.exp(-math.inf) == 0.0 or common.exp(-math.inf) < 1e-307


def test_digamma_that_vectorises():
    from scipy.special import digamma

    x = np.logspace(-8, 8, 2001)
    assert_allclose([common.psi(v) for v in x], digamma(x), rtol=1e-14, atol=1e-14)
